// How much of a population is trained at a time: enough to hide what a submission or a look at the clock
// costs, few enough to stay responsive (SubmissionSize does this for a single network).
#pragma once

#include <algorithm>
#include <cstdint>

namespace lockstep {

struct PopulationSlice {
    std::uint32_t steps = 0;
    std::uint32_t networks = 0;
};

/// Starts with one step of a few networks, grows at most twofold per submission, and aims at 4 ms on a GPU,
/// at 8 ms on a software device. All networks go together, but where a step of all takes too long.
class PopulationPace {
  public:
    /// `first`: networks of the first submission. `mostNetworkSteps`: that any may do, whatever its time.
    PopulationPace(bool software, std::uint32_t networks, std::uint32_t first, double mostNetworkSteps)
        : target_(software ? 8.0 : 4.0), all_(networks), mostNetworkSteps_(mostNetworkSteps),
          networks_(std::min(networks, first)) {}

    PopulationSlice next() const { return {steps_, networks_}; }
    double target() const { return target_; } ///< milliseconds

    /// A submission of that slice took this long on the device.
    void add(const PopulationSlice& done, double milliseconds) {
        const double work = static_cast<double>(done.steps) * static_cast<double>(done.networks);
        const double millisecondsPerStep = std::max(milliseconds, 1e-4) / work; // of one network
        const double fitting = std::min(target_ / millisecondsPerStep, mostNetworkSteps_);
        const double ofAll = fitting / static_cast<double>(all_);
        const bool together = networks_ == all_;
        networks_ =
            std::min(grown(networks_, ofAll >= enoughOfAll() ? static_cast<double>(all_) : fitting), all_);
        if (networks_ < all_)
            steps_ = 1;
        else if (together)
            steps_ = grown(steps_, std::min(ofAll, mostSteps));
    }

  private:
    static constexpr double mostSteps = 1024;

    // A step of all may take twice the aim; what is not allowed stays so.
    double enoughOfAll() const { return static_cast<double>(all_) > mostNetworkSteps_ ? 1.0 : 0.5; }
    static std::uint32_t grown(std::uint32_t from, double wanted) {
        return static_cast<std::uint32_t>(std::clamp(std::min(wanted, 2.0 * from), 1.0, 65536.0));
    }

    double target_;
    std::uint32_t all_;
    double mostNetworkSteps_;
    std::uint32_t networks_;
    std::uint32_t steps_ = 1;
};

/// How many steps a thread of a processor makes with its block of networks between two looks at the clock:
/// about as many as a millisecond takes.
class BlockPace {
  public:
    std::uint64_t steps() const { return steps_; }
    /// A block that ended early says little about how long steps take, and many do.
    void took(double milliseconds) {
        if (milliseconds < 0.5) steps_ = std::min(2 * steps_, most);
        if (milliseconds > 2) steps_ = std::max<std::uint64_t>(steps_ / 2, 1);
    }

  private:
    static constexpr std::uint64_t most = 1 << 20;
    std::uint64_t steps_ = 1;
};

} // namespace lockstep
