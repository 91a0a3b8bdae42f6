// A compute pipeline that knows its own shape: bindings, push constants and sizes come from the shader
// itself.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/gpu/device.h"
#include "engine/gpu/reflection.h"

namespace lockstep::gpu {

/// How many items a dispatch covers along each axis: outputs, rows, elements. A kernel rounds up to
/// workgroups itself.
struct WorkItems {
    std::uint32_t x = 1;
    std::uint32_t y = 1;
    std::uint32_t z = 1;
};

/// Buffers that one kernel may bind at most; the device may allow fewer (Limits::storageBuffers).
inline constexpr std::uint32_t mostBindings = 16;

VkDescriptorType descriptorType(BindingKind kind);

/// Everything that turns a shader into a pipeline.
struct KernelSource {
    std::string name;                     ///< the shader's stem, as timings show it
    std::span<const std::uint32_t> words; ///< SPIR-V, only read during construction
    SpecConstants constants;
    WorkItems itemsPerGroup{0, 0, 0}; ///< what one workgroup computes; 0: an item per invocation
    /// SPIR-V of the shader whose buffers it is given. It need not use them all; empty: its own.
    std::span<const std::uint32_t> buffersOf{};
    TexelFormat texels = TexelFormat::floats; ///< of its texel buffers
};

/// A pipeline without the type of its push constants; see Kernel.
class AnyKernel {
  public:
    AnyKernel(Device& device, const KernelSource& source);
    ~AnyKernel();
    AnyKernel(AnyKernel&& other) noexcept;
    AnyKernel& operator=(AnyKernel&&) = delete;
    AnyKernel(const AnyKernel&) = delete;
    AnyKernel& operator=(const AnyKernel&) = delete;

    const std::string& name() const { return name_; }
    const ShaderInfo& info() const { return info_; }
    VkPipeline pipeline() const { return pipeline_; }
    VkPipelineLayout layout() const { return layout_; }
    VkDescriptorSetLayout setLayout() const { return setLayout_; }
    /// Workgroups that cover the items. Throws GpuError when the device allows fewer.
    WorkItems groupsFor(const WorkItems& items) const;
    TexelFormat texels() const { return texels_; }

  private:
    void addUnusedBuffers(const KernelSource& source);
    void checkLimits() const;
    void createLayout();
    void createPipeline(const KernelSource& source);
    void destroy() noexcept;

    Device* device_;
    std::string name_;
    ShaderInfo info_;
    WorkItems itemsPerGroup_;
    TexelFormat texels_;
    VkDescriptorSetLayout setLayout_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    VkPipeline pipeline_ = VK_NULL_HANDLE;
};

/// A kernel whose dispatches take a `Params` struct: the wrong one does not compile.
template <class Params> class Kernel : public AnyKernel {
  public:
    /// Throws std::runtime_error, with the kernel's name, when the shader is not found, its push constants
    /// are not the size of `Params`, or it does not fit into the device's limits; GpuError when the driver
    /// refuses it.
    Kernel(Device& device, const KernelSource& source) : AnyKernel(device, source) {
        requireParams(sizeof(Params));
    }

  private:
    void requireParams(std::size_t size) const {
        if (info().pushConstantBytes != size)
            throw std::runtime_error(
                "kernel '" + name() + "' takes " + std::to_string(info().pushConstantBytes) +
                " bytes of push constants, its params struct has " + std::to_string(size));
    }
};

} // namespace lockstep::gpu
