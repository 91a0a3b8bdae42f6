// How candidates are timed against each other on a machine whose speed changes meanwhile. A GPU that idled
// runs at a fraction of its clock and takes up to a second of work to reach all of it, not always without a
// stop on the way; other programs come and go. Whatever a machine does, candidates that were timed in turn
// can be compared.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "engine/platform/clock.h"

namespace lockstep {

/// The time of a candidate that has failed.
inline constexpr double neverDone = std::numeric_limits<double>::infinity();

/// Whether two looks at the same work say that a machine's speed has settled: they differ by 3 % at most.
inline bool agree(double one, double other) { return std::abs(one - other) <= 0.03 * one; }

/// Keeps a machine at work until its speed has settled: until two looks of 100 ms agree, for a second at
/// most.
///   measure()   milliseconds of the same work, now; the least of a look counts
///   goesOn()    asked before every measurement
template <class Measure, class GoesOn, class Now = double (*)()>
void settle(Measure measure, GoesOn goesOn, Now now = platform::secondsNow) {
    constexpr double look = 0.1;
    constexpr double longest = 1;
    const double begin = now();
    double before = 0;
    while (goesOn() && now() - begin < longest) {
        const double lookBegin = now();
        double least = neverDone;
        do least = std::min(least, measure());
        while (goesOn() && now() - lookBegin < look);
        if (least == neverDone || agree(before, least)) return;
        before = least;
    }
}

/// Times candidates in turn, so that what slows the machine for a while slows each of them. Returns the least
/// of each, because other programs only ever add time; infinity for a candidate that has failed.
///   measure(i)   milliseconds of candidate i, now; infinity when it fails, and then it is out
///   goesOn()     asked before every round
template <class Measure, class GoesOn>
std::vector<double> leastInTurn(std::size_t candidates, int rounds, Measure measure, GoesOn goesOn) {
    std::vector<double> least(candidates, std::numeric_limits<double>::max());
    for (int round = 0; round < rounds && goesOn(); ++round)
        for (std::size_t at = 0; at < candidates; ++at) {
            if (least[at] == neverDone) continue;
            const double now = measure(at);
            least[at] = now == neverDone ? neverDone : std::min(least[at], now);
        }
    return least;
}

/// What fastestOf() has found.
struct Fastest {
    std::size_t at = 0;              ///< the candidate
    double milliseconds = neverDone; ///< infinity: none can be used
    bool decided = true;             ///< those that came close were timed again
};

/// The fastest of some candidates. Each is timed once. A machine may have been slower then than it is now,
/// and a kernel that was timed a moment later may have won by that: those that came close are timed again, in
/// turn.
///   drifts         how close counts follows from the first candidate, timed once more after the last: a GPU
///                  that has become twice as fast may have doubled the time of any of them
///   first(i, best) milliseconds of candidate i; infinity when it fails or is left out. `best`: the least
///   time
///                  before, infinity where there is none
///   again(i)       the same, for one that did not fail
///   goesOn()       asked before candidates are timed again; false: the first times decide
template <class First, class Again, class GoesOn>
Fastest fastestOf(std::size_t candidates, bool drifts, First first, Again again, GoesOn goesOn) {
    Fastest best;
    std::vector<double> times(candidates);
    for (std::size_t at = 0; at < candidates; ++at) {
        times[at] = first(at, best.milliseconds);
        if (times[at] < best.milliseconds) best = {at, times[at]};
    }
    std::vector<std::size_t> close(candidates);
    std::iota(close.begin(), close.end(), std::size_t{0});
    std::erase_if(close, [&](std::size_t at) { return times[at] == neverDone; });
    if (close.size() < 2) return best;
    best.decided = goesOn();
    if (!best.decided) return best;
    double within = 1.5; // times the best
    if (drifts) {
        const double before = times[close.front()];
        const double now = again(close.front());
        if (now != neverDone) within *= std::max(before / now, now / before);
    }
    std::erase_if(close, [&](std::size_t at) { return times[at] > within * best.milliseconds; });
    if (close.size() < 2) return best;
    const std::vector<double> least = leastInTurn(
        close.size(), 3, [&](std::size_t at) { return again(close[at]); }, goesOn);
    const auto winner = std::ranges::min_element(least);
    best.decided = *winner < std::numeric_limits<double>::max();
    if (best.decided) best = {close[static_cast<std::size_t>(winner - least.begin())], *winner};
    return best;
}

} // namespace lockstep
