// One machine of the mosaic and its networks: what is known of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "demos/exhibits/mosaic/mosaic_lane.h"

namespace lockstep::demos {

/// How the losses of all networks were spread, over the steps that a network had made on the average.
struct LossSpread {
    std::vector<double> steps;
    /// By PopulationSummary::shares; infinite where so many had diverged.
    std::array<std::vector<double>, PopulationSummary::shares.size()> losses;

    /// Nothing happens without a loss, or when no network has made a step since.
    void add(double meanSteps, const PopulationSummary& summary);
};

struct MosaicSide {
    LaneSpec spec;
    MachineInfo machine;            ///< empty until it is ready
    std::optional<MosaicShot> shot; ///< empty until then, too
    std::optional<MosaicMaps> maps; ///< new since the last update
    LossSpread spread;
    std::string failure; ///< why it trains no more; empty: it does
    bool failureTaken = false;
    bool onDevice = false; ///< the window draws with its device
    std::unique_ptr<MosaicLane> lane;

    /// Takes what the lane has to tell. Returns weights that were asked for, if they have come.
    std::optional<MemberWeights> takeNews();

    /// Back to the first weights; until they have been seen, nothing is known.
    void reset();

    /// Every network is at its end, or the machine has failed.
    bool over() const;
    double networkStepsPerSecond() const;
    /// Of `steps` steps each: one that diverges counts by the steps that it made.
    double networksPerSecond(std::uint64_t steps) const;
    /// Of all networks: what has been done of their steps, 0 to 1. One that diverged has none left.
    double shareDone(std::uint64_t steps) const;
    /// Of the network that is farthest behind, and has not diverged.
    std::uint64_t leastSteps() const;
};

} // namespace lockstep::demos
