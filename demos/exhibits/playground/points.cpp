// Points on the playground's map, and putting one's own there.
#include <algorithm>
#include <cmath>

#include "demos/exhibits/playground/playground_view.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t mostPointsDrawn = 2000;
constexpr float brushUnits = 14; // between points put by dragging
constexpr float graspUnits = 12; // how near the mouse has to be to remove one

void drawMarks(const PlaygroundParts& parts, ImVec2 low, float size, bool test) {
    const PlaygroundSettings& settings = parts.model.settings();
    const std::vector<PlanePoint>& points = parts.model.points();
    const float half = std::max(2.0f, parts.ui.px(points.size() > 600 ? 3.5f : 4.5f));
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    for (std::size_t i = 0; i < std::min(points.size(), mostPointsDrawn); ++i) {
        const PlanePoint& point = points[i];
        if (point.test != test) continue;
        const float x = low.x + size * (0.5f + point.at.x / (2 * planeReach));
        const float y = low.y + size * (0.5f - point.at.y / (2 * planeReach));
        if (x < low.x || y < low.y || x > low.x + size || y > low.y + size) continue;
        const PicturePart mark = parts.pictures.mark(point.at.label, test);
        draw.AddImage(mark.picture, {x - half, y - half}, {x + half, y + half}, mark.from, mark.to,
                      pointColour(parts.ui.theme, settings, point.at));
    }
}

} // namespace

void drawPoints(const PlaygroundParts& parts, ImVec2 low, float size) {
    if (parts.view.testPoints) drawMarks(parts, low, size, true);
    if (parts.view.trainPoints) drawMarks(parts, low, size, false);
}

void drawWithMouse(const PlaygroundParts& parts, PlaygroundView::Probe at, float perPixel) {
    PlaygroundSettings settings = parts.model.settings();
    const auto farFromLast = [&] {
        if (settings.own.empty()) return true;
        const LabelledPoint& last = settings.own.back();
        return std::hypot(last.x - at.x, last.y - at.y) > parts.ui.px(brushUnits) * perPixel;
    };
    const bool put = ImGui::IsMouseClicked(0) || (ImGui::IsMouseDown(0) && farFromLast());
    if (put && settings.own.size() < mostOwnPoints) {
        // On a map of values, class 1 puts -1 and class 2 puts 1.
        const float value = parts.view.drawnClass == 0 ? -1.0f : 1.0f;
        settings.own.push_back(
            {at.x, at.y, settings.ownValues ? 0 : parts.view.drawnClass, settings.ownValues ? value : 0});
        parts.model.change(settings);
        return;
    }
    if (!ImGui::IsMouseDown(1) || settings.own.empty()) return;
    const auto distance = [at](const LabelledPoint& p) { return std::hypot(p.x - at.x, p.y - at.y); };
    const auto nearest = std::ranges::min_element(settings.own, {}, distance);
    if (distance(*nearest) > parts.ui.px(graspUnits) * perPixel) return;
    settings.own.erase(nearest);
    parts.model.change(settings);
}

} // namespace lockstep::demos
