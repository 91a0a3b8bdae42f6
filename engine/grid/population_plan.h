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

/// Rows of examples times parameters that one invocation of a GPU works through in a dispatch at most. It
/// does that on its own, however many others there are: the slowest GPUs take about a tenth of a second for
/// it, systems reset one after two.
inline constexpr std::size_t mostWorkOfInvocation = std::size_t{1} << 22;

struct PopulationPlan {
    PopulationLayout layout = PopulationLayout::invocation;
    std::uint32_t order = shared::orderOfFile; ///< how steps find their examples, shared::orderOf...
    std::uint32_t groupSize = 0;               ///< invocations of a workgroup
    std::uint32_t networksPerGroup = 0;
    std::uint32_t mostSubgroups = 1;    ///< subgroup: into which a driver may divide a workgroup
    std::uint32_t chunk = 0;            ///< workgroup: rows whose values fit into shared memory at a time
    bool sharesState = false;           ///< workgroup: so does the optimizer's state
    std::uint32_t sharedFloats = 0;     ///< workgroup: of shared memory
    std::uint32_t stepsPerDispatch = 0; ///< software drivers limit a shader's loops, systems its time

    /// "a network per invocation, 1024 at once, at most 250 steps per dispatch"
    std::string describe(std::size_t networks) const;
};

/// How a population's steps find their examples, on any device: shared::orderOf...
std::uint32_t populationOrder(const PopulationJob& job);

/// Of one layout, not `best`. Empty, with the reason and the largest that fits in `why` (not null), when the
/// layout does not take the job on this device.
std::optional<PopulationPlan> populationPlan(const gpu::Device& device, const PopulationJob& job,
                                             PopulationLayout layout, std::string* why = nullptr);

/// Likewise; throws std::runtime_error with the reason.
PopulationPlan requiredPopulationPlan(const gpu::Device& device, const PopulationJob& job,
                                      PopulationLayout layout);

/// Whether kernels are made for a network's parameters in registers, all loops unrolled; else drivers would
/// compile for seconds, and loops read them from their buffer.
bool fitsRegisters(const gpu::Device& device, const NetShape& shape);

/// `best` trains a small copy of the job with each layout that takes it for a few milliseconds; what was
/// measured is remembered (kernel_cache.h), unless one had no memory. One that fails is left out. Throws
/// std::runtime_error with the reasons when the layout asked for, or none, takes the job,
/// gpu::DeviceLostError, gpu::TimeoutError.
PopulationPlan choosePopulationPlan(gpu::Device& device, const PopulationJob& job, PopulationLayout layout);

/// Pipelines of a device for networks of one shape, made on first use and kept. References stay valid as long
/// as the object lives. Whatever makes one throws gpu::GpuError, and std::runtime_error when the device does
/// not take it.
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
    std::string looped() const; ///< end of the name of a shader for large networks
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
