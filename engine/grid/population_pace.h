// How much of a population is trained at a time: enough to hide what a submission or a look at the clock
// costs, few enough to stay responsive (SubmissionSize does this for a single network).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace lockstep {

struct PopulationSlice {
    std::uint32_t steps = 0;
    std::uint32_t networks = 0;
};

/// Starts with one step of a few networks, grows at most twofold per submission, and aims at 4 ms on a GPU,
/// at 8 ms on a software device. All networks go together, but where a step of all takes too long. A GPU that
/// is not full takes as long for a step of few networks as for one of many: there, as many go together as do
/// not slow a step down, and no fewer than the first ones unless a submission of them takes far too long.
class PopulationPace {
  public:
    /// `first`: networks of the first submission. `mostNetworkSteps`: that any may do, whatever its time.
    PopulationPace(bool software, std::uint32_t networks, std::uint32_t first, double mostNetworkSteps)
        : software_(software), target_(software ? 8.0 : 4.0), all_(networks),
          first_(std::min(networks, first)), mostNetworkSteps_(mostNetworkSteps), networks_(first_) {}

    PopulationSlice next() const { return {steps_, networks_}; }
    double target() const { return target_; } ///< milliseconds

    /// A submission of that slice took this long on the device.
    void add(const PopulationSlice& done, double milliseconds) {
        const double taken = std::max(milliseconds, 1e-4);
        const double rate = static_cast<double>(done.steps) * static_cast<double>(done.networks) / taken;
        quickest_ = std::min(quickest_, taken / static_cast<double>(done.steps));
        const bool together = networks_ == all_;
        networks_ = std::min(grown(networks_, std::min(networksOfStep(rate), mostNetworkSteps_)), all_);
        const double fitting = std::min(target_ * rate, mostNetworkSteps_) / static_cast<double>(all_);
        if (networks_ < all_)
            steps_ = 1;
        else if (together)
            steps_ = grown(steps_, std::min(fitting, mostSteps));
    }

  private:
    static constexpr double mostSteps = 1024;
    static constexpr double slowStep =
        25;                               // milliseconds of a step that is still no reason to divide networks
    static constexpr double longest = 50; // milliseconds of any submission

    /// Networks that may make their step together; `rate`: network-steps per millisecond.
    double networksOfStep(double rate) const {
        const auto all = static_cast<double>(all_);
        if (2 * target_ * rate >= all) return all; // a step of all may take twice the aim
        if (software_) return target_ * rate;
        const double unslowed = std::clamp(1.5 * quickest_, 2 * target_, slowStep) * rate;
        return std::max(unslowed, std::min(longest * rate, static_cast<double>(first_)));
    }

    static std::uint32_t grown(std::uint32_t from, double wanted) {
        return static_cast<std::uint32_t>(std::clamp(std::min(wanted, 2.0 * from), 1.0, 65536.0));
    }

    bool software_;
    double target_;
    std::uint32_t all_;
    std::uint32_t first_;
    double mostNetworkSteps_;
    double quickest_ = std::numeric_limits<double>::infinity(); // milliseconds of a step, of however many
    std::uint32_t networks_;
    std::uint32_t steps_ = 1;
};

/// How many steps a thread of a processor makes with its block of networks between two looks at the clock:
/// about as many as a millisecond takes.
class BlockPace {
  public:
    std::uint64_t steps() const { return steps_; }
    /// `whole`: steps() of them were made. What ended before, at the job's end or because all networks
    /// diverged, tells nothing about how quick they are, but that they are slow it may tell.
    void took(double milliseconds, bool whole) {
        if (whole && milliseconds < 0.5) steps_ = std::min(2 * steps_, most);
        if (milliseconds > 2) steps_ = std::max<std::uint64_t>(steps_ / 2, 1);
    }

  private:
    static constexpr std::uint64_t most = 1 << 20;
    std::uint64_t steps_ = 1;
};

} // namespace lockstep
