// What an experiment is about as a small moving picture: blocks that fill, dots that travel and lines, in a
// room of 16 by 6 units, over and over. It shows an idea, not a measurement.
#pragma once

#include <string_view>
#include <vector>

#include <imgui.h>

#include "demos/draw/ui.h"

namespace lockstep::demos {

/// `pale` and `other` go with `gpu`: ground, and what stands out from it.
enum class LabTone { gpu, cpu, pale, other, muted, good, bad };

/// An outline until it fills from left to right, and from then on filled.
struct LabBlock {
    float x = 0, y = 0, width = 1, height = 1; ///< in units, from the upper left corner
    double from = 0, until = 0;                ///< beats; equal: it fills at once
    LabTone tone = LabTone::gpu;
    std::string_view text = {}; ///< in its middle once it is filled so far
};

/// The beat at which a block that stays an outline fills.
inline constexpr double labNever = 1e9;

/// There only while it travels. A journey that ends after the picture's last beat goes on at its first.
struct LabDot {
    float x = 0, y = 0, toX = 0, toY = 0;
    double from = 0, until = 1;
    LabTone tone = LabTone::gpu;
    bool hollow = false;
};

struct LabLine {
    float x = 0, y = 0, toX = 0, toY = 0;
};

/// Always there.
struct LabLabel {
    float x = 0, y = 0; ///< of its lower left corner
    std::string_view text;
};

struct LabScene {
    static constexpr float width = 16, height = 6; ///< units
    static constexpr double beatSeconds = 0.25;

    double beats = 16; ///< until it begins again, with a rest at the end
    std::vector<LabBlock> blocks = {};
    std::vector<LabDot> dots = {};
    std::vector<LabLine> lines = {};
    std::vector<LabLabel> labels = {};
};

/// As large as `place` allows, in its middle.
void drawLabScene(const Ui& ui, const LabScene& scene, const Place& place, double seconds);

} // namespace lockstep::demos
