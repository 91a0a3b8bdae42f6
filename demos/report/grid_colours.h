// Losses as colours: a logarithmic scale between the best and the worst of a population.
#pragma once

#include <cstdint>
#include <span>

#include "demos/draw/theme.h"
#include "engine/grid/map.h"
#include "engine/grid/population.h"

namespace lockstep::demos {

/// One for all lanes, so that the same loss has the same colour.
struct LossScale {
    double best = 0; ///< losses, above 0; both 0: there is none yet
    double worst = 0;

    bool empty() const { return worst <= 0; }
    /// 0 for the worst, 1 for the best, clamped; 0 for what is not finite.
    float share(float loss) const;
    bool operator==(const LossScale&) const = default;
};

/// From the least loss to the one that 95 % of the networks are below, or where more have diverged, the
/// largest of the percentiles that is finite; of all summaries together. The worst end is at least 3 times
/// the best one, so that noise is not spread over all colours.
LossScale lossScaleOf(std::span<const PopulationSummary* const> summaries);

/// The ground of what has diverged, in either theme.
ImU32 divergedColour(const Theme& theme);
/// In the colour of its loss; what has diverged is black, what has no loss yet is grey.
ImU32 lossColour(const Theme& theme, const LossScale& scale, const MemberResult& result);

/// A word 0xAABBGGRR. An outcome that is NaN is a network that has not been trained: grey.
std::uint32_t mapColour(const MapJob& job, MapOutcome outcome);

} // namespace lockstep::demos
