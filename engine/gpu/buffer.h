// Device memory, and exact ranges of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/gpu/owned.h"

namespace lockstep::gpu {

class Buffer;

/// A range of a buffer, for binding to a kernel and for tracking hazards.
struct BufferView {
    VkBuffer buffer = VK_NULL_HANDLE;
    std::uint64_t offset = 0; ///< bytes
    std::uint64_t size = 0;   ///< bytes, above 0
};

enum class Memory {
    device,   ///< fastest for kernels; reached from the host through upload() and download()
    readback, ///< permanently mapped; kernels write it, the host reads it without a copy
    upload,   ///< permanently mapped; the host writes it with write(), kernels and copies read it
};

/// What a buffer takes of a device's memory.
struct Footprint {
    std::uint64_t bytes = 0;          ///< as DeviceCounters count: drivers round up
    std::vector<std::uint32_t> heaps; ///< where it may go, best first: it goes where there is room
};

/// That of Buffer(device, bytes, memory, ...), without allocating it. Above a gibibyte, which drivers may
/// refuse to describe, rounded like a buffer of one.
Footprint footprintOf(const Device& device, std::uint64_t bytes, Memory memory);

/// The arguments of a buffer's constructor.
struct BufferSpec {
    std::uint64_t bytes = 0;
    Memory memory = Memory::device;
    std::string name;
};

/// A storage buffer with its own memory, initially zero.
class Buffer {
  public:
    /// Allocates `bytes`, rounded up to a multiple of 16. `name` appears in messages. Throws
    /// OutOfMemoryError.
    Buffer(Device& device, std::uint64_t bytes, Memory memory, std::string name);
    Buffer(Device& device, BufferSpec spec) : Buffer(device, spec.bytes, spec.memory, std::move(spec.name)) {}
    ~Buffer();

    std::uint64_t size() const { return size_; }
    std::uint64_t allocated() const { return allocated_; } ///< bytes of the device's memory
    const std::string& name() const { return name_; }
    Memory memory() const { return kind_; }

    BufferView view() const { return {buffer_.get(), 0, size_}; }
    /// Bytes [offset, offset + size). Throws std::out_of_range if they exceed the buffer.
    BufferView view(std::uint64_t offset, std::uint64_t size) const;

    /// Copies host data to `offset`. First waits for all work on the device; a staged copy is also waited
    /// for. For start-up and restoring, never inside a step. Counted in DeviceCounters::bytesUploaded.
    void upload(std::span<const std::byte> data, std::uint64_t offset = 0);
    /// Copies from `offset` to host memory, with the same waits. Counted in DeviceCounters::bytesDownloaded.
    void download(std::span<std::byte> data, std::uint64_t offset = 0) const;

    template <class T> void uploadValues(std::span<const T> values, std::uint64_t offset = 0) {
        upload(std::as_bytes(values), offset);
    }
    template <class T> std::vector<T> downloadValues(std::size_t count, std::uint64_t offset = 0) const {
        std::vector<T> values(count);
        download(std::as_writable_bytes(std::span<T>(values)), offset);
        return values;
    }

    /// Memory::upload only: copies host data to `offset` immediately. No earlier submission may still read
    /// those bytes; later submissions see the data. Counted in DeviceCounters::bytesUploaded.
    void write(std::span<const std::byte> data, std::uint64_t offset = 0);
    template <class T> void writeValues(std::span<const T> values, std::uint64_t offset = 0) {
        write(std::as_bytes(values), offset);
    }

    /// Memory::readback only: makes the writes of completed submissions visible and returns the mapped bytes.
    std::span<const std::byte> mapped() const;
    /// Memory::readback only: mapped bytes, with what completed submissions have written, for the host to
    /// change; and what makes the change visible to later submissions. None in flight may use those bytes.
    std::span<std::byte> mappedToWrite(std::uint64_t offset, std::uint64_t size);
    void wrote(std::uint64_t offset, std::uint64_t size) const { flush(offset, size); }

  private:
    void allocate();
    [[noreturn]] void throwOutOfMemory(std::uint64_t needed, std::uint64_t available) const;
    void flush(std::uint64_t offset, std::uint64_t size) const;
    void invalidate(std::uint64_t offset, std::uint64_t size) const;
    VkMappedMemoryRange alignedRange(std::uint64_t offset, std::uint64_t size) const;
    bool direct() const { return host_ != nullptr; }

    Device& device_;
    Memory kind_;
    std::string name_;
    std::uint64_t size_ = 0;
    Owned<VkDeviceMemory> memory_;
    Owned<VkBuffer> buffer_;
    std::uint64_t allocated_ = 0;
    std::uint32_t heap_ = 0;
    bool coherent_ = true;
    std::byte* host_ = nullptr; ///< null if the host cannot reach the memory, or only slowly
};

} // namespace lockstep::gpu
