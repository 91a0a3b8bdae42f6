// One sentence about which lane was faster, and the two lanes that it compares.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "engine/run/finish_line.h"
#include "engine/run/race.h"

namespace lockstep::demos {

struct Contender {
    bool gpu = false;
    double speed = 0; ///< 0: the lane does not count
};

struct Pairing {
    std::size_t faster = 0; ///< indices of the compared lanes
    std::size_t slower = 0;
    double ratio = 1; ///< of speeds, at least 1
};

/// The fastest GPU lane and the fastest CPU lane or, if there is only one kind, the fastest lane and the
/// slowest. Empty if fewer than two lanes count.
std::optional<Pairing> pairUp(const std::vector<Contender>& lanes);

/// Why no lanes were paired; `end` says what those that count have done: "came to the end".
template <class Lane> std::string whyNone(const std::vector<Lane>& lanes, const std::string& end) {
    if (lanes.size() < 2) return "no comparison: only one lane";
    const auto differs = [](const Lane& lane) { return !lane.agreement.same(); };
    return std::ranges::any_of(lanes, differs) ? "no comparison: the lanes computed different results"
                                               : "no comparison: fewer than two lanes " + end;
}

struct Headline : Pairing {
    std::string text; ///< the sentence, or why there is none
    bool valid = false;
    bool bySeconds = false; ///< compared by training time to a target; otherwise by samples per second
};

/// "A trained 3.1 times as fast as B: `evidence`.", or that they did so equally fast. `task`: "trained".
std::string comparison(const std::string& faster, const std::string& slower, double ratio,
                       const std::string& task, const std::string& evidence);

/// Compares the lanes that pairUp() chooses among those that reached the finish line and agree in their
/// losses. The sentence names device, threads and handicaps (no SIMD, no GPU) of both, and says if they ran
/// at the same time.
Headline headlineFor(const std::vector<LaneResult>& results, const FinishLine& finish, bool together);

/// "same mathematics: largest difference 2e-06 over the first 100 steps", or the lane that differs.
std::string agreementText(const std::vector<LaneResult>& results);

} // namespace lockstep::demos
