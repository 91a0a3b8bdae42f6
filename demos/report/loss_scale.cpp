#include "demos/report/loss_scale.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace lockstep::demos {

namespace {

constexpr double leastLoss = 1e-8; // what has been learned by heart has a place on the scale, too
constexpr double leastRatio = 3;

std::size_t placeOf(std::uint32_t share) {
    const auto& shares = PopulationSummary::shares;
    return static_cast<std::size_t>(std::distance(shares.begin(), std::ranges::find(shares, share)));
}

} // namespace

float LossScale::share(float loss) const {
    if (empty() || !std::isfinite(loss)) return 0;
    const double at = std::log(std::max(static_cast<double>(loss), leastLoss));
    const double share = (std::log(worst) - at) / (std::log(worst) - std::log(best));
    return static_cast<float>(std::clamp(share, 0.0, 1.0));
}

LossScale lossScaleOf(std::span<const PopulationSummary* const> summaries) {
    LossScale scale;
    for (const PopulationSummary* summary : summaries) {
        const auto best = static_cast<double>(summary->percentiles[placeOf(0)]);
        if (!std::isfinite(best)) continue;
        // Where many have diverged, the worst of those that have a loss.
        double worst = best;
        for (std::size_t i = 0; i <= placeOf(95); ++i)
            if (std::isfinite(summary->percentiles[i])) worst = static_cast<double>(summary->percentiles[i]);
        const double low = std::max(best, leastLoss);
        scale.best = scale.empty() ? low : std::min(scale.best, low);
        scale.worst = std::max({scale.worst, worst, leastLoss});
    }
    if (!scale.empty()) scale.worst = std::max(scale.worst, scale.best * leastRatio);
    return scale;
}

ImU32 lossColour(const Theme& theme, const LossScale& scale, const MemberResult& result) {
    if (result.diverged) return divergedColour(theme);
    if (!result.begun()) return theme.border;
    return viridis(scale.share(result.loss));
}

ImU32 divergedColour(const Theme& theme) {
    return theme.dark ? IM_COL32(10, 11, 13, 255) : IM_COL32(38, 42, 48, 255);
}

} // namespace lockstep::demos
