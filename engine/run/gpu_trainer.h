// Training on a Vulkan device.
#pragma once

#include <memory>
#include <string_view>

#include "engine/gpu/device.h"
#include "engine/run/trainer.h"
#include "engine/step/shaders.h"

namespace lockstep {

/// A trainer on `device`, which must outlive it; several trainers may share one device.
/// rung   one of the GPU's in knownLanes() (lane_spec.h), as chooseKernels() understands them; "whole-step"
///        for networks that fit into a workgroup's shared memory (whole_step.h); "best" takes what is fastest
///        for this network, measured on this device and checked against the processor's results
/// replaced   shaders to use instead of built-in ones; which kernels are chosen does not depend on them, and
///            nobody checks their results
/// Throws std::invalid_argument for an unknown rung or shader or a job that does not fit together,
/// std::runtime_error for a rung that this device cannot run (`subgroup` needs gpu::Limits::broadcastLanes)
/// and, naming the kernel, for a replaced shader that takes other parameters or buffers,
/// gpu::OutOfMemoryError when the device's memory is too small, gpu::GpuError for what else fails on it.
std::unique_ptr<Trainer> makeGpuTrainer(const TrainJob& job, std::string_view rung, gpu::Device& device,
                                        const ReplacedShaders& replaced = {});

} // namespace lockstep
