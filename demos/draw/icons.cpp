#include "demos/draw/icons.h"

#include <cmath>
#include <string>

#include "demos/draw/ui.h"

namespace lockstep::demos {

void drawLaneMark(ImDrawList& draw, const LaneSpec& lane, ImVec2 centre, float size, ImU32 colour) {
    const float r = size / 2;
    if (lane.gpu) {
        draw.AddQuadFilled({centre.x, centre.y - r}, {centre.x + r, centre.y}, {centre.x, centre.y + r},
                           {centre.x - r, centre.y}, colour);
        return;
    }
    const float side = 0.78f * r;
    draw.AddRectFilled({centre.x - side, centre.y - side}, {centre.x + side, centre.y + side}, colour,
                       size / 8);
}

void drawChevron(const Ui& ui, ImDrawList& draw, ImVec2 centre, ImU32 colour) {
    const float half = ui.px(4);
    const ImVec2 points[] = {{centre.x - half, centre.y - half / 2},
                             {centre.x, centre.y + half / 2},
                             {centre.x + half, centre.y - half / 2}};
    draw.AddPolyline(points, 3, colour, 0, ui.px(1.5f));
}

namespace {

void drawReset(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) {
    const float r = size * 0.38f;
    constexpr float pi = 3.14159265f;
    draw.PathArcTo(centre, r, -pi * 0.3f, pi * 1.35f, 24);
    draw.PathStroke(colour, 0, size / 9);
    const ImVec2 tip{centre.x + r * std::cos(-pi * 0.3f), centre.y + r * std::sin(-pi * 0.3f)};
    draw.AddTriangleFilled({tip.x - size * 0.28f, tip.y - size * 0.05f},
                           {tip.x + size * 0.1f, tip.y - size * 0.3f},
                           {tip.x + size * 0.12f, tip.y + size * 0.12f}, colour);
}

void drawDice(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) {
    const float r = size * 0.42f;
    draw.AddRect({centre.x - r, centre.y - r}, {centre.x + r, centre.y + r}, colour, size / 6, 0, size / 10);
    for (const float at : {-0.5f, 0.0f, 0.5f})
        draw.AddCircleFilled({centre.x + at * r, centre.y + at * r}, size / 12, colour);
}

/// `reach`: from the centre to the tip, below 0 to the left.
void drawArrow(ImDrawList& draw, ImVec2 centre, float reach, ImU32 colour) {
    const float half = std::abs(reach) * 0.6f;
    const ImVec2 tip{centre.x + 0.85f * reach, centre.y};
    const ImVec2 head[] = {{tip.x - std::copysign(half, reach), tip.y - half},
                           tip,
                           {tip.x - std::copysign(half, reach), tip.y + half}};
    draw.AddLine({centre.x - 0.85f * reach, centre.y}, tip, colour, std::abs(reach) / 4);
    draw.AddPolyline(head, 3, colour, 0, std::abs(reach) / 4);
}

void drawIcon(Icon icon, ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) {
    const float r = size / 2;
    const auto triangle = [&](float left, float tip, float half) { // to the right
        draw.AddTriangleFilled({centre.x + left * r, centre.y - half * r}, {centre.x + tip * r, centre.y},
                               {centre.x + left * r, centre.y + half * r}, colour);
    };
    const auto bar = [&](float left, float right, float half) {
        draw.AddRectFilled({centre.x + left * r, centre.y - half * r},
                           {centre.x + right * r, centre.y + half * r}, colour, 1);
    };
    switch (icon) {
    case Icon::run: triangle(-0.7f, 0.9f, 0.9f); break;
    case Icon::pause:
        bar(-0.75f, -0.2f, 0.85f);
        bar(0.2f, 0.75f, 0.85f);
        break;
    case Icon::kernel:
        triangle(-0.8f, 0.15f, 0.65f);
        draw.AddCircleFilled({centre.x + r * 0.62f, centre.y}, r * 0.22f, colour);
        break;
    case Icon::step:
        triangle(-0.8f, 0.4f, 0.8f);
        bar(0.45f, 0.8f, 0.8f);
        break;
    case Icon::epoch:
        for (const float at : {-0.9f, -0.15f}) triangle(at, at + 0.75f, 0.8f);
        bar(0.62f, 0.92f, 0.8f);
        break;
    case Icon::reset: drawReset(draw, centre, size, colour); break;
    case Icon::dice: drawDice(draw, centre, size, colour); break;
    case Icon::panel: // a window, and its part on the right
        draw.AddRect({centre.x - r, centre.y - 0.8f * r}, {centre.x + r, centre.y + 0.8f * r}, colour,
                     size / 8, 0, size / 10);
        bar(0.25f, 0.95f, 0.75f);
        break;
    case Icon::back: drawArrow(draw, centre, -r, colour); break;
    case Icon::next: drawArrow(draw, centre, r, colour); break;
    }
}

float iconSize() { return ImGui::GetFontSize() * 0.85f; }

// Blanks leave the room that the sign is then drawn into.
std::string blanks(float width) {
    return std::string(static_cast<std::size_t>(std::ceil(width / textWidth(" "))), ' ');
}

} // namespace

float iconRoom(const Ui& ui) { return textWidth(blanks(iconSize() + ui.px(7))); }

float iconButtonWidth(const Ui& ui, const char* label, IconButtonOptions options) {
    const float sign = options.signOnly ? textWidth(blanks(iconSize())) : iconRoom(ui) + textWidth(label);
    return sign + 2 * ImGui::GetStyle().FramePadding.x;
}

bool iconButton(Ui& ui, const char* label, std::string_view words, Icon icon, IconButtonOptions options) {
    const float size = iconSize();
    const std::string text(translated(shownLabel(label)));
    const std::string shown =
        (options.signOnly ? blanks(size) : blanks(size + ui.px(7)) + text) + "###" + label;
    const bool pressed = options.primary ? ui.primaryButton(shown.c_str(), words, options.enabled, label)
                                         : ui.namedButton(shown.c_str(), label, words, options.enabled);
    if (ui.hidden(label)) return false;
    const ImVec2 low = ImGui::GetItemRectMin();
    const ImVec2 high = ImGui::GetItemRectMax();
    const ImU32 colour = !options.enabled  ? faded(ui.theme.text, ImGui::GetStyle().DisabledAlpha)
                         : options.primary ? ui.theme.onAccent
                                           : ui.theme.text;
    const float centre =
        options.signOnly ? (low.x + high.x) / 2 : low.x + ImGui::GetStyle().FramePadding.x + size / 2;
    drawIcon(icon, *ImGui::GetWindowDrawList(), {centre, (low.y + high.y) / 2}, size, colour);
    return pressed;
}

} // namespace lockstep::demos
