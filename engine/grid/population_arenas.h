// The buffers of a population on a GPU: its networks, their settings and states, and the data they learn.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/gpu/buffer.h"
#include "engine/grid/population.h"
#include "shaders/shared/population.h"

namespace lockstep {

/// Neighbouring networks [first, first + count) with the same hidden activation.
struct PopulationRun {
    Activation activation = Activation::tanh;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

/// Throws gpu::OutOfMemoryError, with the largest number of networks that fits, if the job's don't.
void requirePopulationMemory(const gpu::Device& device, const PopulationJob& job);

/// Networks are sorted by hidden activation; a network's position after that is its place
/// (shaders/shared/population.h). Used by one thread at a time.
class PopulationArenas {
  public:
    /// Throws gpu::OutOfMemoryError, gpu::GpuError.
    PopulationArenas(gpu::Device& device, const PopulationJob& job);

    /// Puts all networks back before their first step. Waits for the device.
    void reset(const PopulationJob& job);
    /// Index in a member's column of `parameters` -> index in ParamLayout's arena.
    const std::vector<std::uint32_t>& arenaIndices() const { return arenaIndices_; }

    std::vector<std::uint32_t> members; ///< by place
    std::vector<std::uint32_t> places;  ///< by member
    std::vector<PopulationRun> runs;

    gpu::Buffer train;                 ///< [data set][example] inputs, then targets
    std::optional<gpu::Buffer> test;   ///< likewise
    gpu::Buffer networks;              ///< shared::PopulationNetwork [place]
    gpu::Buffer states;                ///< shared::PopulationState [place]
    gpu::Buffer parameters;            ///< [parameter][place]
    std::optional<gpu::Buffer> first;  ///< the optimizer's first state array, if it has one
    std::optional<gpu::Buffer> second; ///< its second one

  private:
    std::vector<std::uint32_t> arenaIndices_;
};

} // namespace lockstep
