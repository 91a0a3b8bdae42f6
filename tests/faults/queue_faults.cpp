// Queues: those of a pretended card are all the same one of the driver's. The layer hands out its own, and
// notes when two threads use one at a time; presenting can take its time.
#include <chrono>
#include <memory>
#include <thread>

#include "tests/faults/layer.h"

namespace lockstep::faults {

namespace {

constexpr std::chrono::milliseconds presentTime{200};

VKAPI_ATTR void VKAPI_CALL getDeviceQueue(VkDevice handle, std::uint32_t family, std::uint32_t index,
                                          VkQueue* out) {
    DeviceState& device = deviceOf(handle);
    VkQueue real = VK_NULL_HANDLE;
    const bool pretended = plan().pretendsQueues();
    device.next.GetDeviceQueue(handle, pretended ? 0 : family, pretended ? 0 : index, &real);
    void* const table = *reinterpret_cast<void**>(handle);
    *reinterpret_cast<void**>(real) = table; // as the loader does with what it hands out
    const std::lock_guard lock(device.objects);
    std::unique_ptr<QueueState>& queue = device.queues[{family, index}];
    if (!queue) queue = std::make_unique<QueueState>();
    queue->table = table;
    queue->real = real;
    *out = reinterpret_cast<VkQueue>(queue.get());
}

VKAPI_ATTR VkResult VKAPI_CALL queueWaitIdle(VkQueue queue) {
    DeviceState& device = deviceOf(queue);
    const QueueUse use(queue);
    const auto next = reinterpret_cast<PFN_vkQueueWaitIdle>(device.getNext(device.handle, "vkQueueWaitIdle"));
    const std::lock_guard lock(device.queue);
    const VkResult result = next(use.real());
    if (result == VK_SUCCESS) device.lending.seenIdle(queue);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL present(VkQueue queue, const VkPresentInfoKHR* info) {
    DeviceState& device = deviceOf(queue);
    const QueueUse use(queue);
    if (isDue("vkQueuePresentKHR") || device.lost) return lose(device);
    if (device.hangs) return VK_SUCCESS; // software would wait for the frame here
    if (plan().has("slow-present") && isFifo(info->pSwapchains[0])) std::this_thread::sleep_for(presentTime);
    static std::atomic<int> presented{0};
    const bool stuck = plan().has("stuck-present") && isFifo(info->pSwapchains[0]) && ++presented > 10;
    while (stuck) std::this_thread::sleep_for(presentTime);
    VkResult result = VK_SUCCESS;
    {
        const std::lock_guard lock(device.queue);
        result = device.next.QueuePresentKHR(use.real(), info);
    }
    if (isDue("out-of-date")) return VK_ERROR_OUT_OF_DATE_KHR;
    if (surfaceIsLost(info->pSwapchains[0])) return VK_ERROR_SURFACE_LOST_KHR;
    return result == VK_SUCCESS && plan().has("suboptimal") ? VK_SUBOPTIMAL_KHR : result;
}

VKAPI_ATTR VkResult VKAPI_CALL getSurfaceSupport(VkPhysicalDevice physical, std::uint32_t family,
                                                 VkSurfaceKHR surface, VkBool32* out) {
    return instanceOf(physical).next.GetPhysicalDeviceSurfaceSupportKHR(physical, realFamily(family), surface,
                                                                        out);
}

VKAPI_ATTR VkResult VKAPI_CALL createCommandPool(VkDevice handle, const VkCommandPoolCreateInfo* info,
                                                 const VkAllocationCallbacks* allocator,
                                                 VkCommandPool* created) {
    if (creationIsDue("vkCreateCommandPool")) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    DeviceState& device = deviceOf(handle);
    VkCommandPoolCreateInfo real = *info;
    real.queueFamilyIndex = realFamily(info->queueFamilyIndex);
    const VkResult result = device.next.CreateCommandPool(handle, &real, allocator, created);
    if (result == VK_SUCCESS) noteCreated(device, "VkCommandPool", 1);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL createBuffer(VkDevice handle, const VkBufferCreateInfo* info,
                                            const VkAllocationCallbacks* allocator, VkBuffer* created) {
    if (creationIsDue("vkCreateBuffer")) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    DeviceState& device = deviceOf(handle);
    VkBufferCreateInfo real = *info;
    if (plan().pretendsQueues()) real.sharingMode = VK_SHARING_MODE_EXCLUSIVE; // of the one real family
    const VkResult result = device.next.CreateBuffer(handle, &real, allocator, created);
    if (result == VK_SUCCESS) noteCreated(device, "VkBuffer", 1);
    return result;
}

} // namespace

std::uint32_t realFamily(std::uint32_t family) { return plan().pretendsQueues() ? 0 : family; }

QueueUse::QueueUse(VkQueue queue) : queue_(*reinterpret_cast<QueueState*>(queue)) {
    if (queue_.users.fetch_add(1) > 0) misuse("two threads use a queue at the same time");
}

PFN_vkVoidFunction queueFunction(std::string_view name) {
    static const NamedFunction functions[] = {
        named("vkGetDeviceQueue", getDeviceQueue),
        named("vkQueueWaitIdle", queueWaitIdle),
        named("vkQueuePresentKHR", present),
        named("vkGetPhysicalDeviceSurfaceSupportKHR", getSurfaceSupport),
        named("vkCreateCommandPool", createCommandPool),
        named("vkCreateBuffer", createBuffer)};
    return findFunction(functions, name);
}

} // namespace lockstep::faults
