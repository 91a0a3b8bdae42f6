// What surrounds a plot's curves: legend, switches, menu, and what it says about the place under the mouse.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "demos/draw/plot_frame.h"

namespace lockstep::demos {

namespace {

// The width of a legend's entry: sample, gap, name, gap.
float entryWidth(const Ui& ui, const std::string& name) { return ui.px(22 + 6 + 14) + textWidth(name); }

// "0.4123", with its unit.
std::string plotValue(double value, const PlotAxis& axis, bool decimals = false) {
    return plotNumber(value, decimals) + (axis.unit.empty() ? "" : " " + axis.unit);
}

struct Reading {
    const PlotLine* line = nullptr;
    ImVec2 at;
    double value = 0;
    std::string text;
};

// The position of the nearest sample of any line, so that numbers are measured ones.
std::optional<double> snapped(const PlotFrame& frame, double at) {
    std::optional<double> nearest;
    for (const PlotCurve& curve : frame.curves) {
        const auto index = frame.nearest(curve, at);
        if (!index) continue;
        const double x = axisPosition(curve.line->x[*index], frame.logX);
        if (!nearest || std::abs(x - at) < std::abs(*nearest - at)) nearest = x;
    }
    return nearest;
}

// A line has a value where one of its samples is, and between two that are joined.
bool reaches(const PlotFrame& frame, const PlotCurve& curve, double x, double sample) {
    const double slack = frame.x.span() / static_cast<double>(frame.width()) * 3;
    if (std::abs(sample - x) <= slack) return true;
    const auto xs = curve.line->x;
    const auto right = static_cast<std::size_t>(
        std::distance(xs.begin(), std::ranges::lower_bound(xs, axisValue(x, frame.logX))));
    if (right == 0 || right >= xs.size()) return false;
    const auto drawn = [&](std::size_t i) { return drawable(xs[i], curve.y()[i], frame.logX, frame.logY); };
    return drawn(right - 1) && drawn(right);
}

std::vector<Reading> readingsAt(const PlotFrame& frame, double x, const PlotAxis& axis) {
    std::vector<Reading> readings;
    for (const PlotCurve& curve : frame.curves) {
        if (curve.line->name.empty()) continue;
        const auto index = frame.nearest(curve, x);
        if (!index) continue;
        const double sample = axisPosition(curve.line->x[*index], frame.logX);
        if (!reaches(frame, curve, x, sample)) continue;
        readings.push_back({curve.line, frame.at(curve, *index), curve.y()[*index], {}});
    }
    const bool decimals = std::ranges::any_of(
        readings, [](const Reading& reading) { return reading.value != std::floor(reading.value); });
    for (Reading& reading : readings) reading.text = plotValue(reading.value, axis, decimals);
    return readings;
}

void drawReadoutBox(const PlotFrame& frame, const std::string& title, std::span<const Reading> readings,
                    float hairline) {
    const Ui& ui = frame.ui;
    const SmallLetters small(ui);
    const float padding = ui.px(10);
    const float rowHeight = ImGui::GetFontSize() + ui.px(4);
    float nameWidth = 0;
    float valueWidth = 0;
    for (const Reading& reading : readings) {
        nameWidth = std::max(nameWidth, textWidth(reading.line->name));
        valueWidth = std::max(valueWidth, textWidth(reading.text));
    }
    const ImVec2 size{std::max(ui.px(30) + nameWidth + ui.px(14) + valueWidth, textWidth(title)) +
                          2 * padding,
                      rowHeight * static_cast<float>(readings.size() + 1) + 2 * padding - ui.px(4)};
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    float left = hairline + ui.px(12);
    if (left + size.x > frame.high.x) left = hairline - ui.px(12) - size.x;
    left = std::clamp(left, 0.0f, std::max(display.x - size.x, 0.0f));
    const float top = std::clamp(frame.low.y + ui.px(8), 0.0f, std::max(display.y - size.y, 0.0f));
    const ImVec2 end{left + size.x, top + size.y};
    ImDrawList& draw = *ImGui::GetForegroundDrawList();
    draw.AddRectFilled({left, top}, end, ui.theme.panel, ui.px(6));
    draw.AddRect({left, top}, end, ui.theme.border, ui.px(6), 0, ui.line());
    ImVec2 at{left + padding, top + padding};
    drawText(draw, at, ui.theme.muted, title);
    for (const Reading& reading : readings) {
        const PlotLine& line = *reading.line;
        at.y += rowHeight;
        drawLineSample(ui, draw, {at.x, at.y + ImGui::GetFontSize() / 2}, ui.px(22), line,
                       faded(line.colour, line.faint ? 0.5f : 1.0f));
        drawText(draw, {at.x + ui.px(30), at.y}, ui.theme.muted, line.name);
        drawText(draw, {end.x - padding - textWidth(reading.text), at.y}, ui.theme.text, reading.text);
    }
}

constexpr std::string_view logXWords = "Switches the x axis between linear and logarithmic.";
constexpr std::string_view logYWords = "Switches the y axis between linear and logarithmic.";
constexpr std::string_view lineWords = "Shows or hides this line.";

} // namespace

void drawReadout(const PlotFrame& frame, const PlotOptions& options, float mouseX) {
    const std::optional<double> x = snapped(frame, frame.xAt(mouseX));
    if (!x || *x < frame.x.low || *x > frame.x.high) return;
    const Ui& ui = frame.ui;
    const float hairline = std::round(frame.at(*x, frame.y.low).x);
    frame.draw.AddLine({hairline, frame.low.y}, {hairline, frame.high.y}, ui.theme.muted, ui.line());
    std::vector<Reading> readings = readingsAt(frame, *x, options.y);
    for (const Reading& reading : readings) {
        if (reading.at.y < frame.low.y || reading.at.y > frame.high.y) continue;
        drawMark(frame.draw, reading.at, ui.px(5), reading.line->dashed, frame.ground);
        drawMark(frame.draw, reading.at, ui.px(3.5f), reading.line->dashed, reading.line->colour);
    }
    // As many as fit into the window; the rest is in the CSV.
    const auto most = static_cast<std::size_t>(
        std::max(ImGui::GetIO().DisplaySize.y * 0.6f / (ImGui::GetFontSize() + ui.px(4)), 1.0f));
    if (readings.size() > most) readings.resize(most);
    const std::string title =
        std::string(translated(options.x.title)) + " " + plotValue(axisValue(*x, frame.logX), options.x);
    drawReadoutBox(frame, title, readings, hairline);
}

// Overlays share one entry.
const std::string& Plot::legendName(const PlotLine& line) const { return line.faint ? overlay_ : line.name; }

void Plot::drawBar(Ui& ui, std::span<const PlotLine> lines, const PlotOptions& options, float width) {
    const SmallLetters small(ui);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float padding = ui.px(7);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {padding, ui.px(2)});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ui.px(4), ui.px(2)});
    const auto switchWidth = [&](const char* label) { return textWidth(label) + 2 * padding + ui.px(4); };
    float switches = switchWidth("log x") + switchWidth("log y") + switchWidth("•••");
    const bool all = switches <= width / 2;
    if (!all) switches = switchWidth("•••");
    drawLegend(ui, lines, options, width - switches);
    const float below = ImGui::GetCursorScreenPos().y;
    ImGui::SetCursorScreenPos({start.x + width - switches, start.y});
    const auto pressed = [&](const char* label, const char* name, std::string_view words, bool on) {
        ImGui::PushStyleColor(ImGuiCol_Button, on ? ui.theme.hovered : ImU32{0});
        ImGui::PushStyleColor(ImGuiCol_Text, on ? ui.theme.text : ui.theme.muted);
        const bool result = ui.namedButton(label, named(name).c_str(), words);
        ImGui::PopStyleColor(2);
        return result;
    };
    if (all) {
        if (pressed("log x", "log x", logXWords, nowLogX_)) logX_ = !nowLogX_;
        ImGui::SameLine();
        if (pressed("log y", "log y", logYWords, nowLogY_)) logY_ = !nowLogY_;
        ImGui::SameLine();
    }
    if (pressed("•••", "more", "Smoothing, logarithmic axes, zoom, and saving of this plot.", false))
        openMenu_ = true;
    const float bottom = std::max(below, start.y + ImGui::GetFrameHeight() + ui.px(2));
    ImGui::PopStyleVar(2);
    ImGui::SetCursorScreenPos({start.x, bottom});
}

void Plot::drawLegend(Ui& ui, std::span<const PlotLine> lines, const PlotOptions& options, float room) {
    const std::string title = fittedText(shownAxisTitle(options.y), room - ui.px(16));
    const float start = ImGui::GetCursorScreenPos().x;
    float used = 0;
    // Beside the last one, or in a new row where it would not fit.
    const auto place = [&](float width) {
        if (used > 0 && used + width <= room)
            ImGui::SameLine(0, 0);
        else if (used > 0)
            used = 0;
        if (used == 0) ImGui::SetCursorScreenPos({start, ImGui::GetCursorScreenPos().y});
        used += width;
    };
    if (!title.empty()) {
        const float width = textWidth(title) + ui.px(16);
        place(width);
        const ImVec2 corner = ImGui::GetCursorScreenPos();
        ImGui::GetWindowDrawList()->AddText({corner.x, corner.y + ui.px(2)}, ui.theme.muted, title.c_str());
        ImGui::Dummy({width, ImGui::GetFrameHeight()});
    }
    const auto entries = legendLines(lines);
    float wanted = 0;
    for (const PlotLine* line : entries) wanted += entryWidth(ui, legendName(*line));
    const float rows = 1 + std::floor(wanted / std::max(room, 1.0f));
    const float height = whole_.max.y - whole_.min.y;
    // Where it would take too much of the plot, the menu has it.
    legendShown_ = options.legend && (rows * ImGui::GetFrameHeight() <= 0.25f * height || rows <= 1);
    if (!legendShown_) return;
    for (const PlotLine* line : entries) {
        place(entryWidth(ui, legendName(*line)));
        legendEntry(ui, *line);
    }
}

// One line for each entry of the legend.
std::vector<const PlotLine*> Plot::legendLines(std::span<const PlotLine> lines) const {
    std::vector<const PlotLine*> entries;
    bool overlaid = false;
    for (const PlotLine& line : lines)
        if (!legendName(line).empty() && !(line.faint && std::exchange(overlaid, true)))
            entries.push_back(&line);
    return entries;
}

void Plot::legendEntry(Ui& ui, const PlotLine& line) {
    const std::string& name = legendName(line);
    const bool on = shows(line);
    const float height = ImGui::GetFrameHeight();
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const ImVec2 size{entryWidth(ui, name), height};
    const bool clicked = ui.tile(named(name).c_str(), lineWords, size);
    if (ui.hidden(named(name).c_str())) return;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const bool under = ImGui::IsItemHovered() || ImGui::IsItemFocused();
    const ImU32 sample = faded(line.faint ? ui.theme.muted : line.colour, on ? 1.0f : 0.25f);
    drawLineSample(ui, draw, {corner.x, corner.y + height / 2}, ui.px(22), line, sample);
    const ImU32 letters = !on ? faded(ui.theme.muted, 0.5f) : under ? ui.theme.text : ui.theme.muted;
    const ImVec2 text{corner.x + ui.px(28), corner.y + (height - ImGui::GetFontSize()) / 2};
    drawText(draw, text, letters, name);
    if (!on) {
        const float middle = corner.y + height / 2;
        draw.AddLine({text.x, middle}, {text.x + textWidth(name), middle}, letters, ui.line());
    }
    if (clicked) toggle(name);
}

void Plot::toggle(const std::string& name) {
    if (hidden_.erase(name) == 0) hidden_.insert(name);
}

void Plot::drawMenu(Ui& ui, std::span<const PlotLine> lines, const PlotOptions& options) {
    if (std::exchange(openMenu_, false)) ImGui::OpenPopup("menu");
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(12), ui.px(10)});
    if (ImGui::BeginPopup("menu")) {
        const auto item = [&](const char* label, std::string_view words, bool on = false,
                              bool enabled = true) {
            const bool chosen = ImGui::MenuItem(translatedLabel(named(label)).c_str(), nullptr, on, enabled);
            ui.noteControl(named(label).c_str(), words);
            return chosen;
        };
        // By the memory it gives the mean, from 1 sample to 1,000: each tenth of the way is felt alike.
        float strength = -std::log10(1 - nowSmoothing_);
        ImGui::SetNextItemWidth(ui.px(150));
        const std::string shown = fmt::format("{:.3f}", nowSmoothing_);
        if (ui.slider(named("smoothing").c_str(),
                      "Share of the running mean in each shown value, from 0 (none) to 0.999. Faint lines "
                      "show the raw values.",
                      strength, 0, 3, shown.c_str(), false))
            smoothing_ = std::clamp(1 - std::pow(10.0f, -strength), 0.0f, 0.999f);
        ImGui::Separator();
        if (!legendShown_) {
            for (const PlotLine* line : legendLines(lines))
                if (item(legendName(*line).c_str(), lineWords, shows(*line))) toggle(legendName(*line));
            ImGui::Separator();
        }
        if (item("Logarithmic x", logXWords, nowLogX_)) logX_ = !nowLogX_;
        if (item("Logarithmic y", logYWords, nowLogY_)) logY_ = !nowLogY_;
        ImGui::Separator();
        if (item("Fit all", "Shows all samples of all lines again.", false, viewX_ || viewY_)) fitAll();
        if (item("Zoom in", "Enlarges the middle of the plot by 1.5.")) zoomWish_ = 1 / 1.5;
        if (item("Zoom out", "Shows 1.5 times as much of both axes.")) zoomWish_ = 1.5;
        ImGui::Separator();
        if (item("Copy as CSV", "Puts the numbers of all lines on the clipboard, as a table.", false,
                 !lines.empty())) {
            ImGui::SetClipboardText(plotCsv(axisTitle(options.x), lines).c_str());
            ui.say(Severity::info, "The plot's numbers are on the clipboard, as CSV");
        }
        if (item("Save as PNG", "Saves a picture of this plot in the current folder."))
            ui.pictureWish = PictureWish{{}, whole_};
        ImGui::EndPopup();
    }
    ImGui::PopStyleVar();
}

} // namespace lockstep::demos
