// Which parts of a step each thread of a team computes. All threads wait at a barrier for the slowest, so on
// a processor with fast and efficient cores equal shares would let the fast ones idle. How long each thread
// works is measured while training; a thread that takes longer gets fewer parts of the next steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/cpu/thread_team.h"

namespace lockstep {

/// Its decisions change which threads compute, never the results. Used by one thread.
class WorkShares {
  public:
    /// parts   of a step, at least one grain for each of `threads` threads
    /// grain   shares are cut at multiples of it only
    WorkShares(std::size_t threads, std::size_t parts, std::size_t grain = 1);

    /// Equal shares for the first `threads` threads.
    std::vector<Share> equal(std::size_t threads) const;
    /// Shares for the next steps of the first `threads` threads: equal ones, unless the slowest thread would
    /// then work 10 % longer than with shares by speed.
    const std::vector<Share>& next(std::size_t threads);
    /// How many seconds each thread of the last next() has worked in `steps` steps, waiting not included.
    void took(std::uint64_t steps, std::span<const double> seconds);

  private:
    /// What one thread did recently.
    struct Work {
        double parts = 0;
        double seconds = 0;
    };
    std::vector<double> speeds(std::size_t threads) const;
    double longest(const std::vector<Share>& shares) const;
    std::vector<Share> bySpeed(std::size_t threads) const;

    std::size_t parts_;
    std::size_t grain_;
    std::vector<Work> recent_;  ///< by thread
    std::vector<Share> shares_; ///< of the last next()
    bool moved_ = false;        ///< they are not equal
};

} // namespace lockstep
