#include "demos/lab/lab_scene.h"

#include <algorithm>
#include <cmath>

#include "demos/lab/lab_cells.h"

namespace lockstep::demos {

namespace {

ImU32 toneColour(const Ui& ui, LabTone tone) {
    switch (tone) {
    case LabTone::gpu: return ui.theme.gpu;
    case LabTone::cpu: return ui.theme.cpu;
    case LabTone::pale: return mixed(ui.theme.raised, ui.theme.gpu, 0.3f);
    case LabTone::other: return ui.theme.accent;
    case LabTone::muted: return ui.theme.muted;
    case LabTone::good: return ui.theme.good;
    case LabTone::bad: return ui.theme.bad;
    }
    return ui.theme.text;
}

/// Which share of the way from `from` to `until` is over.
double shareOver(double now, double from, double until) {
    return until > from ? std::clamp((now - from) / (until - from), 0.0, 1.0) : now >= from ? 1 : 0;
}

} // namespace

void drawLabScene(const Ui& ui, const LabScene& scene, const Place& place, double seconds) {
    const float unit = std::min((place.max.x - place.min.x) / LabScene::width,
                                (place.max.y - place.min.y) / LabScene::height);
    const ImVec2 corner{(place.min.x + place.max.x - LabScene::width * unit) / 2,
                        (place.min.y + place.max.y - LabScene::height * unit) / 2};
    const auto at = [&](float x, float y) { return ImVec2{corner.x + x * unit, corner.y + y * unit}; };
    const double now = std::fmod(seconds / LabScene::beatSeconds, scene.beats);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const SmallLetters small(ui);
    for (const LabLine& line : scene.lines)
        draw.AddLine(at(line.x, line.y), at(line.toX, line.toY), ui.theme.muted, ui.line());
    for (const LabLabel& label : scene.labels) {
        const ImVec2 low = at(label.x, label.y);
        labText(draw, {low.x, low.y - ImGui::GetFontSize() - ui.px(3)}, label.text, ui.theme.text);
    }
    for (const LabBlock& block : scene.blocks) {
        const ImU32 colour = toneColour(ui, block.tone);
        const ImVec2 min = at(block.x, block.y);
        const ImVec2 max = at(block.x + block.width, block.y + block.height);
        const double share = shareOver(now, block.from, block.until);
        if (share <= 0) {
            labCell(ui, draw, min, max, colour, false);
            continue;
        }
        const ImVec2 filled{min.x + static_cast<float>(share) * (max.x - min.x), max.y};
        if (share < 1) labCell(ui, draw, min, max, colour, false);
        draw.AddRectFilled(min, filled, colour, ui.px(2));
        if (block.text.empty() || block.height * unit < ImGui::GetFontSize()) continue;
        // Half of a word on no ground cannot be read.
        if (filled.x < (min.x + max.x + textWidth(block.text)) / 2) continue;
        const ImU32 letters = block.tone == LabTone::pale ? ui.theme.text : ui.theme.panel;
        labText(draw, {(min.x + max.x) / 2, (min.y + max.y - ImGui::GetFontSize()) / 2},
                translated(block.text), letters, 0.5f);
    }
    for (const LabDot& dot : scene.dots) {
        const double begun = std::fmod(now - dot.from, scene.beats);
        const double since = begun < 0 ? begun + scene.beats : begun;
        if (since >= dot.until - dot.from) continue;
        const auto share = static_cast<float>(since / (dot.until - dot.from));
        const ImVec2 centre = at(dot.x + share * (dot.toX - dot.x), dot.y + share * (dot.toY - dot.y));
        const float radius = 0.24f * unit;
        if (dot.hollow)
            draw.AddCircle(centre, radius, toneColour(ui, dot.tone), 0, ui.line(1.5f));
        else
            draw.AddCircleFilled(centre, radius, toneColour(ui, dot.tone));
    }
}

} // namespace lockstep::demos
