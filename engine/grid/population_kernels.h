// The kernels of populations on Vulkan, one line each, in the manner of Kernels (kernels.h).
#pragma once

#include <map>
#include <string>

#include "engine/gpu/kernel.h"
#include "engine/grid/population_plan.h"
#include "engine/net/net_shape.h"
#include "engine/net/settings.h"
#include "shaders/shared/population.h"

namespace lockstep {

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
