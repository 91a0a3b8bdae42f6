// How long work still takes, for people to read.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace lockstep::demos {

/// An estimate from how much is done after how long. It is smoothed, so that pieces of unequal size do not
/// make it jump; it is not given before it is worth anything, and from then on until the work is done.
class TimeLeft {
  public:
    /// Call often while the work goes on.
    ///   elapsed   seconds of work so far. Less than before: another piece of work has begun
    ///   share     of it that is done, 0 to 1
    void add(double elapsed, double share) {
        if (elapsed < elapsed_ || share < share_ - mostGrowth) *this = {};
        const double passed = elapsed - elapsed_;
        elapsed_ = elapsed;
        share_ = share;
        if (share >= 1) return left_.reset();
        if (!left_) {
            if (share >= leastShare && elapsed >= leastSeconds) left_ = projected();
            return;
        }
        if (share <= 0) return;
        const double weight = 1 - std::exp(-passed / memory);
        const double expected = *left_ - passed;
        left_ = std::max(expected + (projected() - expected) * weight, leastLeft);
    }

    /// Seconds; empty before they are worth anything, and once the work is done.
    std::optional<double> seconds() const { return left_; }
    /// "0:12 left"; empty where there are no seconds().
    std::string text() const;

  private:
    static constexpr double leastShare = 0.1;
    static constexpr double leastSeconds = 1;
    static constexpr double memory = 4;       // seconds over which a surprise is spread
    static constexpr double leastLeft = 0.5;  // seconds: work that is not done takes some more
    static constexpr double mostGrowth = 0.5; // of the whole: what is larger is other work

    double projected() const { return elapsed_ / share_ - elapsed_; }

    double elapsed_ = 0;
    double share_ = 0;
    std::optional<double> left_;
};

} // namespace lockstep::demos
