// How many steps go into one submission: enough to hide its cost, few enough to stay responsive and far
// from the time after which some systems reset a GPU. (A single operation is never split: one that takes
// seconds by itself still comes near it.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace lockstep {

/// Starts with one step, grows at most twofold per submission, and aims at a measured time per submission: 4
/// ms on a GPU, 8 ms on a software device, which shares its processor with everything else.
class SubmissionSize {
  public:
    explicit SubmissionSize(bool software, std::uint64_t most = mostSteps)
        : target_(software ? 8.0 : 4.0), most_(most) {}

    std::uint64_t steps() const { return steps_; }
    /// A single step takes much longer than a submission is to, or nobody knows yet: its operations are to be
    /// submitted one by one.
    bool splitsSteps() const { return millisecondsPerStep_ == 0 || millisecondsPerStep_ > 2 * target_; }
    /// Of a step, as far as it is known; 0: not yet.
    double millisecondsPerStep() const { return millisecondsPerStep_; }
    /// Rows of a forward pass (a third of a step) that take as long as a submission is to, by the steps of
    /// `batch` rows that were measured; at most `most`. Several such submissions stand before a frame of the
    /// window, so the aim counts here, not the longest that is allowed.
    std::size_t forwardRows(std::size_t batch, std::size_t most) const {
        if (millisecondsPerStep_ == 0) return std::min(batch, most);
        const double rows = target_ / (millisecondsPerStep_ / 3) * static_cast<double>(batch);
        return rows < static_cast<double>(most) ? std::max<std::size_t>(static_cast<std::size_t>(rows), 1)
                                                : most;
    }

    /// A submission took this long on the device.
    void add(double milliseconds) { pending_ += milliseconds; }
    /// The submissions added since the last call were `count` steps. Profiled ones take longer than others;
    /// they count only while nothing else is known.
    void endOfSteps(std::uint64_t count, bool profiled) {
        if (profiled && millisecondsPerStep_ > 0) {
            pending_ = 0;
            return;
        }
        const double measured = pending_ / static_cast<double>(count);
        pending_ = 0;
        millisecondsPerStep_ = millisecondsPerStep_ == 0 ? measured : 0.5 * (millisecondsPerStep_ + measured);
        const auto most = static_cast<double>(most_);
        const double fitting = millisecondsPerStep_ > 0 ? target_ / millisecondsPerStep_ : most;
        steps_ =
            std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::min(fitting, most)), 1, 2 * steps_);
    }

  private:
    static constexpr std::uint64_t mostSteps =
        1024; // three submissions in flight fit into the ring of losses many times
    double target_;
    std::uint64_t most_;
    std::uint64_t steps_ = 1;
    double millisecondsPerStep_ = 0;
    double pending_ = 0;
};

} // namespace lockstep
