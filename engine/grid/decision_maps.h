// What every network of a population predicts over the plane, as one picture of tiles.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/gpu/recorder.h"
#include "engine/grid/population_arenas.h"

namespace lockstep {

/// Throws std::invalid_argument, with what is possible, if the options are invalid or don't fit the job.
void validateDecisionMap(const DecisionMapOptions& options, const PopulationJob& job);

/// The networks' inputs at the centres of a tile's pixels, row by row from the top: [cells * cells][inputs].
std::vector<float> decisionMapPoints(const DecisionMapOptions& options);

class PopulationMaps {
  public:
    /// `arenas` must outlive the object.
    explicit PopulationMaps(PopulationArenas& arenas) : arenas_(arenas), recorder_(arenas.device) {}

    /// Submits and returns. The picture stays valid until the call after the next one. Throws
    /// std::invalid_argument for options that don't fit the shape or the device (with the largest that do),
    /// gpu::OutOfMemoryError, gpu::DeviceLostError, gpu::TimeoutError, other gpu::GpuErrors.
    DevicePicture compute(const DecisionMapOptions& options);
    /// The same in host memory. Waits for the device. Throws likewise.
    std::vector<std::uint32_t> download(const DecisionMapOptions& options);

  private:
    struct Turn {
        std::unique_ptr<gpu::Buffer> picture; ///< null: not yet, or of another size
        std::unique_ptr<gpu::Buffer> colours;
        gpu::Ticket ready = 0;
    };

    Turn& nextTurn(const DecisionMapOptions& options);
    void draw(const Turn& turn, const DecisionMapOptions& options);

    PopulationArenas& arenas_;
    std::array<Turn, 2> turns_;
    std::size_t next_ = 0;
    gpu::Recorder recorder_; ///< destroyed first: it waits for what still uses the buffers
};

} // namespace lockstep
