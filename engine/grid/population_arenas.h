// What a population keeps on a GPU: its networks, their numbers, and the data they learn from.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/gpu/buffer.h"
#include "engine/grid/population.h"
#include "shaders/shared/population.h"

namespace lockstep {

/// Networks [first, first + count) have one hidden activation.
struct PopulationRun {
    Activation activation = Activation::tanh;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

/// Throws gpu::OutOfMemoryError, with the largest number of networks that fits, when the job's do not.
void requirePopulationMemory(const gpu::Device& device, const PopulationJob& job);

/// Networks are sorted by their hidden activation; where one has come to stand is its place
/// (shaders/shared/population.h). One thread at a time.
class PopulationArenas {
  public:
    /// Throws gpu::OutOfMemoryError, gpu::GpuError.
    PopulationArenas(gpu::Device& device, const PopulationJob& job);

    /// All networks as before their first step. Waits for the device.
    void reset(const PopulationJob& job);
    /// Index in a member's column of `parameters` -> index in ParamLayout's arena.
    const std::vector<std::uint32_t>& arenaIndices() const { return arenaIndices_; }

    std::vector<std::uint32_t> members; ///< by place
    std::vector<std::uint32_t> places;  ///< by member
    std::vector<PopulationRun> runs;

    gpu::Buffer train;                 ///< [data set][example] inputs, then what outputs are compared with
    std::optional<gpu::Buffer> test;   ///< likewise
    gpu::Buffer networks;              ///< shared::PopulationNetwork [place]
    gpu::Buffer states;                ///< shared::PopulationState [place]
    gpu::Buffer parameters;            ///< [parameter][place]
    std::optional<gpu::Buffer> first;  ///< of the optimizer's state, where it has one
    std::optional<gpu::Buffer> second; ///< likewise

  private:
    std::vector<std::uint32_t> arenaIndices_;
};

} // namespace lockstep
