// How much of a grid of networks a GPU trains at a time. Two questions that a WorkSizer alone doesn't answer:
// a step takes about as long for few networks as for many, as long as the GPU isn't full; and networks that
// diverged cost nothing, so that a measured time says little about the next networks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "engine/step/work_sizer.h"

namespace lockstep {

struct PopulationSlice {
    std::uint32_t steps = 0;
    std::uint32_t networks = 0;

    double networkSteps() const { return static_cast<double>(steps) * static_cast<double>(networks); }
};

/// Starts with one step of a few networks; a WorkSizer finds the number of steps once all networks go
/// together. All do, unless a step of all takes too long. Then a software device trains as many as fit into
/// the target. A GPU that isn't full takes as long for a step of few networks as for one of many: it trains
/// as many as don't slow a step down, and no fewer than the first ones unless they take far too long.
class PopulationPace {
  public:
    /// `first`: networks of the first submission. `mostNetworkSteps`: limit of any, however quick.
    PopulationPace(bool software, std::uint32_t networks, std::uint32_t first, double mostNetworkSteps)
        : software_(software), all_(networks), first_(std::min(networks, first)),
          mostNetworkSteps_(mostNetworkSteps),
          networks_(first_), rule_{submissionMilliseconds(software),
                                   std::min(mostNetworkSteps / static_cast<double>(networks), 1024.0)},
          steps_(rule_) {}

    PopulationSlice next() const { return {static_cast<std::uint32_t>(steps_.units()), networks_}; }
    double target() const { return rule_.target; } ///< milliseconds

    /// A submission of that slice took this long on the device.
    void add(const PopulationSlice& done, double milliseconds) {
        const double taken = std::max(milliseconds, 1e-4);
        const double rate = done.networkSteps() / taken;
        quickest_ = std::min(quickest_, taken / static_cast<double>(done.steps));
        const bool together = networks_ == all_;
        const double wanted =
            std::min({networksOfStep(rate), mostNetworkSteps_, 2.0 * networks_, static_cast<double>(all_)});
        networks_ = static_cast<std::uint32_t>(std::max(wanted, 1.0));
        if (networks_ < all_)
            steps_ = WorkSizer(rule_);
        else if (together)
            steps_.add(static_cast<double>(done.steps), taken);
    }

  private:
    static constexpr double slowStep = 25; // milliseconds of a step: still no reason to divide networks
    static constexpr double longest = 50;  // milliseconds of any submission

    /// Networks that may make their step together; `rate`: network-steps per millisecond.
    double networksOfStep(double rate) const {
        const auto all = static_cast<double>(all_);
        if (2 * target() * rate >= all) return all; // a step of all may take twice the target
        if (software_) return target() * rate;
        const double unslowed = std::clamp(1.5 * quickest_, 2 * target(), slowStep) * rate;
        return std::max(unslowed, std::min(longest * rate, static_cast<double>(first_)));
    }

    bool software_;
    std::uint32_t all_;
    std::uint32_t first_;
    double mostNetworkSteps_;
    double quickest_ = std::numeric_limits<double>::infinity(); // milliseconds of a step, of however many
    std::uint32_t networks_;
    WorkRule rule_;
    WorkSizer steps_;
};

/// Upper bound on the time of a step of a map's networks while none of them has diverged.
class MapCost {
  public:
    /// `networks` together made `trained` steps, counting each network's, in that time. Had all trained on,
    /// each step would have taken at most the time divided by the share that did, whether the device was full
    /// or waiting.
    void add(std::size_t networks, double trained, double milliseconds) {
        if (networks == 0 || trained < 1 || milliseconds <= 0) return;
        const double perNetworkStep = milliseconds / trained;
        if (perNetworkStep >= perNetworkStep_) return; // no closer bound
        perNetworkStep_ = perNetworkStep;
        step_ = perNetworkStep * static_cast<double>(networks);
    }

    /// Steps that certainly finish within `milliseconds`: more networks than were measured take longer in
    /// proportion, fewer may take as long. Infinite before the first measurement.
    double steps(std::size_t networks, double milliseconds) const {
        const double step = std::max(step_, perNetworkStep_ * static_cast<double>(networks));
        return known() ? milliseconds / step : std::numeric_limits<double>::infinity();
    }

    /// Networks whose next `steps` steps certainly finish within `milliseconds` on a full device.
    double networks(double steps, double milliseconds) const {
        return known() ? milliseconds / (steps * perNetworkStep_) : std::numeric_limits<double>::infinity();
    }

  private:
    bool known() const { return step_ > 0; }

    double perNetworkStep_ = std::numeric_limits<double>::infinity();
    double step_ = 0;
};

} // namespace lockstep
