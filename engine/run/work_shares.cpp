#include "engine/run/work_shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lockstep {

namespace {

// How much longer the slowest thread works with equal shares. Less is not worth moving cuts; between these
// two, shares stay as they are: equal, or by speed.
constexpr double uneven = 1.1;
constexpr double evenAgain = 1.05;
constexpr double enoughToTell = 0.005; // seconds of work: a shorter measurement says little about a core
// Seconds of work. A core that another program takes for some milliseconds is not a slow one; but a thread
// may be moved to a slower core.
constexpr double memory = 0.25;

} // namespace

WorkShares::WorkShares(std::size_t threads, std::size_t parts, std::size_t grain)
    : parts_(parts), grain_(grain), recent_(threads) {}

std::vector<Share> WorkShares::equal(std::size_t threads) const {
    std::vector<Share> shares(threads);
    for (std::size_t thread = 0; thread < threads; ++thread)
        shares[thread] = shareOf(parts_, thread, threads, grain_);
    return shares;
}

const std::vector<Share>& WorkShares::next(std::size_t threads) {
    shares_ = equal(threads); // first choice: they divide a batch into whole tiles
    const std::vector<Share> moved = bySpeed(threads);
    moved_ = longest(shares_) > (moved_ ? evenAgain : uneven) * longest(moved);
    if (moved_) shares_ = moved;
    return shares_;
}

/// Parts per second. A thread that has hardly run counts as fast as the others are on average.
std::vector<double> WorkShares::speeds(std::size_t threads) const {
    std::vector<double> result(threads);
    double sum = 0;
    double known = 0;
    for (std::size_t thread = 0; thread < threads; ++thread) {
        const Work& work = recent_[thread];
        if (work.seconds < enoughToTell) continue;
        result[thread] = work.parts / work.seconds;
        sum += result[thread];
        known += 1;
    }
    std::ranges::replace(result, 0.0, known > 0 ? sum / known : 1.0);
    return result;
}

/// How long the slowest thread would work.
double WorkShares::longest(const std::vector<Share>& shares) const {
    const std::vector<double> speed = speeds(shares.size());
    double seconds = 0;
    for (std::size_t thread = 0; thread < shares.size(); ++thread)
        seconds =
            std::max(seconds, static_cast<double>(shares[thread].end - shares[thread].begin) / speed[thread]);
    return seconds;
}

/// In proportion to the speeds, one grain at least.
std::vector<Share> WorkShares::bySpeed(std::size_t threads) const {
    const std::vector<double> speed = speeds(threads);
    const double all = std::accumulate(speed.begin(), speed.end(), 0.0);
    const std::size_t grains = parts_ / grain_;
    std::vector<Share> shares(threads);
    std::size_t cut = 0;
    double passed = 0;
    for (std::size_t thread = 0; thread < threads; ++thread) {
        passed += speed[thread] / all;
        const auto end = static_cast<std::size_t>(std::lround(passed * static_cast<double>(grains)));
        const std::size_t begin = cut;
        cut = std::clamp(end, begin + 1, grains - (threads - 1 - thread));
        shares[thread] = {begin * grain_, cut * grain_};
    }
    return shares;
}

void WorkShares::took(std::uint64_t steps, std::span<const double> seconds) {
    for (std::size_t thread = 0; thread < shares_.size(); ++thread) {
        Work& work = recent_[thread];
        work.parts += static_cast<double>(steps * (shares_[thread].end - shares_[thread].begin));
        work.seconds += seconds[thread];
        if (work.seconds < memory) continue;
        work.parts /= 2;
        work.seconds /= 2;
    }
}

} // namespace lockstep
