#include "demos/exhibits/race/race_times.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "demos/exhibits/race/race_draw.h"
#include "demos/exhibits/race/race_words.h"

namespace lockstep::demos {

namespace {

const std::vector<std::string> scaleNames = {"share of the time", "time per step"};
constexpr const char* windowUnknown = "window: not measured";
constexpr const char* whyUnknown =
    "The window is drawn by the same device or processor; how much of this lane's time that takes is not "
    "measured there.";

// Machines' colours are taken: these are the others, and greys.
ImU32 partColour(const Ui& ui, std::size_t part) {
    const Theme& theme = ui.theme;
    switch (part) {
    case 0: return mixed(theme.muted, theme.warning, 0.75f);
    case 1: return seriesColour(theme, 2);
    case 2: return seriesColour(theme, 5);
    case 3: return seriesColour(theme, 3);
    case 5: return mixed(seriesColour(theme, 3), theme.gpu, 0.5f);
    case 6: return mixed(theme.muted, theme.background, 0.45f);
    case 7: return theme.hovered;
    default: return theme.muted;
    }
}

ImU32 operationColour(const Ui& ui, std::string_view operation) {
    const ImU32 colour = partColour(ui, partOf(operation));
    // The two halves of the backward pass stay apart.
    return operation.ends_with("weights") ? mixed(colour, ui.theme.background, 0.25f) : colour;
}

const char* operationLabel(const std::string& operation) {
    const std::size_t part = partOf(operation);
    return part < timeParts().size() ? timeParts()[part].label : operation.c_str();
}

std::vector<OperationTiming> timingsOf(const RaceRun& run, std::size_t lane) {
    if (!run.lanes[lane].operations.empty()) return run.lanes[lane].operations;
    const LaneProbe& probe = run.probes[lane];
    const std::lock_guard lock(probe.mutex);
    return probe.operations;
}

struct Bar {
    ImVec2 at;
    float width = 0;
    float height = 0;
};

void explainShare(Ui& ui, const LaneResult& lane, const TimeShare& share, double total) {
    const std::size_t part = partOf(share.name);
    Detail detail;
    detail.title = share.name;
    detail.values = {{"lane", lane.spec.text()},
                     {"of a step", ui.timing(duration(share.seconds))},
                     {"share", ui.timing(fmt::format("{:.1f} %", 100 * share.seconds / total))}};
    if (part < timeParts().size()) detail.text = timeParts()[part].text;
    ui.detail(std::move(detail));
}

void drawBar(Ui& ui, const LaneResult& lane, std::span<const TimeShare> shares, double whole,
             const Bar& bar) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled(bar.at, {bar.at.x + bar.width, bar.at.y + bar.height}, ui.theme.raised, ui.px(4));
    if (ui.masked) return;
    double total = 0;
    for (const TimeShare& share : shares) total += share.seconds;
    double before = 0;
    for (const TimeShare& share : shares) {
        const float x0 = bar.at.x + bar.width * static_cast<float>(before / whole);
        before += share.seconds;
        const float x1 = bar.at.x + bar.width * static_cast<float>(before / whole);
        const ImU32 colour = operationColour(ui, share.name);
        const ImVec2 low{std::max(x0, x1 - ui.line()), bar.at.y + bar.height};
        draw.AddRectFilled({x0, bar.at.y}, low, colour);
        const char* label = operationLabel(share.name);
        const ImVec2 size = ImGui::CalcTextSize(label);
        if (size.x + ui.px(8) < x1 - x0) {
            const ImU32 ink = share.name == waitingPart ? ui.theme.text : IM_COL32(16, 20, 24, 255);
            draw.AddText({(x0 + x1 - size.x) / 2, bar.at.y + (bar.height - size.y) / 2}, ink, label);
        }
        if (ImGui::IsMouseHoveringRect({x0, bar.at.y}, {x1, low.y})) explainShare(ui, lane, share, total);
    }
}

void drawLegend(Ui& ui) {
    const float box = ui.px(12);
    bool first = true;
    const std::span<const TimePart> parts = timeParts();
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].prefix == "exchange") continue; // nothing on one device
        const float width = box + ui.px(6) + ImGui::CalcTextSize(parts[i].label).x;
        if (!first) {
            ImGui::SameLine(0, ui.px(16));
            if (ImGui::GetCursorPosX() + width > ImGui::GetWindowContentRegionMax().x) ImGui::NewLine();
        }
        first = false;
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float line = ImGui::GetTextLineHeight();
        ImDrawList& draw = *ImGui::GetWindowDrawList();
        draw.AddRectFilled({at.x, at.y + (line - box) / 2}, {at.x + box, at.y + (line + box) / 2},
                           partColour(ui, i), ui.px(2));
        draw.AddText({at.x + box + ui.px(6), at.y}, ui.theme.muted, parts[i].label);
        ImGui::Dummy({width, line});
    }
}

} // namespace

void RaceTimes::draw(Ui& ui, const RaceRun* run) {
    if (run == nullptr) {
        ui.muted("Once lanes run, a bar for each shows what its time goes into.");
        return;
    }
    ui.segments("##race time scale", scale_, scaleNames);
    drawLegend(ui);
    std::vector<std::vector<TimeShare>> all;
    double longest = 0;
    std::vector<double> totals;
    for (std::size_t i = 0; i < run->lanes.size(); ++i) {
        all.push_back(timeShares(run->lanes[i], timingsOf(*run, i), run->window[i].seconds));
        double total = 0;
        for (const TimeShare& share : all.back()) total += share.seconds;
        totals.push_back(total);
        longest = std::max(longest, total);
    }
    std::vector<LaneSpec> specs;
    for (const LaneResult& lane : run->lanes) specs.push_back(lane.spec);
    const float line = ImGui::GetTextLineHeight();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const float width = ImGui::GetContentRegionAvail().x;
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float height = line + ui.px(10);
        ImDrawList& draw = *ImGui::GetWindowDrawList();
        drawLaneMark(draw, specs[i], {at.x + line / 2, at.y + line / 2}, ui.px(13), laneColour(ui, specs, i));
        draw.AddText({at.x + line + ui.px(4), at.y}, ui.theme.text, specs[i].text().c_str());
        const bool unknown = run->window[i].kind == WindowTime::Kind::unknown;
        std::string cost = all[i].empty() ? "no timings yet" : ui.timing(duration(totals[i])) + " per step";
        if (unknown && !all[i].empty()) cost += std::string("; ") + windowUnknown;
        const float costWidth = ImGui::CalcTextSize(cost.c_str()).x;
        draw.AddText({at.x + width - costWidth, at.y}, ui.theme.muted, cost.c_str());
        ImGui::Dummy({width, line + ui.px(4) + height});
        ui.noteControl(fmt::format("time of lane {}", i + 1).c_str());
        if (unknown && ImGui::IsItemHovered())
            ui.detail({.title = windowUnknown, .formula = {}, .values = {}, .text = whyUnknown});
        if (!all[i].empty())
            drawBar(ui, run->lanes[i], all[i], scale_ == 0 ? totals[i] : longest,
                    {{at.x, at.y + line + ui.px(4)}, width, height});
    }
    if (const std::string why = whyTheProcessorWins(*run); !why.empty()) ui.paragraph(ui.timing(why));
}

} // namespace lockstep::demos
