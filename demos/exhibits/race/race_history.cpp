#include "demos/exhibits/race/race_history.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/exhibits/race/race_model.h"
#include "demos/words/text.h"
#include "engine/files/json_field.h"

namespace lockstep::demos {

namespace {

using PastJson = nlohmann::ordered_json;

constexpr std::size_t mostSamples = 256;            // of a saved curve: more than a plot's width tells apart
constexpr std::uint64_t mostNumber = 1'000'000'000; // later races count on
constexpr std::size_t longestText = 200;            // characters of a result or a note

/// Training seconds of a step, by the losses kept around it.
double secondsAt(const Telemetry& telemetry, std::uint64_t step) {
    const std::vector<LossPoint>& losses = telemetry.losses();
    const auto after = std::ranges::lower_bound(losses, step, {}, &LossPoint::step);
    if (after != losses.end()) return after->seconds;
    return losses.empty() ? 0 : losses.back().seconds;
}

void addSample(RunCurve& curve, std::uint64_t step, double seconds, double value) {
    curve.step.push_back(static_cast<double>(step));
    curve.seconds.push_back(seconds);
    curve.value.push_back(value);
}

RunCurve lossesOf(const Telemetry& telemetry) {
    RunCurve curve;
    for (const LossPoint& point : telemetry.losses())
        addSample(curve, point.step, point.seconds, static_cast<double>(point.loss));
    return curve;
}

/// What the telemetry has of every epoch, and what was seen in between.
RunCurve accuraciesOf(const RaceRun& run, std::size_t lane) {
    const Telemetry& telemetry = run.lanes[lane].telemetry;
    std::map<std::uint64_t, double> byStep = run.accuracies[lane];
    for (const EpochPoint& epoch : telemetry.epochs())
        if (!std::isnan(epoch.testAccuracy))
            byStep.try_emplace(epoch.epoch * run.job.order().stepsPerEpoch(), epoch.testAccuracy);
    RunCurve curve;
    for (const auto& [step, accuracy] : byStep)
        addSample(curve, step, secondsAt(telemetry, step), 100 * accuracy);
    return curve;
}

PastJson curveJson(const RunCurve& curve) {
    PastJson step = PastJson::array(), seconds = step, value = step;
    const std::size_t every = std::max<std::size_t>(1, (curve.step.size() + mostSamples - 1) / mostSamples);
    for (std::size_t i = 0; i < curve.step.size(); i += every) {
        if (!std::isfinite(curve.value[i])) continue; // JSON has no such numbers
        step.push_back(curve.step[i]);
        seconds.push_back(curve.seconds[i]);
        value.push_back(curve.value[i]);
    }
    return {{"step", step}, {"seconds", seconds}, {"value", value}};
}

RunCurve curveFrom(const PastJson& lane, const char* field) {
    const PastJson& json = jsonField(lane, field);
    using Numbers = std::vector<double>;
    RunCurve curve{jsonValue<Numbers>(json, "step"), jsonValue<Numbers>(json, "seconds"),
                   jsonValue<Numbers>(json, "value")};
    const auto rising = [](const Numbers& numbers) {
        return std::ranges::is_sorted(numbers) && (numbers.empty() || numbers.front() >= 0);
    };
    const std::size_t count = curve.step.size();
    if (count > mostSamples || curve.seconds.size() != count || curve.value.size() != count ||
        !rising(curve.step) || !rising(curve.seconds))
        throw std::invalid_argument(fmt::format("the field '{}' must have at most {} steps in ascending "
                                                "order, and as many seconds and values",
                                                field, mostSamples));
    return curve;
}

PastRun runFrom(const PastJson& json) {
    PastRun run;
    run.number = jsonValue<std::uint64_t>(json, "number");
    if (run.number > mostNumber)
        throw std::invalid_argument(fmt::format("the field 'number' must be at most {}", mostNumber));
    run.settings = raceSettingsFromJson(jsonField(json, "settings"));
    run.result = cut(jsonValue<std::string>(json, "result"), longestText);
    run.note = cut(jsonValue<std::string>(json, "note"), longestText);
    const PastJson& lanes = jsonField(json, "lanes");
    if (!lanes.is_array() || lanes.empty() || lanes.size() > mostLanes)
        throw std::invalid_argument(fmt::format("the field 'lanes' must be a list of 1 to {}", mostLanes));
    for (const PastJson& lane : lanes) {
        run.lanes.push_back({laneSpecFromText(jsonValue<std::string>(lane, "lane")),
                             jsonValue<double>(lane, "samples_per_second"), curveFrom(lane, "losses"),
                             curveFrom(lane, "accuracies")});
        if (run.lanes.back().rate < 0)
            throw std::invalid_argument("the field 'samples_per_second' must not be negative");
    }
    return run;
}

} // namespace

std::vector<PastLane> pastLanes(const RaceRun& run) {
    std::vector<PastLane> lanes;
    const std::vector<LaneFigures> figures = run.figures();
    for (std::size_t i = 0; i < run.lanes.size(); ++i)
        lanes.push_back(
            {run.lanes[i].spec, figures[i].rate, lossesOf(run.lanes[i].telemetry), accuraciesOf(run, i)});
    return lanes;
}

PastRun pastRun(const RaceRun& run) {
    std::string result = run.headline.valid ? verdict(run.lanes, run.headline) : shownReason(run.headline);
    if (run.finished.size() > 1) result += translatedFormat(", {} runs", run.finished.size());
    return {run.number, run.settings, result, "", pastLanes(run)};
}

PastJson historyJson(std::span<const PastRun> runs) {
    PastJson json = PastJson::array();
    for (const PastRun& run : runs) {
        PastJson lanes = PastJson::array();
        for (const PastLane& lane : run.lanes)
            lanes.push_back({{"lane", lane.spec.text()},
                             {"samples_per_second", lane.rate},
                             {"losses", curveJson(lane.losses)},
                             {"accuracies", curveJson(lane.accuracies)}});
        json.push_back({{"number", run.number},
                        {"settings", toJson(run.settings)},
                        {"result", run.result},
                        {"note", run.note},
                        {"lanes", lanes}});
    }
    return json;
}

std::vector<PastRun> historyFromJson(const PastJson& json) {
    if (!json.is_array() || json.size() > mostPastRuns)
        throw std::invalid_argument(
            fmt::format("the field 'history' must be a list of at most {} runs", mostPastRuns));
    std::vector<PastRun> runs;
    for (const PastJson& entry : json) {
        try {
            PastRun run = runFrom(entry);
            if (run.number <= (runs.empty() ? 0 : runs.back().number))
                throw std::invalid_argument("the field 'number' must be above the one before");
            runs.push_back(std::move(run));
        } catch (const std::invalid_argument& error) {
            throw std::invalid_argument(
                fmt::format("the field 'history', entry {}: {}", runs.size() + 1, error.what()));
        }
    }
    return runs;
}

PickedRuns pickedRuns(std::span<const PastRun> runs, const RunPick& pick, std::uint64_t current,
                      std::string_view data) {
    const auto numbered = [runs](std::uint64_t number) -> const PastRun* {
        const auto found = std::ranges::find(runs, number, &PastRun::number);
        return found == runs.end() ? nullptr : &*found;
    };
    PickedRuns picked;
    std::uint64_t front = pick.front;
    if (numbered(front) == nullptr) front = current == 0 && !runs.empty() ? runs.back().number : current;
    if (front != current) picked.front = numbered(front);
    if (const PastRun* shown = numbered(front)) data = shown->settings.run.data;
    if (pick.behind)
        picked.behind = numbered(*pick.behind);
    else
        for (const PastRun& run : runs) // losses on other data would say nothing
            if (run.number < front && (data.empty() || run.settings.run.data == data)) picked.behind = &run;
    if (picked.behind != nullptr && picked.behind->number == front) picked.behind = nullptr;
    return picked;
}

} // namespace lockstep::demos
