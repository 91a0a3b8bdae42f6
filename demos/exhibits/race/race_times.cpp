#include "demos/exhibits/race/race_times.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "demos/draw/icons.h"
#include "demos/exhibits/race/race_lanes.h"
#include "demos/exhibits/race/race_words.h"
#include "demos/kit/operations.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

const std::vector<std::string> scaleNames = {"share of the time", "time per step"};
constexpr const char* windowUnknown = "window: not measured";
constexpr const char* whyUnknown =
    "The same device or CPU also draws this window. Its share of the lane's time is not measured.";

bool isOperation(std::string_view part) { return part != windowPart && part != waitingPart; }

std::string_view labelOfPart(std::string_view part) {
    return isOperation(part) ? wordsOf(operationFromName(part)).label : part;
}

std::string explanationOf(std::string_view part) {
    if (part == windowPart)
        return "Drawing this window. The device drew its frames and trained on one queue, in turn.";
    if (part == waitingPart)
        return "The device had no step to work on: the host was preparing the next one, or waiting.";
    return std::string(rowOf(operationFromName(part)).purpose);
}

void fillPart(const Ui& ui, ImVec2 min, ImVec2 max, std::string_view part) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    if (isOperation(part))
        fillOperation(ui, draw, min, max, operationFromName(part));
    else
        draw.AddRectFilled(min, max,
                           part == windowPart ? mixed(ui.theme.muted, ui.theme.background, 0.45f)
                                              : ui.theme.hovered,
                           max.x - min.x >= ui.px(8) ? ui.px(3) : 0);
}

std::vector<OperationTiming> timingsOf(const RaceRun& run, std::size_t lane) {
    if (!run.lanes[lane].operations.empty()) return run.lanes[lane].operations;
    return run.probes[lane].operations;
}

double total(std::span<const TimeShare> shares) {
    double seconds = 0;
    for (const TimeShare& share : shares) seconds += share.seconds;
    return seconds;
}

void explainShare(Ui& ui, const LaneResult& lane, const TimeShare& share, double step) {
    Detail detail{.title = std::string(labelOfPart(share.name)),
                  .values = {{"lane", lane.spec.text()},
                             {"of a step", ui.timing(duration(share.seconds))},
                             {"share", ui.timing(translatedFormat("{:.1f} %", 100 * share.seconds / step))}},
                  .text = explanationOf(share.name)};
    if (isOperation(share.name)) detail.values.emplace_back("operation", share.name);
    ui.detail(std::move(detail));
}

/// `whole`: seconds of a bar of that width.
void drawBar(Ui& ui, const LaneResult& lane, std::span<const TimeShare> shares, double whole, ImVec2 place,
             float width, float height) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled(place, {place.x + width, place.y + height}, ui.theme.raised, ui.px(4));
    if (ui.masked) return;
    double before = 0;
    for (const TimeShare& share : shares) {
        const float x0 = place.x + width * static_cast<float>(before / whole);
        before += share.seconds;
        const float x1 = place.x + width * static_cast<float>(before / whole);
        const ImVec2 low{std::max(x0, x1 - ui.line()), place.y + height};
        fillPart(ui, {x0, place.y}, low, share.name);
        const std::string label(labelOfPart(share.name));
        const ImVec2 size = ImGui::CalcTextSize(label.c_str());
        if (size.x + ui.px(8) < x1 - x0) {
            const ImVec2 at{(x0 + x1 - size.x) / 2, place.y + (height - size.y) / 2};
            const ImU32 ground = isOperation(share.name) ? faded(ui.theme.panel, 0.82f) : 0;
            draw.AddRectFilled({at.x - ui.px(2), at.y}, {at.x + size.x + ui.px(2), at.y + size.y}, ground,
                               ui.px(3));
            drawText(draw, at, ui.theme.text, label);
        }
        if (ImGui::IsMouseHoveringRect({x0, place.y}, {x1, low.y}))
            explainShare(ui, lane, share, total(shares));
    }
}

void drawLegendEntry(Ui& ui, std::string_view part, bool first) {
    const std::string label(labelOfPart(part));
    const float box = ui.px(16);
    const float width = box + ui.px(6) + textWidth(label);
    if (!first) {
        ImGui::SameLine(0, ui.px(12));
        if (ImGui::GetCursorPosX() + width > ImGui::GetWindowContentRegionMax().x) ImGui::NewLine();
    }
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float line = ImGui::GetTextLineHeight();
    fillPart(ui, {at.x, at.y + line * 0.12f}, {at.x + box, at.y + line * 0.92f}, part);
    ImGui::GetWindowDrawList()->AddText({at.x + box + ui.px(6), at.y}, ui.theme.muted, label.c_str());
    ImGui::Dummy({width, line});
    ui.noteControl(("legend/" + label).c_str(), "A part of the time that a training step takes.");
    ui.explainItem({.title = label, .text = explanationOf(part)});
}

/// Names the parts that occur; all of them as long as there are no timings.
void drawLegend(Ui& ui, std::span<const std::vector<TimeShare>> lanes) {
    std::set<std::string_view> labels;
    for (const std::vector<TimeShare>& shares : lanes)
        for (const TimeShare& share : shares) labels.insert(labelOfPart(share.name));
    std::vector<std::string_view> parts;
    for (const Operation each : recipeOperations) parts.push_back(name(each));
    for (const Operation each : {Operation::storeActivations, Operation::fetchActivations})
        if (labels.contains(wordsOf(each).label)) parts.push_back(name(each));
    parts.insert(parts.end(), {windowPart, waitingPart});
    bool first = true;
    for (const std::string_view part : parts)
        if (labels.empty() || labels.contains(labelOfPart(part)))
            drawLegendEntry(ui, part, std::exchange(first, false));
}

} // namespace

void drawTimes(Ui& ui, const RaceRun& run, std::size_t& scale) {
    continueLine(ui, segmentsWidth(ui, scaleNames));
    ui.segments("##race time scale",
                "Compares how lanes divide their time, or how long a step takes on each.", scale, scaleNames);
    std::vector<std::vector<TimeShare>> all;
    double longest = 0;
    for (std::size_t i = 0; i < run.lanes.size(); ++i) {
        all.push_back(timeShares(run.lanes[i], timingsOf(run, i), run.window[i].seconds));
        longest = std::max(longest, total(all.back()));
    }
    drawLegend(ui, all);
    const std::vector<LaneSpec> specs = run.specs();
    const float line = ImGui::GetTextLineHeight();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const float width = ImGui::GetContentRegionAvail().x;
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float height = line + ui.px(10);
        ImDrawList& draw = *ImGui::GetWindowDrawList();
        drawMark(ui, specs, i, {at.x + line / 2, at.y + line / 2}, ui.px(13));
        drawText(draw, {at.x + line + ui.px(4), at.y}, ui.theme.text, specs[i].text());
        const bool unknown = run.window[i].kind == WindowTime::Kind::unknown;
        std::string cost = all[i].empty()
                               ? std::string(translated("no timings yet"))
                               : translatedFormat("{} per step", ui.timing(duration(total(all[i]))));
        if (unknown && !all[i].empty()) cost.append("; ").append(translated(windowUnknown));
        const float costWidth = textWidth(cost);
        drawText(draw, {at.x + width - costWidth, at.y}, ui.theme.muted, cost);
        ImGui::Dummy({width, line + ui.px(4) + height});
        ui.noteControl(fmt::format("time of lane {}", i + 1).c_str(),
                       "How this lane's time divides into parts.");
        if (unknown && ImGui::IsItemHovered()) ui.detail({.title = windowUnknown, .text = whyUnknown});
        if (!all[i].empty())
            drawBar(ui, run.lanes[i], all[i], scale == 0 ? total(all[i]) : longest,
                    {at.x, at.y + line + ui.px(4)}, width, height);
    }
    const std::string why = whyText(ui, run);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const bool fits = ImGui::CalcTextSize(why.c_str(), nullptr, false, room.x).y <= room.y;
    if (!why.empty() && (fits || run.lanes.size() > 2)) ui.paragraph(why); // many lanes scroll anyway
}

} // namespace lockstep::demos
