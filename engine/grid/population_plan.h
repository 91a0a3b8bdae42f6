// How a device trains a population: which layout, cut into workgroups and dispatches, and its kernels.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "engine/gpu/device.h"
#include "engine/gpu/kernel.h"
#include "engine/grid/population.h"
#include "engine/net/net_shape.h"
#include "engine/net/settings.h"
#include "shaders/shared/population.h"

namespace lockstep {

/// Upper limit of the work of one invocation in a dispatch on a GPU, as rows of examples times parameters.
/// The slowest GPUs take about a tenth of a second for it; operating systems reset a GPU after two seconds.
inline constexpr std::size_t mostWorkOfInvocation = std::size_t{1} << 22;

struct PopulationPlan {
    PopulationLayout layout = PopulationLayout::invocation;
    std::uint32_t order = shared::orderOfFile; ///< how steps find their examples: shared::orderOf...
    std::uint32_t groupSize = 0;               ///< invocations of a workgroup
    std::uint32_t networksPerGroup = 0;
    std::uint32_t mostSubgroups = 1; ///< layout subgroup: subgroups that a driver may make of a workgroup
    std::uint32_t chunk = 0;         ///< layout workgroup: rows whose values fit into shared memory at a time
    bool sharesState = false;        ///< layout workgroup: the optimizer's state fits, too
    std::uint32_t sharedFloats = 0;  ///< layout workgroup: shared memory in use
    std::uint32_t stepsPerDispatch =
        0; ///< software drivers limit a shader's loops, operating systems its time

    /// "a network per invocation, 1024 at once, at most 250 steps per dispatch"
    std::string describe(std::size_t networks) const;
};

/// How a population's steps find their examples, on any device: shared::orderOf...
std::uint32_t populationOrder(const PopulationJob& job);

/// The plan of one layout other than `best`. Empty if the layout does not take the job on this device; then
/// `why`, if not null, gets the reason and the largest that fits.
std::optional<PopulationPlan> populationPlan(const gpu::Device& device, const PopulationJob& job,
                                             PopulationLayout layout, std::string* why = nullptr);

/// The same, but throws std::runtime_error with the reason.
PopulationPlan requiredPopulationPlan(const gpu::Device& device, const PopulationJob& job,
                                      PopulationLayout layout);

/// Whether kernels keep a network's parameters in registers, with all loops unrolled. For larger networks
/// drivers would compile for seconds; loops read the parameters from their buffer instead.
bool fitsRegisters(const gpu::Device& device, const NetShape& shape);

/// The plan of `layout`; for `best`, of the fastest layout, measured by training a small copy of the job with
/// each for a few milliseconds. Layouts that fail are left out. The result goes into the cache
/// (kernel_cache.h), unless a layout ran out of memory. Throws std::runtime_error with the reasons if
/// `layout`, or every layout, refuses the job, and gpu::DeviceLostError, gpu::TimeoutError.
PopulationPlan choosePopulationPlan(gpu::Device& device, const PopulationJob& job, PopulationLayout layout);

/// Pipelines of a device for networks of one shape, made on first use and kept as long as the object lives.
/// Making one throws gpu::GpuError, and std::runtime_error if the device refuses it.
class PopulationKernels {
  public:
    PopulationKernels(gpu::Device& device, const NetShape& shape) : device_(device), shape_(shape) {}

    /// Items: networks.
    const gpu::Kernel<shared::PopulationTrainParams>& train(const PopulationPlan& plan, Optimizer optimizer,
                                                            Activation hidden);
    /// Items: networks, parts of a batch, steps.
    const gpu::Kernel<shared::PopulationOrderParams>& order();
    /// Items: networks, parts of the examples.
    const gpu::Kernel<shared::PopulationScoreParams>& score(Activation hidden);
    const gpu::Kernel<shared::PopulationResultParams>& results();
    const gpu::Kernel<shared::PopulationRankParams>& rank();
    const gpu::Kernel<shared::PopulationSummaryParams>& summary(); ///< a single workgroup
    /// Items: four neighbouring cells of a line, lines, networks.
    const gpu::Kernel<shared::PopulationPictureParams>& picture(Activation hidden);

  private:
    template <class Params>
    const gpu::Kernel<Params>& find(std::map<std::string, gpu::Kernel<Params>>& made, const std::string& stem,
                                    gpu::SpecConstants constants, gpu::WorkItems itemsPerGroup = {0, 0, 0});
    std::string looped() const; ///< suffix of the shaders for large networks
    gpu::SpecConstants widthConstants() const;
    gpu::SpecConstants networkConstants(Activation hidden) const;

    gpu::Device& device_;
    const NetShape shape_;
    std::map<std::string, gpu::Kernel<shared::PopulationTrainParams>> train_;
    std::map<std::string, gpu::Kernel<shared::PopulationOrderParams>> order_;
    std::map<std::string, gpu::Kernel<shared::PopulationScoreParams>> score_;
    std::map<std::string, gpu::Kernel<shared::PopulationResultParams>> results_;
    std::map<std::string, gpu::Kernel<shared::PopulationRankParams>> rank_;
    std::map<std::string, gpu::Kernel<shared::PopulationSummaryParams>> summary_;
    std::map<std::string, gpu::Kernel<shared::PopulationPictureParams>> picture_;
};

} // namespace lockstep
