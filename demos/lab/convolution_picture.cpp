#include "demos/lab/convolution_picture.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "demos/lab/lab_cells.h"

namespace lockstep::demos {

namespace {

constexpr int unfoldedSide = 4; // rows and columns
constexpr int unfoldedPlaces =
    unfoldedSide * unfoldedSide; // one for each pixel: the edge is padded with zeros
constexpr int unfoldedTaps = 9;
constexpr int followedPixel = 5;     // the pixel that stands out: inside, so that it is copied nine times
constexpr double placeSeconds = 0.5; // seconds of a window

/// The pixel under a place of a window, counted row by row; -1: padding.
int pixelUnder(int window, int tap) {
    const int row = window / unfoldedSide + tap / 3 - 1;
    const int column = window % unfoldedSide + tap % 3 - 1;
    const bool inside = row >= 0 && row < unfoldedSide && column >= 0 && column < unfoldedSide;
    return inside ? row * unfoldedSide + column : -1;
}

void drawPixel(const Ui& ui, ImDrawList& draw, ImVec2 min, ImVec2 max, int pixel, bool now) {
    const ImU32 colour = pixel == followedPixel ? ui.theme.accent
                         : now                  ? mixed(ui.theme.raised, ui.theme.text, 0.6f)
                                                : mixed(ui.theme.raised, ui.theme.text, 0.3f);
    labCell(ui, draw, min, max, pixel < 0 ? ui.theme.muted : colour, pixel >= 0,
            fmt::format("{}", pixel < 0 ? 0 : pixel + 1), "16");
}

} // namespace

void drawUnfolding(const Ui& ui, ImVec2 at, ImVec2 size, double seconds) {
    const SmallLetters small(ui);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float letters = ImGui::GetFontSize();
    const float caption = 2 * letters + ui.px(6);
    const float height = size.y - caption;
    const int window =
        static_cast<int>(std::fmod(seconds / placeSeconds, unfoldedPlaces + 4.0)); // the last ones: at rest
    const float gap = ui.px(28);
    const float cell = std::min(height, 0.4f * (size.x - gap)) / (unfoldedSide + 2);
    const float top = at.y + (height - cell * (unfoldedSide + 2)) / 2;
    const auto place = [&](int row, int column) { // of the picture; -1 is its padding
        return ImVec2{at.x + static_cast<float>(column + 1) * cell, top + static_cast<float>(row + 1) * cell};
    };
    for (int row = -1; row <= unfoldedSide; ++row)
        for (int column = -1; column <= unfoldedSide; ++column) {
            const bool inside = row >= 0 && row < unfoldedSide && column >= 0 && column < unfoldedSide;
            const bool now = window < unfoldedPlaces && std::abs(row - window / unfoldedSide) <= 1 &&
                             std::abs(column - window % unfoldedSide) <= 1;
            const ImVec2 min = place(row, column);
            drawPixel(ui, draw, min, {min.x + cell - ui.px(2), min.y + cell - ui.px(2)},
                      inside ? row * unfoldedSide + column : -1, now);
        }
    if (window < unfoldedPlaces) {
        const ImVec2 min = place(window / unfoldedSide - 1, window % unfoldedSide - 1);
        draw.AddRect({min.x - ui.px(1), min.y - ui.px(1)},
                     {min.x + 3 * cell - ui.px(1), min.y + 3 * cell - ui.px(1)}, ui.theme.text, ui.px(2), 0,
                     ui.line(2));
    }
    const float left = at.x + cell * (unfoldedSide + 2) + gap;
    const float high = height / unfoldedPlaces;
    const float wide = std::min((at.x + size.x - left) / unfoldedTaps, ui.px(64));
    int copies = 0;
    for (int row = 0; row < unfoldedPlaces; ++row)
        for (int tap = 0; tap < unfoldedTaps; ++tap) {
            const ImVec2 min{left + static_cast<float>(tap) * wide, at.y + static_cast<float>(row) * high};
            const ImVec2 max{min.x + wide - ui.px(2), min.y + high - ui.px(1)};
            if (row > window) {
                draw.AddRect(min, max, faded(ui.theme.muted, 0.25f), 0, 0, ui.line());
                continue;
            }
            const int pixel = pixelUnder(row, tap);
            copies += pixel == followedPixel ? 1 : 0;
            drawPixel(ui, draw, min, max, pixel, row == window);
        }
    labText(draw, {at.x, at.y + height + ui.px(4)},
            translated("left: the input; right: what im2col writes, a row for each place of the window"),
            ui.theme.muted);
    labText(draw, {at.x, at.y + height + letters + ui.px(4)},
            translatedFormat("pixel {}: copied {} of {} times", followedPixel + 1, copies, unfoldedTaps),
            ui.theme.text);
}

} // namespace lockstep::demos
