// One sentence about which lane was faster, and the two lanes that it compares.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/run/finish_line.h"
#include "engine/run/race.h"

namespace lockstep::demos {

/// Speeds are called equal if their ratio is below this.
inline constexpr double equalBelow = 1.05;
/// Seconds that a lane of a race must have been timed for: below, other programs decide. A little less than
/// the second that LaneOptions::compareTimes() times.
inline constexpr double shortestRace = 0.95;

/// The numbers of a lane that differ from run to run: those of one run, or medians over several.
struct LaneFigures {
    double steps = 0;         ///< of the run
    double seconds = 0;       ///< of training, to the finish line
    double timedSeconds = 0;  ///< that `rate` is of, steps beyond the finish line included
    double deviceSeconds = 0; ///< of `seconds`
    double warmUpSeconds = 0;
    double evaluationSeconds = 0;
    double rate = 0;                 ///< samples per second
    double secondsPerStep = 0;       ///< on the basis of `rate`
    double deviceSecondsPerStep = 0; ///< likewise: the same share of it as of `seconds`
    double gflops = 0;
    double watts = LaneSnapshot::unknown;
    double testLoss = LaneSnapshot::unknown;
    double testAccuracy = LaneSnapshot::unknown;

    /// Whether it was timed beyond the finish line, so that `rate` is not that of `seconds`.
    bool timedBeyond() const { return timedSeconds > seconds; }
};
LaneFigures figuresOf(const LaneResult& result);
std::vector<LaneFigures> figuresOf(const std::vector<LaneResult>& results);

struct Pairing {
    std::size_t faster = 0; ///< indices of the compared lanes
    std::size_t slower = 0;
    double ratio = 1; ///< of speeds, at least 1
};

/// The fastest GPU lane and the fastest CPU lane or, if there is only one kind, the fastest lane and the
/// slowest. Empty if fewer than two lanes count.
///   speedOf   a lane's speed, by its index; 0 if it does not count
template <class Lane, class Speed>
std::optional<Pairing> pairUp(const std::vector<Lane>& lanes, const Speed& speedOf) {
    const auto gpu = [&](std::size_t lane) { return lanes[lane].spec.gpu; };
    std::vector<std::size_t> counting;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane)
        if (speedOf(lane) > 0) counting.push_back(lane);
    if (counting.size() < 2) return std::nullopt;
    std::ranges::stable_sort(counting, std::greater<>(), speedOf);
    const std::size_t best = counting.front();
    auto other = std::ranges::find(counting, !gpu(best), gpu);
    if (other == counting.end()) other = std::ranges::min_element(counting.begin() + 1, other, {}, speedOf);
    return Pairing{best, *other, speedOf(best) / speedOf(*other)};
}

/// Why no lanes were paired; `fewer` says so where too few count.
template <class Lane> std::string whyNone(const std::vector<Lane>& lanes, const std::string& fewer) {
    if (lanes.size() < 2) return "no comparison: only one lane";
    const auto differs = [](const Lane& lane) { return !lane.agreement.same(); };
    return std::ranges::any_of(lanes, differs) ? "no comparison: the lanes computed different results"
                                               : fewer;
}

struct Headline : Pairing {
    std::string text;       ///< the sentence, or why there is none; in English, as files have it
    std::string shown = {}; ///< the same in the language spoken when it was made; empty: as `text`
    bool valid = false;
    bool bySeconds = false; ///< compared by training time to a target; otherwise by samples per second
};

/// "A trained 3.1 times as fast as B: `evidence`.", or that they did so equally fast. `task`: "trained".
std::string comparison(const std::string& faster, const std::string& slower, double ratio,
                       const std::string& task, const std::string& evidence);

/// Compares the lanes that pairUp() chooses among those that reached the finish line and agree in their
/// losses: by the samples per second that all tables show, or by the seconds to a target where every lane
/// reached it and took long enough. The sentence has the two numbers whose quotient the ratio is. It names
/// device, threads and handicaps (no SIMD, no GPU, throttled) of both, and says if they ran at the same time.
///   figures   of every lane
///   shortest  seconds that both must have been timed for; else nothing is compared
Headline headlineFor(const std::vector<LaneResult>& results, const std::vector<LaneFigures>& figures,
                     const FinishLine& finish, bool together, double shortest = shortestRace);
/// The same for one run.
inline Headline headlineFor(const std::vector<LaneResult>& results, const FinishLine& finish, bool together) {
    return headlineFor(results, figuresOf(results), finish, together);
}

/// The result in a few words, for display type: "GPU 5.9× faster", by lane where both are of one kind
/// ("cpu:best 3.1× faster"), "CPU 5.9× faster than software Vulkan" where no GPU took part; "Equally fast",
/// "No comparison". A throttled machine is named: "GPU 5.9× faster, CPU throttled".
std::string verdict(const std::vector<LaneResult>& results, const Headline& headline);
/// What a headline says, without "no comparison: " where that is said already.
std::string reasonOf(const Headline& headline);
/// The same in the language spoken.
std::string shownReason(const Headline& headline);

/// "85 % test accuracy or 10 epochs": FinishLine::text() in the language spoken.
std::string finishText(const FinishLine& finish);

/// "same mathematics: largest difference 2e-06 over the first 100 steps", or the lane that differs.
std::string agreementText(const std::vector<LaneResult>& results);

} // namespace lockstep::demos
