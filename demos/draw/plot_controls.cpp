// What surrounds a plot's curves: legend, switches, menu.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "demos/draw/plot_frame.h"

namespace lockstep::demos {

namespace {

constexpr float strongest = 0.999f;
constexpr std::array<const char*, 3> switchLabels{"log x", "log y", "•••"};
constexpr const char* earlierRuns = "earlier runs";

float buttonPadding(const Ui& ui) { return ui.px(7); }

float widthOf(std::string_view text) { return ImGui::CalcTextSize(text.data(), text.data() + text.size()).x; }

// Sample, gap, name, gap.
float entryWidth(const Ui& ui, const std::string& name) { return ui.px(22 + 6 + 14) + widthOf(name); }

} // namespace

// Overlays share one entry.
const std::string& Plot::legendName(const PlotLine& line) const {
    static const std::string overlay = earlierRuns;
    return line.faint ? overlay : line.name;
}

void Plot::drawBar(Ui& ui, std::span<const PlotLine> lines, const PlotOptions& options, float width) {
    const ImVec2 start = ImGui::GetCursorScreenPos();
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {buttonPadding(ui), ui.px(2)});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ui.px(4), ui.px(2)});
    float switches = 0;
    for (const char* label : switchLabels) switches += widthOf(label) + 2 * buttonPadding(ui) + ui.px(4);
    if (switches > width / 2) switches = widthOf(switchLabels.back()) + 2 * buttonPadding(ui) + ui.px(4);
    legendShown_ = legendFits(ui, lines, width - switches, whole_.max.y - whole_.min.y);
    drawLegend(ui, legendShown_ ? lines : std::span<const PlotLine>{}, axisTitle(options.y),
               width - switches);
    const float below = ImGui::GetCursorScreenPos().y;
    ImGui::SetCursorScreenPos({start.x + width - switches, start.y});
    drawSwitches(ui, switches);
    const float bottom = std::max(below, start.y + ImGui::GetFrameHeight() + ui.px(2));
    ImGui::PopStyleVar(2);
    ImGui::SetCursorScreenPos({start.x, bottom});
}

void Plot::drawLegend(Ui& ui, std::span<const PlotLine> lines, const std::string& title, float room) {
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
        const float width = widthOf(title) + ui.px(16);
        place(width);
        const ImVec2 corner = ImGui::GetCursorScreenPos();
        ImGui::GetWindowDrawList()->AddText({corner.x, corner.y + ui.px(2)}, ui.theme.muted, title.c_str());
        ImGui::Dummy({width, ImGui::GetFrameHeight()});
    }
    for (const PlotLine* line : legendLines(lines)) {
        place(entryWidth(ui, legendName(*line)));
        legendEntry(ui, *line, legendName(*line));
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

// Where it would take too much of the plot, the menu has it.
bool Plot::legendFits(const Ui& ui, std::span<const PlotLine> lines, float width, float height) const {
    float wanted = 0;
    for (const PlotLine* line : legendLines(lines)) wanted += entryWidth(ui, legendName(*line));
    const float rows = 1 + std::floor(wanted / std::max(width, 1.0f));
    return rows * ImGui::GetFrameHeight() <= 0.25f * height || rows <= 1;
}

void Plot::legendEntry(Ui& ui, const PlotLine& line, const std::string& name) {
    const bool on = shows(line);
    const float height = ImGui::GetFrameHeight();
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const ImVec2 size{entryWidth(ui, name), height};
    if (ui.hidden(named(name).c_str())) {
        ImGui::Dummy(size);
        return;
    }
    const bool clicked = ui.tile(named(name).c_str(), size);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const bool under = ImGui::IsItemHovered() || ImGui::IsItemFocused();
    const ImU32 sample = faded(line.faint ? ui.theme.muted : line.colour, on ? 1.0f : 0.25f);
    drawLineSample(ui, draw, {corner.x, corner.y + height / 2}, ui.px(22), line, sample);
    const ImU32 letters = !on ? faded(ui.theme.muted, 0.5f) : under ? ui.theme.text : ui.theme.muted;
    const ImVec2 text{corner.x + ui.px(28), corner.y + (height - ImGui::GetFontSize()) / 2};
    draw.AddText(text, letters, name.c_str());
    if (!on) {
        const float middle = corner.y + height / 2;
        draw.AddLine({text.x, middle}, {text.x + widthOf(name), middle}, letters, ui.line());
    }
    if (clicked) toggle(name);
}

void Plot::toggle(const std::string& name) {
    if (hidden_.erase(name) == 0) hidden_.insert(name);
}

bool Plot::smallButton(Ui& ui, const char* label, const char* name, bool on) {
    ImGui::PushStyleColor(ImGuiCol_Button, on ? ui.theme.hovered : ImU32{0});
    ImGui::PushStyleColor(ImGuiCol_Text, on ? ui.theme.text : ui.theme.muted);
    const bool pressed = ui.namedButton(label, named(name).c_str());
    ImGui::PopStyleColor(2);
    return pressed;
}

void Plot::drawSwitches(Ui& ui, float width) {
    const bool all = width > widthOf(switchLabels.back()) + 2 * buttonPadding(ui) + ui.px(8);
    if (all) {
        if (smallButton(ui, switchLabels[0], switchLabels[0], nowLogX_)) logX_ = !nowLogX_;
        ImGui::SameLine();
        if (smallButton(ui, switchLabels[1], switchLabels[1], nowLogY_)) logY_ = !nowLogY_;
        ImGui::SameLine();
    }
    if (smallButton(ui, switchLabels[2], "more", false)) openMenu_ = true;
}

void Plot::drawMenu(Ui& ui, std::span<const PlotLine> lines, const PlotOptions& options) {
    if (std::exchange(openMenu_, false)) ImGui::OpenPopup("menu");
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(12), ui.px(10)});
    if (ImGui::BeginPopup("menu")) {
        const auto item = [&](const char* label, bool on = false, bool enabled = true) {
            const bool chosen = ImGui::MenuItem(named(label).c_str(), nullptr, on, enabled);
            ui.noteControl(named(label).c_str());
            return chosen;
        };
        drawSmoothing(ui);
        ImGui::Separator();
        if (!legendShown_) {
            for (const PlotLine* line : legendLines(lines))
                if (item(legendName(*line).c_str(), shows(*line))) toggle(legendName(*line));
            ImGui::Separator();
        }
        if (item("Logarithmic x", nowLogX_)) logX_ = !nowLogX_;
        if (item("Logarithmic y", nowLogY_)) logY_ = !nowLogY_;
        ImGui::Separator();
        if (item("Fit all", false, viewX_ || viewY_)) viewX_.reset(), viewY_.reset();
        if (item("Zoom in")) zoomWish_ = 1 / 1.5;
        if (item("Zoom out")) zoomWish_ = 1.5;
        ImGui::Separator();
        if (item("Copy as CSV", false, !lines.empty())) {
            ImGui::SetClipboardText(plotCsv(lines, options).c_str());
            ui.say(Severity::info, "The plot's numbers are in the clipboard, as CSV");
        }
        if (item("Save as PNG")) ui.pictureWish = PictureWish{{}, whole_};
        ImGui::EndPopup();
    }
    ImGui::PopStyleVar();
}

// By the memory it gives the mean, from 1 sample to 1,000: each tenth of the way is felt alike.
void Plot::drawSmoothing(Ui& ui) {
    float strength = -std::log10(1 - smoothing_);
    ImGui::SetNextItemWidth(ui.px(150));
    const std::string shown = fmt::format("{:.3f}", smoothing_);
    if (ui.slider(named("smoothing").c_str(), strength, 0, 3, shown.c_str()))
        smoothing_ = std::clamp(1 - std::pow(10.0f, -strength), 0.0f, strongest);
}

} // namespace lockstep::demos
