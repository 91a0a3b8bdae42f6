#include "demos/report/map_colours.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace lockstep::demos {

namespace {

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

std::uint32_t word(const Rgb& colour) {
    const auto byte = [](double value) { return static_cast<std::uint32_t>(std::lround(value)); };
    return 0xFF000000u | byte(colour.blue) << 16 | byte(colour.green) << 8 | byte(colour.red);
}

/// position   0: the palette's first colour, 1: its last
std::uint32_t colourAt(const Palette& palette, double position) {
    const double place = std::clamp(position, 0.0, 1.0) * static_cast<double>(palette.size() - 1);
    const auto index = std::min(static_cast<std::size_t>(place), palette.size() - 2);
    const double share = place - static_cast<double>(index);
    const Rgb& a = palette[index];
    const Rgb& b = palette[index + 1];
    return word({std::lerp(a.red, b.red, share), std::lerp(a.green, b.green, share),
                 std::lerp(a.blue, b.blue, share)});
}

} // namespace

std::uint32_t mapColour(const MapJob& job, MapOutcome outcome) {
    if (std::isnan(outcome)) return untrained;
    if (outcome >= 0) return colourAt(convergedPalette, 1 - std::sqrt(static_cast<double>(outcome)));
    // Most of what diverges does so within a few steps.
    const double position = std::log1p(-static_cast<double>(outcome)) / std::log1p(job.steps);
    return colourAt(divergedPalette, position);
}

void paintMap(const MapJob& job, std::span<const MapOutcome> outcomes, std::span<std::uint8_t> rgba) {
    std::size_t at = 0;
    for (const MapOutcome outcome : outcomes) {
        const std::uint32_t colour = mapColour(job, outcome);
        for (const int shift : {0, 8, 16, 24}) rgba[at++] = static_cast<std::uint8_t>(colour >> shift);
    }
}

} // namespace lockstep::demos
