// Creates trainers: on the processor, on a Vulkan device, or by the name of a lane.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <stdexcept>

#include "engine/cpu/cpu_info.h"
#include "engine/cpu/kernels.h"
#include "engine/gpu/device.h"
#include "engine/run/trainer.h"
#include "engine/step/cpu_arenas.h"
#include "engine/step/lane_spec.h"
#include "engine/step/rungs.h"
#include "engine/step/shaders.h"
#include "engine/tune/tuning.h"

namespace lockstep {

/// A trainer that computes immediately: run() returns when its steps are done.
/// rung      one of the processor's; `best` takes SmallOps on one thread where the network fits
/// threads   of rungs that use all cores: how many at most; 0 for one per core that this process may use. A
///           step too small to be worth splitting uses fewer; MachineInfo says how many. Some of them pause
///           while other programs need their cores (team_sizing.h); those on slow cores have smaller shares
///           (work_shares.h). The other rungs always use one.
/// A run is bit-identical to any other with the same job, rung and number of threads.
/// Throws std::invalid_argument for a job that does not fit together, std::runtime_error for a rung whose
/// instructions this processor lacks (Rung::bf16).
std::unique_ptr<Trainer> makeCpuTrainer(const TrainJob& job, Rung rung, std::size_t threads);

/// What that trainer will take, before any of it is allocated. Throws as makeCpuTrainer.
CpuMemory cpuMemoryOf(const TrainJob& job, Rung rung, std::size_t threads);

/// Threads that are worth using: each has to have some twenty microseconds of work per step, or waiting at
/// barriers costs more than the help brings. A pure function of the work, so that a repeated run is split
/// alike.
/// flopsPerMicrosecond   of one thread; vector kernels do at least 50,000, plain loops 2,000
std::size_t usefulThreads(const NetShape& shape, std::size_t batch, std::size_t available,
                          double flopsPerMicrosecond = 50e3);

/// The kernels of one of the processor's rungs. If some of `threads` threads run on slow cores, `best` takes
/// kernels whose work can be cut anywhere: shares that follow the speed of a core (work_shares.h) gain more
/// than a library's products.
const CpuKernels& trainingKernels(const RungRow& row, std::size_t threads, const CoreCount& cores);

/// A trainer on `device`, which must outlive it; several trainers may share one device.
/// rung       one of the GPU's; wholeStep for networks that fit into a workgroup's shared memory
///            (whole_step.h); `best` takes what is fastest for this network, measured on this device and
///            checked against the processor's results
/// replaced   shaders to use instead of built-in ones; they do not change which kernels are chosen, and their
///            results are not checked
/// cancelled  once it is set, throws gpu::Cancelled within about a tenth of a second; null: never. Not read
///            after the return
/// tuning     of the rung `best`: says how far the comparison of kernels is, and skips the rest of it, from
///            other threads (tune/tuning.h); null: nobody looks. Not used after the return
/// workgroups of a training step at once, at most (MachineShare). Kernels are chosen without that limit, and
///            evaluation, which is not timed, has none
/// Throws std::invalid_argument for an unknown shader or a job that does not fit together, std::runtime_error
/// for a rung that this device cannot run (`subgroup` needs gpu::Limits::broadcastInvocations) and, naming
/// the kernel, for a replaced shader that takes other parameters or buffers, gpu::OutOfMemoryError when the
/// device's memory is too small, gpu::GpuError for what else fails on it.
std::unique_ptr<Trainer> makeGpuTrainer(const TrainJob& job, Rung rung, gpu::Device& device,
                                        const ReplacedShaders& replaced = {},
                                        const std::atomic<bool>* cancelled = nullptr,
                                        std::size_t workgroups = 0, Tuning* tuning = nullptr);

/// Creates a trainer for `spec` by makeCpuTrainer or makeGpuTrainer.
///   share     its threads are for cpu:threads, cpu:best and cpu:bf16, its workgroups for a GPU lane
///   device    for a GPU lane; must outlive the trainer. May be null for a CPU lane
///   cancelled, tuning   of a GPU lane, as above
/// Throws std::invalid_argument for an inconsistent job, gpu::GpuError for device errors.
inline std::unique_ptr<Trainer> makeTrainer(const TrainJob& job, const LaneSpec& spec,
                                            const MachineShare& share, gpu::Device* device,
                                            const std::atomic<bool>* cancelled = nullptr,
                                            Tuning* tuning = nullptr) {
    if (!spec.gpu) return makeCpuTrainer(job, spec.rung, share.threads);
    if (device == nullptr) throw std::invalid_argument("lane " + spec.text() + " needs a Vulkan device");
    return makeGpuTrainer(job, spec.rung, *device, {}, cancelled, share.workgroups, tuning);
}

} // namespace lockstep
