// Training on a Vulkan device.
#pragma once

#include <memory>
#include <string_view>

#include "engine/gpu/device.h"
#include "engine/train/trainer.h"

namespace lockstep {

/// A trainer on `device`, which must outlive it; several trainers may share one device.
/// rung   "naive", "tiled", "blocked", "subgroup": one kind of kernel for all dense products; "best": the
///        fastest of all for each product and shape, measured on this device and checked against the
///        processor's results
/// Throws std::invalid_argument for an unknown rung or a job that does not fit together, std::runtime_error
/// for a rung that this device cannot run (`subgroup` needs gpu::Limits::broadcastLanes),
/// gpu::OutOfMemoryError when the device's memory is too small, gpu::GpuError for what else fails on it.
std::unique_ptr<Trainer> makeGpuTrainer(const TrainJob& job, std::string_view rung, gpu::Device& device);

} // namespace lockstep
