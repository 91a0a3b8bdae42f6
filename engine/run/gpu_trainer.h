// Training on a Vulkan device.
#pragma once

#include <memory>
#include <string_view>

#include "engine/gpu/device.h"
#include "engine/run/trainer.h"
#include "engine/step/rungs.h"
#include "engine/step/shaders.h"

namespace lockstep {

/// A trainer on `device`, which must outlive it; several trainers may share one device.
/// rung       one of the GPU's; wholeStep for networks that fit into a workgroup's shared memory
/// (whole_step.h);
///            `best` takes what is fastest for this network, measured on this device and checked against the
///            processor's results
/// replaced   shaders to use instead of built-in ones; they do not change which kernels are chosen, and their
///            results are not checked
/// Throws std::invalid_argument for an unknown shader or a job that does not fit together, std::runtime_error
/// for a rung that this device cannot run (`subgroup` needs gpu::Limits::broadcastLanes) and, naming the
/// kernel, for a replaced shader that takes other parameters or buffers, gpu::OutOfMemoryError when the
/// device's memory is too small, gpu::GpuError for what else fails on it.
std::unique_ptr<Trainer> makeGpuTrainer(const TrainJob& job, Rung rung, gpu::Device& device,
                                        const ReplacedShaders& replaced = {});
/// The same by the rung's name; std::invalid_argument for an unknown one, too.
inline std::unique_ptr<Trainer> makeGpuTrainer(const TrainJob& job, std::string_view rung,
                                               gpu::Device& device, const ReplacedShaders& replaced = {}) {
    return makeGpuTrainer(job, rungFromName(rung, true), device, replaced);
}

} // namespace lockstep
