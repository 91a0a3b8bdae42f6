// Training on the processor.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "engine/run/trainer.h"

namespace lockstep {

/// A trainer that computes at once: run() returns when its steps are done.
/// rung      "scalar" (the plain loops, one thread, no vectors), "simd" (own vector kernels, one thread),
///           "threads" (the plain loops, all cores) or "best" (oneDNN and the vector kernels, all cores; for
///           networks that fit SmallOps, its kernels on one thread)
/// threads   of `threads` and `best`: how many at most; 0 for one per core that this process may use. A step
///           too small to be worth splitting is done by fewer; MachineInfo says how many. Some of them sit
///           out where other programs want their cores (team_sizing.h). The other rungs always use one.
/// A run is bit-identical to any other with the same job, rung and number of threads.
/// Throws std::invalid_argument for a job that does not fit together or an unknown rung.
std::unique_ptr<Trainer> makeCpuTrainer(const TrainJob& job, std::string_view rung, std::size_t threads);

/// Threads that are worth using: each has to have some twenty microseconds of work per step, or waiting at
/// barriers costs more than the help brings. A pure function of the work, so that a repeated run is split
/// alike.
/// flopsPerMicrosecond   of one thread; vector kernels do at least 50,000, plain loops 2,000
std::size_t usefulThreads(const NetShape& shape, std::size_t batch, std::size_t available,
                          double flopsPerMicrosecond = 50e3);

} // namespace lockstep
