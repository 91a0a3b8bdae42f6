// How much work to ask for next so that it takes about a given time: steps of a submission, networks of a
// slice, cells of a picture. Large enough to hide the cost of asking; small enough to stay responsive, and
// far from the two seconds after which some systems reset a GPU.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace lockstep {

/// Times are milliseconds. Work is counted in units of the caller's choice.
struct WorkRule {
    double target = 4;   ///< time that a piece of work should take
    double most = 1024;  ///< units of a piece, however fast the machine is
    double first = 1;    ///< units of the first piece, while no speed is known
    bool steady = false; ///< change only if off by more than a factor of two, then double or halve: for sizes
                         ///< that people see and that should not flicker
};

/// The time that a submission should take: 4 ms on a GPU, 8 ms on a software device, which shares its
/// processor with everything else.
inline double submissionMilliseconds(bool software) { return software ? 8 : 4; }

/// Starts at `first` units. Each measurement moves the size to what fits into the target, but to no more than
/// twice the last size, so that a slow machine is never given seconds of work by surprise. The cost of a unit
/// is the mean of the latest measurement and of what was known before.
class WorkSizer {
  public:
    explicit WorkSizer(const WorkRule& rule) : rule_(rule), size_(rule.first) {
        rule_.most = std::max(rule.most, 1.0);
    }

    /// Units to ask for next: a whole number, at least 1.
    double size() const { return size_; }
    std::uint64_t units() const { return static_cast<std::uint64_t>(size_); }
    double target() const { return rule_.target; }

    /// Cost of a unit; 0 before the first measurement.
    double millisecondsPerUnit() const { return cost_; }
    /// Units that take so long at the measured speed, without a limit on growth; 0 before the first
    /// measurement.
    double fitting(double milliseconds) const { return cost_ > 0 ? milliseconds / cost_ : 0; }
    /// Whether a single unit takes more than twice the target, or is not known not to: then submit its parts
    /// one by one.
    bool splitsUnits() const { return cost_ == 0 || cost_ > 2 * rule_.target; }

    /// So many units took so long.
    void add(double units, double milliseconds) {
        if (units <= 0) return;
        const double measured = milliseconds / units;
        cost_ = cost_ == 0 ? measured : 0.5 * (cost_ + measured);
        const double fits = cost_ > 0 ? std::min(rule_.target / cost_, rule_.most) : rule_.most;
        if (!rule_.steady)
            size_ = std::max(std::floor(std::min(fits, 2 * size_)), 1.0);
        else if (fits > 2 * size_)
            size_ *= 2;
        else if (fits < size_ / 2)
            size_ = std::max(std::floor(size_ / 2), 1.0);
    }
    /// Like add(), for work that was slowed down by measuring it closely: counts only while nothing better is
    /// known.
    void addProfiled(double units, double milliseconds) {
        if (cost_ == 0) add(units, milliseconds);
    }

    /// Like add(), for work that is reported as running totals: what was done and the time it took since the
    /// last call. Nothing changes while no more is done: a device may be at work without having finished.
    void addTotals(double units, double milliseconds) {
        if (units <= totalUnits_ || milliseconds <= totalMilliseconds_) return;
        add(units - totalUnits_, milliseconds - totalMilliseconds_);
        skipTo(units, milliseconds);
    }
    /// Leaves out what happened between the last totals and these, such as an evaluation.
    void skipTo(double units, double milliseconds) {
        totalUnits_ = units;
        totalMilliseconds_ = milliseconds;
    }

  private:
    WorkRule rule_;
    double size_;
    double cost_ = 0;
    double totalUnits_ = 0;
    double totalMilliseconds_ = 0;
};

} // namespace lockstep
