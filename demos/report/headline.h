// One honest sentence about who was faster.
#pragma once

#include <string>
#include <vector>

#include "engine/run/finish_line.h"
#include "engine/run/race.h"

namespace lockstep::demos {

struct Headline {
    std::string text; ///< the sentence, or why there is none
    bool valid = false;
    std::size_t faster = 0; ///< indices of the compared lanes
    std::size_t slower = 0;
    double ratio = 0; ///< of speeds, at least 1
    bool bySeconds =
        false; ///< compared by the training time to an accuracy or loss, else by examples per second
};

/// The comparison of the fastest GPU lane with the fastest CPU lane, or where there is only one kind, of the
/// fastest lane with the slowest. Only lanes that reached the finish line and computed the same are compared;
/// both are named with device, threads and what they lack (no SIMD, no GPU); a race run together is called
/// what it is.
Headline headlineFor(const std::vector<LaneResult>& results, const FinishLine& finish, bool together);

/// "same mathematics: largest difference 2e-06 over the first 100 steps", or which lane differs.
std::string agreementText(const std::vector<LaneResult>& results);

} // namespace lockstep::demos
