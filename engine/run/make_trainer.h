// From a lane's name to its trainer.
#pragma once

#include <cstddef>
#include <memory>

#include "engine/gpu/device.h"
#include "engine/run/trainer.h"
#include "engine/step/lane_spec.h"

namespace lockstep {

/// A trainer for `spec`: makeCpuTrainer or makeGpuTrainer.
/// threads   of cpu:threads and cpu:best; 0 for one per core
/// device    of a GPU lane, which the trainer uses as long as it lives; may be null for a CPU lane
/// Throws std::invalid_argument for a job that does not fit together, gpu::GpuError for what fails on a
/// device.
std::unique_ptr<Trainer> makeTrainer(const TrainJob& job, const LaneSpec& spec, std::size_t threads,
                                     gpu::Device* device);

} // namespace lockstep
