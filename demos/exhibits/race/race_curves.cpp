#include "demos/exhibits/race/race_curves.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/exhibits/race/race_lanes.h"
#include "demos/report/headline.h"
#include "engine/files/json_field.h"

namespace lockstep::demos {

namespace {

enum By : std::size_t { byStep, bySeconds };
enum Show : std::size_t { trainLoss, testAccuracy };

const std::vector<std::string> byNames = {"by step", "by seconds"};
const std::vector<std::string> showNames = {"train loss", "test accuracy"};
constexpr std::string_view byWords[] = {"step", "seconds"};
constexpr std::string_view showWords[] = {"train_loss", "test_accuracy"};

void drawChip(Ui& ui, const std::string& text, ImU32 colour, float room) {
    const ImVec2 pad{ui.px(10), ui.px(2)};
    const ImVec2 size = ImGui::CalcTextSize(text.c_str(), nullptr, false, room - 2 * pad.x);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 end{at.x + size.x + 2 * pad.x, at.y + size.y + 2 * pad.y};
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled(at, end, faded(colour, 0.14f), ui.px(8));
    draw.AddText(nullptr, 0, {at.x + pad.x, at.y + pad.y}, colour, text.c_str(), nullptr, room - 2 * pad.x);
    ImGui::Dummy({end.x - at.x, end.y - at.y});
}

/// "same mathematics", in green with a tick, or what differs, in red with a cross. Nothing before two lanes
/// can be compared. Returns the width that it takes of the next line.
float drawAgreement(Ui& ui, const RaceRun& run) {
    std::string text = agreementText(run.lanes);
    if (text.empty()) return 0;
    text.erase(text.find_last_not_of('\n') + 1);
    const bool same = std::ranges::all_of(run.lanes, [](const LaneResult& r) { return r.agreement.same(); });
    const ImU32 colour = same ? ui.theme.good : ui.theme.bad;
    const std::string shown = same ? std::string(translated("✓ same mathematics")) : "✗ " + text;
    const float room = ImGui::GetContentRegionAvail().x;
    const float width = textWidth(shown) + ui.px(20);
    const bool beside = same && width < 0.4f * room;
    if (same && !beside) return 0; // too narrow for what is to be expected
    const ImVec2 start = ImGui::GetCursorScreenPos();
    drawChip(ui, shown, colour, room);
    ui.noteControl("same mathematics",
                   "The largest relative difference between the lanes' losses of equal steps.");
    if (ImGui::IsItemHovered()) {
        Detail detail{.title = same ? "Same mathematics" : "Different mathematics",
                      .formula = "|a - b| / max(|a|, |b|)"};
        for (const LaneResult& lane : run.lanes)
            if (lane.agreement.steps > 0)
                detail.values.emplace_back(lane.spec.text(),
                                           translatedFormat("{:.1g}", lane.agreement.largestDifference));
        detail.text = translatedFormat(
            "{}. It is the largest relative difference between the losses of the same step, over the first "
            "{} steps. The first {} must agree within {:.0g} ({:.0g} where a lane computes in half "
            "precision), or a lane's speed is not compared. Lanes that first agree to rounding may be "
            "separated sooner by a ReLU whose input is nearly 0.",
            text, Telemetry::openingSteps, Agreement::decisiveSteps, Agreement::floatTolerance,
            Agreement::halfTolerance);
        ui.detail(std::move(detail));
    }
    if (!beside) return 0;
    ImGui::SetCursorScreenPos(start);
    return width + ui.px(14);
}

/// Which race is in front and which one behind, where a person has picked another than the one shown.
float drawPicked(Ui& ui, const PickedRuns& picked) {
    std::string text = translatedFormat("race {}", picked.front->number);
    if (picked.behind != nullptr) text += translatedFormat(", race {} behind", picked.behind->number);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    drawChip(ui, text, ui.theme.text, ImGui::GetContentRegionAvail().x);
    ImGui::SetCursorScreenPos(start);
    return textWidth(text) + ui.px(34);
}

/// Weight of the running mean of so many losses: over a seventieth of them, so that it follows a fall.
float meanWeight(std::size_t samples) { return 1 - 1 / std::max(1.0f, static_cast<float>(samples) / 70); }

void addLines(const Ui& ui, const std::vector<PastLane>& lanes, bool faint, std::size_t by, std::size_t show,
              std::vector<PlotLine>& lines) {
    constexpr std::size_t fewPoints = 40;
    std::vector<LaneSpec> specs;
    specs.reserve(lanes.size());
    for (const PastLane& lane : lanes) specs.push_back(lane.spec);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        const RunCurve& curve = show == trainLoss ? lanes[i].losses : lanes[i].accuracies;
        if (curve.value.empty()) continue;
        const bool twice = std::ranges::count(specs, specs[i]) > 1;
        lines.push_back({.name = specs[i].text() + (twice ? fmt::format(" ({})", i + 1) : ""),
                         .colour = laneColour(ui, specs, i),
                         .dashed = specs[i].gpu,
                         .dotted = lanesBefore(specs, i) % 2 == 1,
                         .faint = faint,
                         .x = by == byStep ? curve.step : curve.seconds,
                         .y = curve.value,
                         .points = show == testAccuracy && curve.value.size() <= fewPoints});
    }
}

} // namespace

// In the line of the views where that has room; else in a line of their own, unless that leaves too little
// for the curves.
void RaceCurves::drawChoices(Ui& ui, bool beside) {
    const float wanted = segmentsWidth(ui, byNames) + segmentsWidth(ui, showNames) + ui.px(14);
    if (beside && !continueLine(ui, wanted) &&
        ImGui::GetContentRegionAvail().y < 11 * ImGui::GetTextLineHeight())
        return;
    ui.segments("##race curve by",
                "The x axis: steps show that lanes compute the same; seconds show how fast they are.", by_,
                byNames);
    ImGui::SameLine(0, ui.px(14));
    ui.segments("##race curve of",
                "The y axis: the loss on each training batch, or the share of test examples that are right.",
                show_, showNames);
}

void RaceCurves::draw(Ui& ui, const RaceRun* run, const PickedRuns& picked, float below) {
    drawChoices(ui, run != nullptr);
    PlotOptions options;
    std::vector<PastLane> live;
    if (picked.front != nullptr) {
        options.lead = drawPicked(ui, picked);
    } else if (run != nullptr) {
        options.lead = drawAgreement(ui, *run);
        live = pastLanes(*run);
    }
    std::vector<PlotLine> lines;
    if (picked.behind != nullptr) addLines(ui, picked.behind->lanes, true, by_, show_, lines);
    addLines(ui, picked.front != nullptr ? picked.front->lanes : live, false, by_, show_, lines);
    options.x = {.title = by_ == bySeconds ? "training time" : "step",
                 .unit = by_ == bySeconds ? "s" : "",
                 .measured = by_ == bySeconds,
                 .whole = by_ == byStep};
    options.y = {.title = showNames[show_], .unit = show_ == testAccuracy ? "%" : ""};
    std::size_t samples = 0;
    for (const PlotLine& line : lines) samples = std::max(samples, line.x.size());
    if (show_ == trainLoss)
        options.smoothing = meanWeight(samples);
    else
        options.empty = "no evaluation on the test examples yet";
    const ImVec2 room = ImGui::GetContentRegionAvail();
    // Beside a chip, a narrow room has none for the legend; names stand at the lines' ends, too.
    options.legend = options.lead == 0 || room.x >= ui.px(600);
    options.size = {room.x, std::max(room.y - below, 5 * ImGui::GetTextLineHeight())};
    plot_.draw(
        ui, "race curves",
        "Loss or accuracy of every lane. The wheel zooms, a drag pans, a double click shows everything.",
        lines, options);
}

nlohmann::ordered_json RaceCurves::state() const {
    return {{"by", byWords[by_]}, {"show", showWords[show_]}, {"plot", plot_.state()}};
}

void RaceCurves::setState(const nlohmann::ordered_json& state) {
    if (!state.is_object()) throw std::invalid_argument("field 'curves': must be an object");
    by_ = jsonWordOr(state, "by", byWords);
    show_ = jsonWordOr(state, "show", showWords);
    if (state.contains("plot")) plot_.setState(state["plot"]);
}

} // namespace lockstep::demos
