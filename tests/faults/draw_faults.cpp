// Images, frames and windows.
#include <chrono>
#include <set>
#include <thread>

#include "tests/faults/layer.h"

namespace lockstep::faults {

namespace {

#define LOCKSTEP_FAULTS_OBJECT(object)                                                                       \
    VKAPI_ATTR VkResult VKAPI_CALL create##object(VkDevice handle, const Vk##object##CreateInfo* info,       \
                                                  const VkAllocationCallbacks* allocator,                    \
                                                  Vk##object* created) {                                     \
        if (creationIsDue("vkCreate" #object)) return VK_ERROR_OUT_OF_DEVICE_MEMORY;                         \
        DeviceState& device = deviceOf(handle);                                                              \
        const VkResult result = device.next.Create##object(handle, info, allocator, created);                \
        if (result == VK_SUCCESS) noteCreated(device, "Vk" #object, 1);                                      \
        return result;                                                                                       \
    }                                                                                                        \
    VKAPI_ATTR void VKAPI_CALL destroy##object(VkDevice handle, Vk##object destroyed,                        \
                                               const VkAllocationCallbacks* allocator) {                     \
        DeviceState& device = deviceOf(handle);                                                              \
        if (device.hangs) misuse("vkDestroy" #object " while the device hangs");                             \
        if (destroyed != VK_NULL_HANDLE) noteCreated(device, "Vk" #object, -1);                              \
        device.next.Destroy##object(handle, destroyed, allocator);                                           \
    }
#define LOCKSTEP_FAULTS_OBJECTS(X) X(Image) X(ImageView) X(Sampler) X(RenderPass) X(Framebuffer) X(Fence)

LOCKSTEP_FAULTS_OBJECTS(LOCKSTEP_FAULTS_OBJECT)

struct Surfaces {
    std::mutex mutex; // guards all below
    std::map<VkSwapchainKHR, VkSurfaceKHR> shownOn;
    std::set<VkSurfaceKHR> lost;
    std::set<VkSwapchainKHR> fifo;
};

Surfaces& surfaces() {
    static Surfaces all;
    return all;
}

VKAPI_ATTR VkResult VKAPI_CALL getSurfaceCapabilities(VkPhysicalDevice physical, VkSurfaceKHR surface,
                                                      VkSurfaceCapabilitiesKHR* out) {
    {
        const std::lock_guard lock(surfaces().mutex);
        if (surfaces().lost.contains(surface)) return VK_ERROR_SURFACE_LOST_KHR;
    }
    return instanceOf(physical).next.GetPhysicalDeviceSurfaceCapabilitiesKHR(physical, surface, out);
}

VKAPI_ATTR VkResult VKAPI_CALL getSurfaceFormats(VkPhysicalDevice physical, VkSurfaceKHR surface,
                                                 std::uint32_t* count, VkSurfaceFormatKHR* out) {
    const InstanceState& instance = instanceOf(physical);
    if (plan().has("first-has-no-formats") && physical == instance.first) return VK_ERROR_SURFACE_LOST_KHR;
    return instance.next.GetPhysicalDeviceSurfaceFormatsKHR(physical, surface, count, out);
}

VKAPI_ATTR VkResult VKAPI_CALL getPresentModes(VkPhysicalDevice physical, VkSurfaceKHR surface,
                                               std::uint32_t* count, VkPresentModeKHR* out) {
    if (!plan().has("fifo-only"))
        return instanceOf(physical).next.GetPhysicalDeviceSurfacePresentModesKHR(physical, surface, count,
                                                                                 out);
    *count = 1;
    if (out != nullptr) *out = VK_PRESENT_MODE_FIFO_KHR;
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL destroySurface(VkInstance handle, VkSurfaceKHR surface,
                                          const VkAllocationCallbacks* allocator) {
    {
        const std::lock_guard lock(surfaces().mutex);
        surfaces().lost.erase(surface);
    }
    instanceOf(handle).next.DestroySurfaceKHR(handle, surface, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL createSwapchain(VkDevice handle, const VkSwapchainCreateInfoKHR* info,
                                               const VkAllocationCallbacks* allocator,
                                               VkSwapchainKHR* created) {
    if (creationIsDue("vkCreateSwapchainKHR")) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    DeviceState& device = deviceOf(handle);
    if (plan().has("first-shows-nothing") && device.first) return VK_ERROR_INITIALIZATION_FAILED;
    const VkResult result = device.next.CreateSwapchainKHR(handle, info, allocator, created);
    if (result != VK_SUCCESS) return result;
    noteCreated(device, "VkSwapchainKHR", 1);
    const std::lock_guard lock(surfaces().mutex);
    surfaces().shownOn[*created] = info->surface;
    if (info->presentMode == VK_PRESENT_MODE_FIFO_KHR)
        surfaces().fifo.insert(*created);
    else
        surfaces().fifo.erase(*created);
    return result;
}

VKAPI_ATTR void VKAPI_CALL destroySwapchain(VkDevice handle, VkSwapchainKHR destroyed,
                                            const VkAllocationCallbacks* allocator) {
    DeviceState& device = deviceOf(handle);
    if (device.hangs) misuse("vkDestroySwapchainKHR while the device hangs");
    if (destroyed != VK_NULL_HANDLE) noteCreated(device, "VkSwapchainKHR", -1);
    device.next.DestroySwapchainKHR(handle, destroyed, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL createPipelines(VkDevice handle, VkPipelineCache cache, std::uint32_t count,
                                               const VkGraphicsPipelineCreateInfo* infos,
                                               const VkAllocationCallbacks* allocator, VkPipeline* created) {
    if (creationIsDue("vkCreateGraphicsPipelines")) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    DeviceState& device = deviceOf(handle);
    const VkResult result =
        device.next.CreateGraphicsPipelines(handle, cache, count, infos, allocator, created);
    if (result == VK_SUCCESS) noteCreated(device, "VkPipeline", count);
    return result;
}

VKAPI_ATTR void VKAPI_CALL getImageRequirements(VkDevice handle, VkImage image, VkMemoryRequirements* out) {
    DeviceState& device = deviceOf(handle);
    device.next.GetImageMemoryRequirements(handle, image, out);
    out->memoryTypeBits = pretendedTypes(device, out->memoryTypeBits);
}

VKAPI_ATTR VkResult VKAPI_CALL waitForFences(VkDevice handle, std::uint32_t count, const VkFence* fences,
                                             VkBool32 all, std::uint64_t timeout) {
    DeviceState& device = deviceOf(handle);
    if (isDue("vkWaitForFences") || device.lost) return lose(device);
    const VkResult result = device.next.WaitForFences(handle, count, fences, all, timeout);
    for (std::uint32_t i = 0; result == VK_SUCCESS && (all == VK_TRUE || count == 1) && i < count; ++i)
        device.lending.seen(fences[i]);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL getFenceStatus(VkDevice handle, VkFence fence) {
    DeviceState& device = deviceOf(handle);
    if (isDue("vkGetFenceStatus") || device.lost) return lose(device);
    const VkResult result = device.next.GetFenceStatus(handle, fence);
    if (result == VK_SUCCESS) device.lending.seen(fence);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL resetFences(VkDevice handle, std::uint32_t count, const VkFence* fences) {
    DeviceState& device = deviceOf(handle);
    for (std::uint32_t i = 0; i < count; ++i) device.lending.seen(fences[i]);
    return device.next.ResetFences(handle, count, fences);
}

VKAPI_ATTR VkResult VKAPI_CALL acquire(VkDevice handle, VkSwapchainKHR swapchain, std::uint64_t timeout,
                                       VkSemaphore semaphore, VkFence fence, std::uint32_t* index) {
    DeviceState& device = deviceOf(handle);
    if (device.lost) return lose(device);
    if (isDue("out-of-date")) return VK_ERROR_OUT_OF_DATE_KHR;
    if (surfaceIsLost(swapchain)) return VK_ERROR_SURFACE_LOST_KHR;
    static std::atomic<int> acquired{0};
    if (plan().has("parked") && isFifo(swapchain) && ++acquired > 10) {
        std::this_thread::sleep_for(std::chrono::nanoseconds(timeout));
        return VK_TIMEOUT;
    }
    return device.next.AcquireNextImageKHR(handle, swapchain, timeout, semaphore, fence, index);
}

} // namespace

bool isFifo(VkSwapchainKHR swapchain) {
    const std::lock_guard lock(surfaces().mutex);
    return surfaces().fifo.contains(swapchain);
}

bool surfaceIsLost(VkSwapchainKHR swapchain) {
    const bool due = isDue("surface-lost");
    const std::lock_guard lock(surfaces().mutex);
    const VkSurfaceKHR surface = surfaces().shownOn.at(swapchain);
    if (due) surfaces().lost.insert(surface);
    return surfaces().lost.contains(surface);
}

PFN_vkVoidFunction drawFunction(std::string_view name) {
#define LOCKSTEP_FAULTS_NAMES(object)                                                                        \
    named("vkCreate" #object, create##object), named("vkDestroy" #object, destroy##object),
    static const NamedFunction functions[] = {
        LOCKSTEP_FAULTS_OBJECTS(LOCKSTEP_FAULTS_NAMES) named("vkCreateSwapchainKHR", createSwapchain),
        named("vkDestroySwapchainKHR", destroySwapchain),
        named("vkDestroySurfaceKHR", destroySurface),
        named("vkGetPhysicalDeviceSurfaceCapabilitiesKHR", getSurfaceCapabilities),
        named("vkGetPhysicalDeviceSurfaceFormatsKHR", getSurfaceFormats),
        named("vkGetPhysicalDeviceSurfacePresentModesKHR", getPresentModes),
        named("vkCreateGraphicsPipelines", createPipelines),
        named("vkGetImageMemoryRequirements", getImageRequirements),
        named("vkWaitForFences", waitForFences),
        named("vkGetFenceStatus", getFenceStatus),
        named("vkResetFences", resetFences),
        named("vkAcquireNextImageKHR", acquire)};
    return findFunction(functions, name);
}

} // namespace lockstep::faults
