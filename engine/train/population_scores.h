// What is known of a population on a GPU: losses, hits and norms of all networks, their ranking, and what all
// of them together amount to.
#pragma once

#include <vector>

#include "engine/gpu/recorder.h"
#include "engine/train/population_arenas.h"
#include "engine/train/population_kernels.h"

namespace lockstep {

/// Every call waits for the device.
class PopulationScores {
  public:
    /// All references must outlive the object.
    PopulationScores(gpu::Device& device, PopulationKernels& kernels, PopulationArenas& arenas,
                     const PopulationJob& job);

    std::vector<MemberResult> results();
    PopulationSummary summary();
    std::vector<float> parameters(std::size_t member);

  private:
    /// A part of the examples is scored by one invocation per network.
    struct Parts {
        std::uint32_t count = 0;
        std::uint32_t rows = 0; ///< examples of each, a multiple of 4
    };

    static Parts partsOf(const PopulationJob& job);
    void score();
    void scoreRun(const PopulationRun& run);
    void recordResults();
    void recordRanks();
    const gpu::Buffer& examples() const { return arenas_.test ? *arenas_.test : arenas_.train; }
    std::size_t exampleCount() const;
    std::uint32_t networksAtOnce(double workOfOne) const;

    gpu::Device& device_;
    PopulationKernels& kernels_;
    PopulationArenas& arenas_;
    const PopulationJob& job_;
    const Parts parts_;
    gpu::Buffer partSums_; ///< vec2 [part][place]
    gpu::Buffer results_;  ///< shared::PopulationResult [member]
    gpu::Buffer keys_;     ///< [member], padded to a multiple of four
    gpu::Buffer ranking_;
    gpu::Buffer totals_;
    gpu::Buffer column_;     ///< one network's parameters
    gpu::Recorder recorder_; ///< destroyed first: it waits for what still uses the buffers
};

} // namespace lockstep
