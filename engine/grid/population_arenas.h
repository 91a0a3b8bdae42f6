// A population on a GPU: its networks, their settings and states, the data they learn, and the kernels that
// work on them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/gpu/buffer.h"
#include "engine/gpu/kernel.h"
#include "engine/grid/population.h"
#include "engine/grid/population_plan.h"
#include "shaders/shared/population.h"

namespace lockstep {

/// Throws gpu::OutOfMemoryError, with the largest number of networks that fits, if the job's don't.
void requirePopulationMemory(const gpu::Device& device, const PopulationJob& job);

/// Pipelines for networks of one shape, made on first use and kept as long as the object lives. Making one
/// throws gpu::GpuError, and std::runtime_error if the device refuses it.
class PopulationKernels {
  public:
    PopulationKernels(gpu::Device& device, const NetShape& shape) : device_(device), shape_(shape) {}

    /// Items: networks.
    const gpu::Kernel<shared::PopulationTrainParams>& train(const PopulationPlan& plan, Optimizer optimizer,
                                                            Activation hidden);
    /// Items: networks, parts of a batch, steps.
    const gpu::Kernel<shared::PopulationTrainParams>& order();
    /// Items: networks, parts of the examples.
    const gpu::Kernel<shared::PopulationScoreParams>& score(Activation hidden);
    const gpu::Kernel<shared::PopulationScoreParams>& results();
    /// Items: four neighbouring cells of a line, lines, networks.
    const gpu::Kernel<shared::PopulationPictureParams>& picture(Activation hidden);

  private:
    template <class Params>
    const gpu::Kernel<Params>& find(const std::string& stem, gpu::SpecConstants constants,
                                    gpu::WorkItems itemsPerGroup = {0, 0, 0});
    std::string looped() const; ///< suffix of the shaders for large networks
    gpu::SpecConstants widthConstants() const;
    gpu::SpecConstants networkConstants(Activation hidden) const;

    gpu::Device& device_;
    const NetShape shape_;
    std::map<std::string, std::unique_ptr<gpu::AnyKernel>> made_; ///< by shader and constants
};

/// A network's number in all arrays is its place (PopulationPlaces). Used by one thread at a time.
struct PopulationArenas {
    /// Both must outlive the object. Throws gpu::OutOfMemoryError, gpu::GpuError.
    PopulationArenas(gpu::Device& device, const PopulationJob& job);

    /// Puts all networks back before their first step. Waits for the device.
    void reset();

    gpu::Device& device;
    const PopulationJob& job;
    PopulationKernels kernels;
    const PopulationPlaces places;
    const std::vector<std::uint32_t> arenaIndices; ///< unpaddedParameters(): those of a column below

    gpu::Buffer train;                 ///< [data set][example] inputs, then targets
    std::optional<gpu::Buffer> test;   ///< likewise
    gpu::Buffer networks;              ///< shared::PopulationNetwork [place]
    gpu::Buffer states;                ///< shared::PopulationState [place]
    gpu::Buffer parameters;            ///< [parameter][place]
    std::optional<gpu::Buffer> first;  ///< the optimizer's first state array, if it has one
    std::optional<gpu::Buffer> second; ///< its second one
};

} // namespace lockstep
