#include "engine/gpu/buffer.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "engine/gpu/bindings.h"
#include "engine/gpu/error.h"
#include "engine/gpu/memory_types.h"

namespace lockstep::gpu {

namespace {

constexpr std::uint64_t granularity = 16; // a whole vec4, so that the last one can be read

std::uint64_t roundUp(std::uint64_t bytes, std::uint64_t grain) {
    return (bytes + grain - 1) / grain * grain;
}

std::uint64_t storedSize(std::uint64_t bytes) { return std::max(granularity, roundUp(bytes, granularity)); }

[[noreturn]] void throwNoMemory(const Device& device, const std::string& name, std::uint64_t needed,
                                std::uint64_t available) {
    throw OutOfMemoryError("'" + device.report().name + "' has no memory for buffer '" + name + "': " +
                               std::to_string(needed) + " bytes needed, about " + std::to_string(available) +
                               " available. Try a smaller batch or narrower layers.",
                           needed, available);
}

// Throws OutOfMemoryError.
Owned<VkBuffer> createBuffer(const Device& device, std::uint64_t size, const std::string& name) {
    auto info = structure<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    info.size = size;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT |
                 VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    // The drawing queue may read the buffer without an ownership transfer.
    const std::uint32_t families[] = {device.queueFamily(), device.drawing().family};
    if (device.drawing().queue != VK_NULL_HANDLE && families[0] != families[1]) {
        info.sharingMode = VK_SHARING_MODE_CONCURRENT;
        info.queueFamilyIndexCount = 2;
        info.pQueueFamilyIndices = families;
    }
    try {
        return create(device, device.vk().CreateBuffer, device.vk().DestroyBuffer, info, "vkCreateBuffer");
    } catch (const OutOfMemoryError&) { // without numbers
        throwNoMemory(device, name, size, device.memoryLeft());
    }
}

VkMemoryRequirements requirementsOf(const Device& device, VkBuffer buffer) {
    VkMemoryRequirements requirements{};
    device.vk().GetBufferMemoryRequirements(device.handle(), buffer, &requirements);
    return requirements;
}

} // namespace

Footprint footprintOf(const Device& device, std::uint64_t bytes, Memory memory) {
    constexpr std::uint64_t most = std::uint64_t{1} << 30;
    const std::uint64_t size = storedSize(bytes);
    const Owned<VkBuffer> buffer = createBuffer(device, std::min(size, most), "a run's");
    const VkMemoryRequirements needs = requirementsOf(device, buffer.get());
    Footprint footprint{size <= most ? needs.size : roundUp(size, needs.alignment), {}};
    for (const std::uint32_t type : memoryTypes(device.memory(), needs.memoryTypeBits, memory, size))
        footprint.heaps.push_back(device.memory().memoryTypes[type].heapIndex);
    return footprint;
}

Buffer::Buffer(Device& device, std::uint64_t bytes, Memory memory, std::string name)
    : device_(device), kind_(memory), name_(std::move(name)), size_(storedSize(bytes)) {
    buffer_ = createBuffer(device_, size_, name_);
    allocate();
    if (direct()) {
        std::memset(host_, 0, size_);
        flush(0, size_);
    } else {
        device_.runOnce([&](VkCommandBuffer commands) {
            device_.vk().CmdFillBuffer(commands, buffer_.get(), 0, VK_WHOLE_SIZE, 0);
        });
    }
    device_.counters().bytesAllocated += allocated_;
    device_.counters().heapBytes[heap_] += allocated_;
}

Buffer::~Buffer() {
    if (device_.abandoned()) return;
    device_.texelViews().forget(buffer_.get());
    device_.counters().bytesAllocated -= allocated_;
    device_.counters().heapBytes[heap_] -= allocated_;
}

void Buffer::allocate() {
    const DeviceApi& vk = device_.vk();
    const VkMemoryRequirements requirements = requirementsOf(device_, buffer_.get());
    const VkPhysicalDeviceMemoryProperties& memory = device_.memory();
    std::uint64_t available = 0;
    std::uint32_t type = 0;
    for (const std::uint32_t candidate : memoryTypes(memory, requirements.memoryTypeBits, kind_, size_)) {
        // Software drivers accept allocations beyond the heap and fail silently later.
        const std::uint64_t left = device_.heapLeft(memory.memoryTypes[candidate].heapIndex);
        available = std::max(available, left);
        if (requirements.size > left) continue;
        const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, requirements.size,
                                        candidate};
        try {
            memory_ = create(device_, vk.AllocateMemory, vk.FreeMemory, info, "vkAllocateMemory");
        } catch (const OutOfMemoryError&) {
            continue;
        }
        type = candidate;
        break;
    }
    if (!memory_) throwOutOfMemory(requirements.size, available);
    allocated_ = requirements.size;
    heap_ = memory.memoryTypes[type].heapIndex;
    check(vk.BindBufferMemory(device_.handle(), buffer_.get(), memory_.get(), 0), "vkBindBufferMemory");

    const VkMemoryPropertyFlags flags = memory.memoryTypes[type].propertyFlags;
    coherent_ = (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0;
    // The host reads uncached memory over the bus word by word; staging is faster in both directions.
    constexpr VkMemoryPropertyFlags cached =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    const bool mustMap = kind_ != Memory::device;
    if (!mustMap && ((flags & cached) != cached || device_.options().forceStaging)) return;
    void* mapped = nullptr;
    check(vk.MapMemory(device_.handle(), memory_.get(), 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    host_ = static_cast<std::byte*>(mapped);
}

void Buffer::throwOutOfMemory(std::uint64_t needed, std::uint64_t available) const {
    throwNoMemory(device_, name_, needed, available);
}

BufferView Buffer::view(std::uint64_t offset, std::uint64_t size) const {
    if (size == 0 || offset > size_ || size > size_ - offset)
        throw std::out_of_range("buffer '" + name_ + "' has " + std::to_string(size_) + " bytes; a view of " +
                                std::to_string(size) + " at " + std::to_string(offset) + " exceeds it");
    return {buffer_.get(), offset, size};
}

void Buffer::upload(std::span<const std::byte> data, std::uint64_t offset) {
    if (data.empty()) return;
    const BufferView range = view(offset, data.size());
    device_.counters().bytesUploaded += data.size();
    const CountedTime timed(device_.counters().uploadNanoseconds);
    device_.waitForAll();
    if (direct()) {
        invalidate(offset, data.size()); // a flush writes whole atoms, including neighbouring bytes
        std::memcpy(host_ + offset, data.data(), data.size());
        flush(offset, data.size());
        return;
    }
    Buffer staging(device_, data.size(), Memory::upload, name_ + " (upload)");
    std::memcpy(staging.host_, data.data(), data.size());
    staging.flush(0, data.size());
    const VkBufferCopy copy{0, range.offset, range.size};
    device_.runOnce([&](VkCommandBuffer commands) {
        device_.vk().CmdCopyBuffer(commands, staging.buffer_.get(), buffer_.get(), 1, &copy);
    });
}

void Buffer::download(std::span<std::byte> data, std::uint64_t offset) const {
    if (data.empty()) return;
    const BufferView range = view(offset, data.size());
    device_.counters().bytesDownloaded += data.size();
    const CountedTime timed(device_.counters().downloadNanoseconds);
    device_.waitForAll();
    if (direct()) {
        invalidate(offset, data.size());
        std::memcpy(data.data(), host_ + offset, data.size());
        return;
    }
    Buffer staging(device_, data.size(), Memory::readback, name_ + " (download)");
    const VkBufferCopy copy{range.offset, 0, range.size};
    device_.runOnce([&](VkCommandBuffer commands) {
        const VkMemoryBarrier written{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr,
                                      VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                                      VK_ACCESS_TRANSFER_READ_BIT};
        device_.vk().CmdPipelineBarrier(
            commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
            VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &written, 0, nullptr, 0, nullptr);
        device_.vk().CmdCopyBuffer(commands, buffer_.get(), staging.buffer_.get(), 1, &copy);
        const VkMemoryBarrier toHost{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_TRANSFER_WRITE_BIT,
                                     VK_ACCESS_HOST_READ_BIT};
        device_.vk().CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                                        0, 1, &toHost, 0, nullptr, 0, nullptr);
    });
    staging.invalidate(0, data.size());
    std::memcpy(data.data(), staging.host_, data.size());
}

void Buffer::write(std::span<const std::byte> data, std::uint64_t offset) {
    if (kind_ != Memory::upload)
        throw std::logic_error("buffer '" + name_ + "' was not created as Memory::upload");
    if (data.empty()) return;
    const BufferView range = view(offset, data.size());
    device_.counters().bytesUploaded += range.size;
    std::memcpy(host_ + offset, data.data(), data.size());
    flush(offset, data.size());
}

std::span<const std::byte> Buffer::mapped() const {
    if (!direct()) throw std::logic_error("buffer '" + name_ + "' is not mapped");
    invalidate(0, size_);
    return {host_, static_cast<std::size_t>(size_)};
}

// Ranges of non-coherent memory start and end at multiples of nonCoherentAtomSize, or where it ends.
VkMappedMemoryRange Buffer::alignedRange(std::uint64_t offset, std::uint64_t size) const {
    const std::uint64_t atom = std::max<std::uint64_t>(1, device_.limits().nonCoherentAtomSize);
    const std::uint64_t begin = offset / atom * atom;
    const std::uint64_t end = std::min((offset + size + atom - 1) / atom * atom, allocated_);
    const VkMappedMemoryRange range{VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE, nullptr, memory_.get(), begin,
                                    end == allocated_ ? VK_WHOLE_SIZE : end - begin};
    return range;
}

std::span<std::byte> Buffer::mappedToWrite(std::uint64_t offset, std::uint64_t size) {
    if (!direct()) throw std::logic_error("buffer '" + name_ + "' is not mapped");
    const BufferView range = view(offset, size);
    invalidate(range.offset, range.size);
    return {host_ + offset, static_cast<std::size_t>(size)};
}

void Buffer::flush(std::uint64_t offset, std::uint64_t size) const {
    if (coherent_) return;
    const VkMappedMemoryRange range = alignedRange(offset, size);
    check(device_.vk().FlushMappedMemoryRanges(device_.handle(), 1, &range), "vkFlushMappedMemoryRanges");
}

void Buffer::invalidate(std::uint64_t offset, std::uint64_t size) const {
    if (coherent_) return;
    const VkMappedMemoryRange range = alignedRange(offset, size);
    check(device_.vk().InvalidateMappedMemoryRanges(device_.handle(), 1, &range),
          "vkInvalidateMappedMemoryRanges");
}

} // namespace lockstep::gpu
