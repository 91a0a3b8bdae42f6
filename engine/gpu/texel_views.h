// Ranges of buffers as texels: the objects that Vulkan wants for them, made on first use and kept.
#pragma once

#include <map>
#include <mutex>
#include <tuple>

#include "engine/gpu/buffer.h"
#include "engine/gpu/reflection.h"

namespace lockstep::gpu {

/// Any thread.
class TexelViews {
  public:
    explicit TexelViews(Device& device) : device_(device) {}
    ~TexelViews();
    TexelViews(const TexelViews&) = delete;
    TexelViews& operator=(const TexelViews&) = delete;

    /// The range as vec4s of that format; valid as long as the buffer. Throws GpuError.
    VkBufferView of(const BufferView& view, TexelFormat format);
    /// Destroys the views of a buffer that is about to be destroyed.
    void forget(VkBuffer buffer) noexcept;

  private:
    using Range = std::tuple<VkBuffer, std::uint64_t, std::uint64_t, TexelFormat>; // buffer, offset, size

    Device& device_;
    std::mutex mutex_;
    std::map<Range, VkBufferView> views_;
};

} // namespace lockstep::gpu
