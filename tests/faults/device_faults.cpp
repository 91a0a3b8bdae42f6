// Submissions, waits and objects of a device.
#include "tests/faults/layer.h"

#include <limits>

namespace lockstep::faults {

// The driver below is alive: what it still runs has to end before the program takes the loss at its word and
// destroys things.
VkResult lose(DeviceState& device) {
    const std::lock_guard lock(device.queue);
    if (!device.lost && !device.hangs) {
        device.next.DeviceWaitIdle(device.handle);
        spoilMappedMemory(device);
    }
    device.lost = true;
    return VK_ERROR_DEVICE_LOST;
}

namespace {

VKAPI_ATTR VkResult VKAPI_CALL queueSubmit(VkQueue queue, std::uint32_t count, const VkSubmitInfo* submits,
                                           VkFence fence) {
    DeviceState& device = deviceOf(queue);
    const QueueUse use(queue);
    const std::uint64_t number = ++report().submissions;
    if (isDue("vkQueueSubmit") || device.lost) return lose(device);
    if (plan().has("hang") && number >= plan().number("hang")) device.hangs = true;
    if (device.hangs) return VK_SUCCESS;
    const std::lock_guard lock(device.queue);
    device.lending.submit(queue, {submits, count}, fence);
    return device.next.QueueSubmit(use.real(), count, submits, fence);
}

VKAPI_ATTR VkResult VKAPI_CALL waitSemaphores(VkDevice handle, const VkSemaphoreWaitInfo* info,
                                              std::uint64_t timeout) {
    DeviceState& device = deviceOf(handle);
    ++report().waits;
    if (timeout == std::numeric_limits<std::uint64_t>::max()) misuse("vkWaitSemaphores without a time limit");
    if (isDue("vkWaitSemaphores") || device.lost) {
        lose(device);
        return plan().has("lost-counter") ? VK_SUCCESS : VK_ERROR_DEVICE_LOST;
    }
    const VkResult result = device.next.WaitSemaphores(handle, info, timeout);
    const bool all = info->semaphoreCount == 1 || (info->flags & VK_SEMAPHORE_WAIT_ANY_BIT) == 0;
    for (std::uint32_t i = 0; result == VK_SUCCESS && all && i < info->semaphoreCount; ++i)
        device.lending.seen(info->pSemaphores[i], info->pValues[i]);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL getCounter(VkDevice handle, VkSemaphore semaphore, std::uint64_t* value) {
    DeviceState& device = deviceOf(handle);
    ++report().counterReads;
    if (!isDue("vkGetSemaphoreCounterValue") && !device.lost) {
        const VkResult result = device.next.GetSemaphoreCounterValue(handle, semaphore, value);
        if (result == VK_SUCCESS) device.lending.seen(semaphore, *value);
        return result;
    }
    lose(device);
    if (!plan().has("lost-counter")) return VK_ERROR_DEVICE_LOST;
    *value = std::numeric_limits<std::uint64_t>::max();
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL deviceWaitIdle(VkDevice handle) {
    DeviceState& device = deviceOf(handle);
    if (device.lost) return VK_ERROR_DEVICE_LOST;
    if (device.hangs) {
        misuse("vkDeviceWaitIdle on a hanging device never returns");
        return VK_ERROR_DEVICE_LOST;
    }
    const VkResult result = device.next.DeviceWaitIdle(handle);
    if (result == VK_SUCCESS) device.lending.seenIdle(VK_NULL_HANDLE);
    return result;
}

// All that are made by vkCreateSomething(device, info, allocator, something).

#define LOCKSTEP_FAULTS_OBJECT(object)                                                                       \
    VKAPI_ATTR VkResult VKAPI_CALL create##object(VkDevice handle, const Vk##object##CreateInfo* info,       \
                                                  const VkAllocationCallbacks* allocator,                    \
                                                  Vk##object* created) {                                     \
        if (creationIsDue("vkCreate" #object)) return VK_ERROR_OUT_OF_DEVICE_MEMORY;                         \
        DeviceState& device = deviceOf(handle);                                                              \
        const VkResult result = device.next.Create##object(handle, info, allocator, created);                \
        if (result == VK_SUCCESS) noteCreated(device, "Vk" #object, 1);                                      \
        return result;                                                                                       \
    }
#define LOCKSTEP_FAULTS_END(object)                                                                          \
    VKAPI_ATTR void VKAPI_CALL destroy##object(VkDevice handle, Vk##object destroyed,                        \
                                               const VkAllocationCallbacks* allocator) {                     \
        DeviceState& device = deviceOf(handle);                                                              \
        if (device.hangs) misuse("vkDestroy" #object " while the device hangs");                             \
        if (destroyed != VK_NULL_HANDLE) noteCreated(device, "Vk" #object, -1);                              \
        device.next.Destroy##object(handle, destroyed, allocator);                                           \
    }
#define LOCKSTEP_FAULTS_OBJECTS(X)                                                                           \
    X(BufferView)                                                                                            \
    X(DescriptorSetLayout)                                                                                   \
    X(DescriptorPool) X(PipelineLayout) X(PipelineCache) X(Semaphore) X(QueryPool)

LOCKSTEP_FAULTS_OBJECTS(LOCKSTEP_FAULTS_OBJECT)
LOCKSTEP_FAULTS_OBJECTS(LOCKSTEP_FAULTS_END)
LOCKSTEP_FAULTS_END(ShaderModule)
LOCKSTEP_FAULTS_END(Pipeline)
LOCKSTEP_FAULTS_END(CommandPool)

VKAPI_ATTR void VKAPI_CALL destroyBuffer(VkDevice handle, VkBuffer buffer,
                                         const VkAllocationCallbacks* allocator) {
    DeviceState& device = deviceOf(handle);
    if (device.hangs) misuse("vkDestroyBuffer while the device hangs");
    if (buffer != VK_NULL_HANDLE) noteCreated(device, "VkBuffer", -1);
    device.lending.forget(buffer);
    device.next.DestroyBuffer(handle, buffer, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL createShaderModule(VkDevice handle, const VkShaderModuleCreateInfo* info,
                                                  const VkAllocationCallbacks* allocator,
                                                  VkShaderModule* created) {
    if (creationIsDue("vkCreateShaderModule")) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    DeviceState& device = deviceOf(handle);
    const VkResult result = device.next.CreateShaderModule(handle, info, allocator, created);
    if (result != VK_SUCCESS) return result;
    noteCreated(device, "VkShaderModule", 1);
    device.lending.addShader(*created, {info->pCode, info->codeSize / sizeof(std::uint32_t)});
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL createPipelines(VkDevice handle, VkPipelineCache cache, std::uint32_t count,
                                               const VkComputePipelineCreateInfo* infos,
                                               const VkAllocationCallbacks* allocator, VkPipeline* created) {
    if (creationIsDue("vkCreateComputePipelines")) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    DeviceState& device = deviceOf(handle);
    const VkResult result =
        device.next.CreateComputePipelines(handle, cache, count, infos, allocator, created);
    if (result != VK_SUCCESS) return result;
    noteCreated(device, "VkPipeline", count);
    for (std::uint32_t i = 0; i < count; ++i) device.lending.addPipeline(created[i], infos[i].stage.module);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL allocateCommandBuffers(VkDevice handle,
                                                      const VkCommandBufferAllocateInfo* info,
                                                      VkCommandBuffer* created) {
    if (creationIsDue("vkAllocateCommandBuffers")) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    return deviceOf(handle).next.AllocateCommandBuffers(handle, info, created);
}

} // namespace

PFN_vkVoidFunction deviceFunction(std::string_view name) {
#define LOCKSTEP_FAULTS_NAMES(object)                                                                        \
    named("vkCreate" #object, create##object), named("vkDestroy" #object, destroy##object),
    static const NamedFunction functions[] = {LOCKSTEP_FAULTS_OBJECTS(LOCKSTEP_FAULTS_NAMES)
                                                  named("vkCreateShaderModule", createShaderModule),
                                              named("vkDestroyShaderModule", destroyShaderModule),
                                              named("vkCreateComputePipelines", createPipelines),
                                              named("vkDestroyPipeline", destroyPipeline),
                                              named("vkDestroyBuffer", destroyBuffer),
                                              named("vkDestroyCommandPool", destroyCommandPool),
                                              named("vkAllocateCommandBuffers", allocateCommandBuffers),
                                              named("vkQueueSubmit", queueSubmit),
                                              named("vkWaitSemaphores", waitSemaphores),
                                              named("vkGetSemaphoreCounterValue", getCounter),
                                              named("vkDeviceWaitIdle", deviceWaitIdle)};
    return findFunction(functions, name);
}

} // namespace lockstep::faults
