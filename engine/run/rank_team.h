// One training by several ranks of this process: devices, or groups of cores. Each has a trainer and a thread
// of its own; together they look like one trainer, to a lane, a race, a window. Ranks that are processes need
// nothing of this: there, each process has one trainer (TrainJob::exchange, engine/many/mpi.h).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/many/exchange.h"
#include "engine/many/rank_watch.h"
#include "engine/run/trainer.h"

namespace lockstep {

/// Makes the trainer of one rank. `job` has the rank's share and its exchange.
using MakeRank = std::function<std::unique_ptr<Trainer>(const TrainJob& job, std::size_t rank)>;

/// A trainer of job.settings.share.ranks ranks; `make` is called once for each of them, on its thread.
///
/// Results are those of the whole job: losses are of the whole batch, and evaluations are rank 0's, whose
/// weights are all ranks'. times are rank 0's, too; memory() is that of all ranks, memoryByRank() each one's.
/// traceStep() and runFor() throw std::invalid_argument, and rehearse() does nothing (TrainerBase).
///
///   watches   one for each rank, or none. They must outlive the trainer. After each run they have collected
///             what their rank did in it
/// Throws what `make` throws, and RankError as Exchange; std::invalid_argument for one rank.
std::unique_ptr<Trainer> makeRankTeam(const TrainJob& job, const MakeRank& make,
                                      const ExchangeSettings& settings, std::span<RankWatch> watches = {});

} // namespace lockstep
