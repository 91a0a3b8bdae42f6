// Training on the processor.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "engine/run/trainer.h"
#include "engine/step/rungs.h"

namespace lockstep {

/// A trainer that computes immediately: run() returns when its steps are done.
/// rung      one of the processor's; `best` takes SmallOps on one thread where the network fits
/// threads   of rungs that use all cores: how many at most; 0 for one per core that this process may use. A
/// step
///           too small to be worth splitting uses fewer; MachineInfo says how many. Some of them pause while
///           other programs need their cores (team_sizing.h). The other rungs always use one.
/// A run is bit-identical to any other with the same job, rung and number of threads.
/// Throws std::invalid_argument for a job that does not fit together.
std::unique_ptr<Trainer> makeCpuTrainer(const TrainJob& job, Rung rung, std::size_t threads);
/// The same by the rung's name; std::invalid_argument for an unknown one, too.
inline std::unique_ptr<Trainer> makeCpuTrainer(const TrainJob& job, std::string_view rung,
                                               std::size_t threads) {
    return makeCpuTrainer(job, rungFromName(rung, false), threads);
}

/// Threads that are worth using: each has to have some twenty microseconds of work per step, or waiting at
/// barriers costs more than the help brings. A pure function of the work, so that a repeated run is split
/// alike.
/// flopsPerMicrosecond   of one thread; vector kernels do at least 50,000, plain loops 2,000
std::size_t usefulThreads(const NetShape& shape, std::size_t batch, std::size_t available,
                          double flopsPerMicrosecond = 50e3);

} // namespace lockstep
