#include "demos/exhibits/race/race_views.h"

#include <algorithm>
#include <deque>
#include <map>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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

/// Training seconds of a step, by the losses kept around it.
double secondsAt(const Telemetry& telemetry, std::uint64_t step) {
    const std::vector<LossPoint>& losses = telemetry.losses();
    const auto after = std::ranges::lower_bound(losses, step, {}, &LossPoint::step);
    if (after != losses.end()) return after->seconds;
    return losses.empty() ? 0 : losses.back().seconds;
}

/// By step: what the telemetry has of every epoch, and what was seen in between.
std::map<std::uint64_t, double> accuracies(const RaceRecord& run, std::size_t lane) {
    std::map<std::uint64_t, double> result = run.accuracies[lane];
    for (const EpochPoint& epoch : run.lanes[lane].telemetry.epochs())
        if (epoch.testAccuracy == epoch.testAccuracy)
            result.try_emplace(epoch.epoch * run.job.order().stepsPerEpoch(), epoch.testAccuracy);
    return result;
}

/// "same mathematics: ...", in green with a tick, or what differs, in red with a cross. Nothing before two
/// lanes can be compared.
void drawAgreement(Ui& ui, const RaceRun& run) {
    std::string text = agreementText(run.lanes);
    if (text.empty()) return;
    text.erase(text.find_last_not_of('\n') + 1);
    const bool same = std::ranges::all_of(run.lanes, [](const LaneResult& r) { return r.agreement.same(); });
    const ImU32 colour = same ? ui.theme.good : ui.theme.bad;
    const std::string shown = (same ? "✓ " : "✗ ") + text;
    const float room = ImGui::GetContentRegionAvail().x - 2 * ui.px(10);
    const ImVec2 size = ImGui::CalcTextSize(shown.c_str(), nullptr, false, room);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 end{at.x + size.x + 2 * ui.px(10), at.y + size.y + ui.px(8)};
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled(at, end, faded(colour, 0.14f), ui.px(8));
    draw.AddText(nullptr, 0, {at.x + ui.px(10), at.y + ui.px(4)}, colour, shown.c_str(), nullptr, room);
    ImGui::Dummy({end.x - at.x, end.y - at.y});
    ui.noteControl("same mathematics");
    if (!ImGui::IsItemHovered()) return;
    Detail detail{.title = same ? "Same mathematics" : "Different mathematics",
                  .formula = "|a - b| / max(|a|, |b|)"};
    for (const LaneResult& lane : run.lanes)
        if (lane.agreement.steps > 0)
            detail.values.emplace_back(lane.spec.text(),
                                       fmt::format("{:.1g}", lane.agreement.largestDifference));
    detail.text =
        fmt::format("The largest relative difference between the losses of the same step, over the first "
                    "{} steps. The first {} must agree within {:.0g} ({:.0g} where a lane computes in half "
                    "precision), or a lane's speed is not compared.",
                    Telemetry::openingSteps, Agreement::decisiveSteps, Agreement::floatTolerance,
                    Agreement::halfTolerance);
    ui.detail(std::move(detail));
}

struct Curve {
    std::vector<double> x;
    std::vector<double> y;
};

Curve curveOf(const RaceRecord& run, std::size_t lane, std::size_t by, std::size_t show) {
    Curve curve;
    const Telemetry& telemetry = run.lanes[lane].telemetry;
    const auto add = [&](std::uint64_t step, double seconds, double y) {
        curve.x.push_back(by == byStep ? static_cast<double>(step) : seconds);
        curve.y.push_back(y);
    };
    if (show == trainLoss)
        for (const LossPoint& point : telemetry.losses())
            add(point.step, point.seconds, static_cast<double>(point.loss));
    else
        for (const auto& [step, accuracy] : accuracies(run, lane))
            add(step, secondsAt(telemetry, step), 100 * accuracy);
    return curve;
}

} // namespace

void RaceCurves::draw(Ui& ui, const RaceRun* run, const RaceRecord* earlier, ImVec2 size) {
    const float top = ImGui::GetCursorPosY();
    ui.segments("##race curve by", by_, byNames);
    ImGui::SameLine(0, ui.px(18));
    ui.segments("##race curve of", show_, showNames);
    if (run != nullptr) drawAgreement(ui, *run);
    std::deque<Curve> curves; // that the lines show
    std::vector<PlotLine> lines;
    const auto add = [&](const RaceRecord& record, bool faint) {
        constexpr std::size_t fewPoints = 40;
        const std::vector<LaneSpec> specs = record.specs();
        for (std::size_t i = 0; i < specs.size(); ++i) {
            const Curve& curve = curves.emplace_back(curveOf(record, i, by_, show_));
            if (curve.x.empty()) continue;
            const bool twice = std::ranges::count(specs, specs[i]) > 1;
            lines.push_back({.name = specs[i].text() + (twice ? fmt::format(" ({})", i + 1) : ""),
                             .colour = laneColour(ui, specs, i),
                             .dashed = specs[i].gpu,
                             .faint = faint,
                             .x = curve.x,
                             .y = curve.y,
                             .points = show_ == testAccuracy && curve.x.size() <= fewPoints});
        }
    };
    if (earlier != nullptr) add(*earlier, true);
    if (run != nullptr) add(*run, false);
    PlotOptions options;
    options.x = {.title = by_ == bySeconds ? "training time" : "step",
                 .unit = by_ == bySeconds ? "s" : "",
                 .measured = by_ == bySeconds,
                 .whole = by_ == byStep};
    options.y = {.title = showNames[show_], .unit = show_ == testAccuracy ? "%" : ""};
    if (show_ == testAccuracy) options.empty = "no evaluation on the test examples yet";
    const float left = size.y - (ImGui::GetCursorPosY() - top);
    options.size = {size.x, std::max(left, ui.px(170))};
    plot_.draw(ui, "race curves", lines, options);
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
