// Creates the trainer for a lane.
#pragma once

#include <cstddef>
#include <memory>

#include "engine/gpu/device.h"
#include "engine/run/trainer.h"
#include "engine/step/lane_spec.h"

namespace lockstep {

/// Creates a trainer for `spec` by makeCpuTrainer or makeGpuTrainer.
///   threads   for cpu:threads and cpu:best; 0: one per core
///   device    for a GPU lane; must outlive the trainer. May be null for a CPU lane
/// Throws std::invalid_argument for an inconsistent job, gpu::GpuError for device errors.
std::unique_ptr<Trainer> makeTrainer(const TrainJob& job, const LaneSpec& spec, std::size_t threads,
                                     gpu::Device* device);

} // namespace lockstep
