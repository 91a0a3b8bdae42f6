// What the ranks of a training did in some steps, as a file: JSON with the times of all ranks on one clock,
// written by `lockstep train --parallel ... --trace FILE` and opened by the exhibit "Devices".
//
// What is of no layer, a step's batch and loss, has the number of layers as its layer.
//
//   {"lockstep_trace": 1, "about": "...", "ranks": 2, "layers": 3, "unit": "seconds",
//    "spans": [{"rank": 0, "step": 7, "what": "forward", "layer": 0, "begin": 0, "end": 0.00012},
//              {"rank": 0, "step": 7, "what": "exchange", "layer": 2, ..., "bytes": 4096, "messages": 2},
//              ...]}
//
// A process that trains as one rank keeps spans and writes them so:
//
//   RankWatch watch;
//   watch.keep(true), exchange.keepRecords(true), exchange.setWatch(&watch);
//   ... make the trainer, trainer->run(steps), trainer->finish(); watch.collect(exchange);
//   const RankTrace all = gatherTrace(exchange, {"...", ranks, layers, watch.takeSpans()});  // on every rank
//   if (exchange.rank() == 0) writeRankTrace(file, all);
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/many/rank_watch.h"

namespace lockstep {

struct RankTrace {
    std::string about; ///< which training, for a human
    std::size_t ranks = 0;
    std::size_t layers = 0;
    std::vector<RankSpan> spans; ///< by begin; the first one begins at 0 in a file

    bool operator==(const RankTrace&) const = default;
};

/// The traces of all ranks as one, on every rank. All have to call it. Throws RankError.
RankTrace gatherTrace(Exchange& exchange, const RankTrace& own);

/// Throws as writeFileAtomically().
void writeRankTrace(const std::filesystem::path& file, const RankTrace& trace);
/// Throws std::runtime_error with the file's name and what is wrong with it.
RankTrace readRankTrace(const std::filesystem::path& file);

} // namespace lockstep
