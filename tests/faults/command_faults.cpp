// What command buffers hold, for Lending: the commands themselves pass as they are.
#include <span>

#include "tests/faults/layer.h"

namespace lockstep::faults {

namespace {

VKAPI_ATTR VkResult VKAPI_CALL begin(VkCommandBuffer commands, const VkCommandBufferBeginInfo* info) {
    DeviceState& device = deviceOf(commands);
    device.lending.recorded(commands) = {};
    return device.next.BeginCommandBuffer(commands, info);
}

VKAPI_ATTR void VKAPI_CALL bindPipeline(VkCommandBuffer commands, VkPipelineBindPoint point,
                                        VkPipeline pipeline) {
    DeviceState& device = deviceOf(commands);
    if (point == VK_PIPELINE_BIND_POINT_COMPUTE) device.lending.recorded(commands).pipeline = pipeline;
    device.next.CmdBindPipeline(commands, point, pipeline);
}

VKAPI_ATTR void VKAPI_CALL pushDescriptors(VkCommandBuffer commands, VkPipelineBindPoint point,
                                           VkPipelineLayout layout, std::uint32_t set, std::uint32_t count,
                                           const VkWriteDescriptorSet* writes) {
    DeviceState& device = deviceOf(commands);
    if (point == VK_PIPELINE_BIND_POINT_COMPUTE)
        bindStorage(device.lending.recorded(commands).bound, {writes, count});
    device.next.CmdPushDescriptorSetKHR(commands, point, layout, set, count, writes);
}

// Copies between sets are not followed: the program has none.
VKAPI_ATTR void VKAPI_CALL updateSets(VkDevice handle, std::uint32_t count,
                                      const VkWriteDescriptorSet* writes, std::uint32_t copyCount,
                                      const VkCopyDescriptorSet* copies) {
    DeviceState& device = deviceOf(handle);
    device.lending.update({writes, count});
    device.next.UpdateDescriptorSets(handle, count, writes, copyCount, copies);
}

VKAPI_ATTR void VKAPI_CALL bindSets(VkCommandBuffer commands, VkPipelineBindPoint point,
                                    VkPipelineLayout layout, std::uint32_t first, std::uint32_t count,
                                    const VkDescriptorSet* sets, std::uint32_t offsetCount,
                                    const std::uint32_t* offsets) {
    DeviceState& device = deviceOf(commands);
    if (point == VK_PIPELINE_BIND_POINT_COMPUTE && first == 0) device.lending.bind(commands, sets[0]);
    device.next.CmdBindDescriptorSets(commands, point, layout, first, count, sets, offsetCount, offsets);
}

VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer commands, std::uint32_t x, std::uint32_t y,
                                    std::uint32_t z) {
    DeviceState& device = deviceOf(commands);
    device.lending.dispatch(commands);
    device.next.CmdDispatch(commands, x, y, z);
}

VKAPI_ATTR void VKAPI_CALL dispatchBase(VkCommandBuffer commands, std::uint32_t firstX, std::uint32_t firstY,
                                        std::uint32_t firstZ, std::uint32_t x, std::uint32_t y,
                                        std::uint32_t z) {
    DeviceState& device = deviceOf(commands);
    device.lending.dispatch(commands);
    device.next.CmdDispatchBase(commands, firstX, firstY, firstZ, x, y, z);
}

VKAPI_ATTR void VKAPI_CALL copyBuffer(VkCommandBuffer commands, VkBuffer from, VkBuffer to,
                                      std::uint32_t count, const VkBufferCopy* regions) {
    DeviceState& device = deviceOf(commands);
    for (const VkBufferCopy& region : std::span(regions, count))
        device.lending.recorded(commands).written.insert(byteRange(to, region.dstOffset, region.size));
    device.next.CmdCopyBuffer(commands, from, to, count, regions);
}

VKAPI_ATTR void VKAPI_CALL fillBuffer(VkCommandBuffer commands, VkBuffer buffer, VkDeviceSize offset,
                                      VkDeviceSize size, std::uint32_t word) {
    DeviceState& device = deviceOf(commands);
    device.lending.recorded(commands).written.insert(byteRange(buffer, offset, size));
    device.next.CmdFillBuffer(commands, buffer, offset, size, word);
}

VKAPI_ATTR void VKAPI_CALL updateBuffer(VkCommandBuffer commands, VkBuffer buffer, VkDeviceSize offset,
                                        VkDeviceSize size, const void* data) {
    DeviceState& device = deviceOf(commands);
    device.lending.recorded(commands).written.insert(byteRange(buffer, offset, size));
    const auto next =
        reinterpret_cast<PFN_vkCmdUpdateBuffer>(device.getNext(device.handle, "vkCmdUpdateBuffer"));
    next(commands, buffer, offset, size, data);
}

VKAPI_ATTR void VKAPI_CALL copyToImage(VkCommandBuffer commands, VkBuffer from, VkImage to,
                                       VkImageLayout layout, std::uint32_t count,
                                       const VkBufferImageCopy* regions) {
    constexpr std::uint64_t texelBytes = 4; // 8-bit RGBA, flat: the program has no other images
    DeviceState& device = deviceOf(commands);
    for (const VkBufferImageCopy& region : std::span(regions, count)) {
        const VkExtent3D& extent = region.imageExtent;
        const std::uint64_t row = region.bufferRowLength == 0 ? extent.width : region.bufferRowLength;
        const std::uint64_t texels = row * (extent.height - 1) + extent.width;
        device.lending.recorded(commands).shown.insert(
            byteRange(from, region.bufferOffset, texels * texelBytes));
    }
    device.next.CmdCopyBufferToImage(commands, from, to, layout, count, regions);
}

} // namespace

PFN_vkVoidFunction commandFunction(std::string_view name) {
    static const NamedFunction functions[] = {named("vkBeginCommandBuffer", begin),
                                              named("vkCmdBindPipeline", bindPipeline),
                                              named("vkCmdPushDescriptorSetKHR", pushDescriptors),
                                              named("vkUpdateDescriptorSets", updateSets),
                                              named("vkCmdBindDescriptorSets", bindSets),
                                              named("vkCmdDispatch", dispatch),
                                              named("vkCmdDispatchBase", dispatchBase),
                                              named("vkCmdCopyBuffer", copyBuffer),
                                              named("vkCmdFillBuffer", fillBuffer),
                                              named("vkCmdUpdateBuffer", updateBuffer),
                                              named("vkCmdCopyBufferToImage", copyToImage)};
    return findFunction(functions, name);
}

} // namespace lockstep::faults
