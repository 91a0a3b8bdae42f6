// Compute pipelines whose bindings, push constants and sizes come from the shader itself.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "engine/gpu/pipelines.h"
#include "engine/gpu/reflection.h"

namespace lockstep::gpu {

struct BufferView; // engine/gpu/buffer.h

/// The items (outputs, rows, elements) that a dispatch covers along each axis, rounded up to workgroups.
struct WorkItems {
    std::uint32_t x = 1;
    std::uint32_t y = 1;
    std::uint32_t z = 1;
};

/// Maximum number of buffers per kernel; the device may allow fewer (Limits::storageBuffers).
inline constexpr std::uint32_t mostBindings = 16;

VkDescriptorType descriptorType(BindingKind kind);

/// A size as shaders hold it: 32 bits.
constexpr std::uint32_t asUint(auto value) { return static_cast<std::uint32_t>(value); }

/// Everything that turns a shader into a pipeline.
struct KernelSource {
    std::string name;                     ///< the operation it computes, as timings show it
    std::span<const std::uint32_t> words; ///< SPIR-V; read only during construction
    SpecConstants constants;
    WorkItems itemsPerGroup{0, 0, 0}; ///< computed by one workgroup; 0: one item per invocation
    /// SPIR-V of a shader whose bindings this one accepts, even if it uses only some of them. Empty: its own.
    std::span<const std::uint32_t> buffersOf{};
    TexelFormat texels = TexelFormat::floats; ///< format of its texel buffers
    std::string shader{};                     ///< stem of the shader's file; empty: `name`
    /// A user's: see shader_rules.h, bounded_access.h and loop_limit.h for what becomes of it.
    bool edited = false;
    std::string variant{};       ///< how its constants specialise it, for humans; may be empty
    bool workgroupClock = false; ///< notes when its workgroups run: see workgroup_clock.h
};

/// The untyped base of Kernel.
class AnyKernel {
  public:
    AnyKernel(Device& device, const KernelSource& source);
    virtual ~AnyKernel() = default;

    const std::string& name() const { return name_; }
    const std::string& shader() const { return shader_; }
    const std::string& variant() const { return variant_; }
    const ShaderInfo& info() const { return info_; }
    VkPipeline pipeline() const { return pipeline_->pipeline.get(); }
    VkPipelineLayout layout() const { return pipeline_->layout.get(); }
    VkDescriptorSetLayout setLayout() const { return pipeline_->setLayout.get(); }
    /// The number of workgroups that cover the items. Throws GpuError if the device allows fewer.
    WorkItems groupsFor(const WorkItems& items) const;
    const WorkItems& itemsPerGroup() const { return itemsPerGroup_; }
    TexelFormat texels() const { return texels_; }
    /// Differs from that of every other kernel of this process, past ones included.
    std::uint64_t id() const { return id_; }
    /// Whether the binding after its own is the device's LoopWatch.
    bool watched() const { return watched_; }
    /// Whether its last binding is for the times of its workgroups.
    bool clocked() const { return clocked_; }
    /// Whether the kernel has not been dispatched with buffers of these sizes before.
    bool firstUse(std::span<const BufferView> views) const;

  private:
    void addUnusedBuffers(const KernelSource& source);
    void checkLimits() const;
    Pipelines::Key keyOf(const KernelSource& source) const;
    std::shared_ptr<const Pipeline> created(const KernelSource& source) const;
    void createLayout(Pipeline& made) const;
    std::vector<std::uint32_t> limitedLoops(const KernelSource& source);
    void createPipeline(const KernelSource& source, Pipeline& made) const;

    Device* device_;
    std::uint64_t id_;
    std::string name_;
    std::string shader_;
    std::string variant_;
    ShaderInfo info_;
    mutable std::set<std::uint64_t> usedSizes_; ///< hashes of the sizes of its buffers
    WorkItems itemsPerGroup_;
    TexelFormat texels_;
    bool watched_ = false;
    bool clocked_ = false;
    std::shared_ptr<const Pipeline> pipeline_;
};

/// A kernel whose push constants are a `Params` struct; passing another type does not compile.
template <class Params> class Kernel : public AnyKernel {
  public:
    /// Throws std::runtime_error, naming the kernel, if the shader is missing, its push constants differ in
    /// size from `Params`, or it exceeds the device's limits; GpuError if the driver rejects it.
    Kernel(Device& device, const KernelSource& source) : AnyKernel(device, source) {
        if (info().pushConstantBytes != sizeof(Params))
            throw std::runtime_error(
                "kernel '" + name() + "' takes " + std::to_string(info().pushConstantBytes) +
                " bytes of push constants, its params struct has " + std::to_string(sizeof(Params)));
    }
};

} // namespace lockstep::gpu
