#include "demos/report/grid_colours.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace lockstep::demos {

namespace {

constexpr double leastLoss = 1e-8; // what has been learned by heart has a place on the scale, too
constexpr double leastRatio = 3;

struct Rgb {
    double red, green, blue;
};

using Palette = std::array<Rgb, 5>;

// Each grows brighter from its first colour to its last. In the middle of each are Okabe and Ito's: blue and
// sky blue, vermilion and orange.
constexpr Palette convergedPalette{
    {{4, 26, 64}, {0, 78, 138}, {0, 114, 178}, {86, 180, 233}, {255, 255, 255}}};
constexpr Palette divergedPalette{{{20, 6, 2}, {106, 36, 4}, {213, 94, 0}, {230, 159, 0}, {252, 236, 120}}};

constexpr std::uint32_t untrained = 0xFF606060;

/// position   0: the palette's first colour, 1: its last
std::uint32_t colourAt(const Palette& palette, double position) {
    const double place = std::clamp(position, 0.0, 1.0) * static_cast<double>(palette.size() - 1);
    const auto index = std::min(static_cast<std::size_t>(place), palette.size() - 2);
    const double share = place - static_cast<double>(index);
    const Rgb& a = palette[index];
    const Rgb& b = palette[index + 1];
    const auto byte = [share](double from, double to) {
        return static_cast<std::uint32_t>(std::lround(std::lerp(from, to, share)));
    };
    return IM_COL32(byte(a.red, b.red), byte(a.green, b.green), byte(a.blue, b.blue), 255);
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
        const auto best = static_cast<double>(summary->percentiles.front());
        if (!std::isfinite(best)) continue;
        // Where many have diverged, the worst of those that have a loss.
        double worst = best;
        for (std::size_t i = 0; PopulationSummary::shares[i] <= 95; ++i)
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

std::uint32_t mapColour(const MapJob& job, MapOutcome outcome) {
    if (std::isnan(outcome)) return untrained;
    if (outcome >= 0) return colourAt(convergedPalette, 1 - std::sqrt(static_cast<double>(outcome)));
    // Most of what diverges does so within a few steps.
    const double position = std::log1p(-static_cast<double>(outcome)) / std::log1p(job.steps);
    return colourAt(divergedPalette, position);
}

} // namespace lockstep::demos
