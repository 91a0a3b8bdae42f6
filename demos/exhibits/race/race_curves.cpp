#include "demos/exhibits/race/race_views.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/report/headline.h"
#include "engine/net/names.h"

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
std::map<std::uint64_t, double> accuracies(const RaceRun& run, std::size_t lane) {
    std::map<std::uint64_t, double> result;
    const std::uint64_t stepsPerEpoch = run.order().stepsPerEpoch();
    for (const EpochPoint& epoch : run.lanes[lane].telemetry.epochs())
        if (epoch.testAccuracy == epoch.testAccuracy)
            result[epoch.epoch * stepsPerEpoch] = epoch.testAccuracy;
    for (const SeenEvaluation& seen : run.seen[lane]) result[seen.step] = seen.accuracy;
    return result;
}

std::size_t indexOf(const nlohmann::ordered_json& state, const char* field,
                    std::span<const std::string_view> words) {
    if (!state.contains(field)) return 0;
    const nlohmann::ordered_json& value = state[field];
    if (!value.is_string())
        throw std::invalid_argument(fmt::format("field 'curves.{}': must be a text", field));
    const auto text = value.get<std::string>();
    const auto found = std::ranges::find(words, text);
    if (found == words.end()) throwUnknownName(fmt::format("field 'curves.{}':", field), text, words);
    return static_cast<std::size_t>(found - words.begin());
}

} // namespace

void RaceCurves::gather(const RaceRun& run, std::size_t lane, Curve& curve) const {
    curve.x.clear();
    curve.y.clear();
    const Telemetry& telemetry = run.lanes[lane].telemetry;
    if (show_ == trainLoss) {
        for (const LossPoint& point : telemetry.losses()) {
            curve.x.push_back(by_ == byStep ? static_cast<double>(point.step) : point.seconds);
            curve.y.push_back(static_cast<double>(point.loss));
        }
        return;
    }
    for (const auto& [step, accuracy] : accuracies(run, lane)) {
        curve.x.push_back(by_ == byStep ? static_cast<double>(step) : secondsAt(telemetry, step));
        curve.y.push_back(100 * accuracy);
    }
}

void RaceCurves::addLines(Ui& ui, const RaceRun& run, bool faint, std::vector<Curve>& curves,
                          std::vector<PlotLine>& lines) const {
    constexpr std::size_t fewPoints = 40;
    curves.resize(run.lanes.size());
    std::vector<LaneSpec> specs;
    for (const LaneResult& lane : run.lanes) specs.push_back(lane.spec);
    for (std::size_t i = 0; i < specs.size(); ++i) {
        gather(run, i, curves[i]);
        if (curves[i].x.empty()) continue;
        PlotLine line;
        line.name = specs[i].text();
        if (std::ranges::count(specs, specs[i]) > 1) line.name += fmt::format(" ({})", i + 1);
        line.colour = laneColour(ui, specs, i);
        line.dashed = specs[i].gpu;
        line.faint = faint;
        line.x = curves[i].x;
        line.y = curves[i].y;
        line.points = show_ == testAccuracy && curves[i].x.size() <= fewPoints;
        lines.push_back(std::move(line));
    }
}

void RaceCurves::drawSwitches(Ui& ui, const RaceRun* run) {
    ui.segments("##race curve by", by_, byNames);
    ImGui::SameLine(0, ui.px(18));
    ui.segments("##race curve of", show_, showNames);
    if (run != nullptr) drawAgreement(ui, *run);
}

void RaceCurves::draw(Ui& ui, const RaceRun* run, const RaceRun* earlier, ImVec2 size) {
    const float top = ImGui::GetCursorPosY();
    drawSwitches(ui, run);
    std::vector<PlotLine> lines;
    if (earlier != nullptr) addLines(ui, *earlier, true, before_, lines);
    if (run != nullptr) addLines(ui, *run, false, now_, lines);
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
    const std::size_t by = indexOf(state, "by", byWords);
    const std::size_t show = indexOf(state, "show", showWords);
    if (state.contains("plot")) plot_.setState(state["plot"]);
    by_ = by;
    show_ = show;
}

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
    Detail detail;
    detail.title = same ? "Same mathematics" : "Different mathematics";
    detail.formula = "|a - b| / max(|a|, |b|)";
    for (const LaneResult& lane : run.lanes)
        if (lane.agreement.steps > 0)
            detail.values.emplace_back(lane.spec.text(),
                                       fmt::format("{:.1g}", lane.agreement.largestDifference));
    detail.text = fmt::format(
        "The largest relative difference between the losses of the same step, over the first "
        "{} steps. The first {} have to agree within {:.0g} ({:.0g} where a lane computes in half "
        "precision); else a lane's speed is not compared.",
        Telemetry::openingSteps, Agreement::decisiveSteps, Agreement::floatTolerance,
        Agreement::halfTolerance);
    ui.detail(std::move(detail));
}

} // namespace lockstep::demos
