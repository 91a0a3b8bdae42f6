// Losses as colours: a logarithmic scale between the best and the worst of a population.
#pragma once

#include <span>

#include "engine/train/population.h"

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

/// From the least loss to the one that 95 % of the networks are below, of all summaries together; at least by
/// a factor of 3 from end to end, so that noise is not spread over all colours.
LossScale lossScaleOf(std::span<const PopulationSummary* const> summaries);

} // namespace lockstep::demos
