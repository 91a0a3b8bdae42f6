// Evaluates a population on a GPU: losses, accuracies and norms of all networks.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/gpu/recorder.h"
#include "engine/grid/population_arenas.h"

namespace lockstep {

/// How examples are divided for scoring: one invocation per part and network.
struct PopulationParts {
    std::uint32_t count = 0;
    std::uint32_t rows = 0; ///< examples of each, a multiple of 4

    /// Of the scores of so many networks.
    std::uint64_t bytes(std::size_t networks) const {
        return std::uint64_t{count} * networks * 2 * sizeof(float);
    }
};

/// The division for so many networks.
PopulationParts populationParts(const gpu::Device& device, const PopulationJob& job, std::size_t networks);

/// Every call waits for the device, and throws gpu::DeviceLostError, gpu::TimeoutError, other gpu::GpuErrors,
/// and std::runtime_error if the device refuses a kernel.
class PopulationScores {
  public:
    /// `arenas` must outlive the object. Also throws gpu::OutOfMemoryError.
    explicit PopulationScores(PopulationArenas& arenas);

    /// Scores the networks once, and again only after forget().
    std::vector<MemberResult> results();
    /// Call after training: the scores are out of date.
    void forget() { scored_ = false; }
    /// In ParamLayout's order. Also throws std::out_of_range if there is no such member.
    std::vector<float> parameters(std::size_t member);

  private:
    void score();
    void scoreNetworks(const PopulationRun& networks, shared::PopulationScoreParams params);

    PopulationArenas& arenas_;
    const PopulationJob& job_;
    const PopulationParts parts_;
    gpu::Buffer partSums_; ///< vec2 [part][place]
    gpu::Buffer results_;  ///< shared::PopulationResult [member]
    gpu::Buffer column_;   ///< one network's parameters
    bool scored_ = false;
    gpu::Recorder recorder_; ///< destroyed first: it waits for what still uses the buffers
};

} // namespace lockstep
