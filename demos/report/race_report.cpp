#include "demos/report/race_report.h"
#include "demos/report/memory_report.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/words/table_words.h"
#include "demos/words/text.h"
#include "engine/plan/rounding.h"
#include "engine/run/settings_json.h"

namespace lockstep::demos {

namespace {

/// "throttled: cpu:best (1 of 2 threads), gpu:best (at most 8 workgroups at once)"; empty if none is.
std::string throttledLanes(const std::vector<LaneResult>& results) {
    std::string text;
    for (const LaneResult& result : results)
        if (result.machine.throttled())
            text += fmt::format("{}{} ({})", text.empty() ? "throttled: " : ", ", result.spec.text(),
                                shareText(result.machine));
    return text.empty() ? text : wrapped(text) + "\n";
}

LaneReport reportOf(const LaneResult& result, const LaneFigures& figures) {
    LaneReport report{result.spec, result.machine, result.end};
    report.end.warmUpSeconds = figures.warmUpSeconds;
    report.end.evaluationSeconds = figures.evaluationSeconds;
    report.end.trainingSeconds = figures.seconds;
    report.end.extraSeconds = figures.timedSeconds - figures.seconds;
    return report;
}

using Json = nlohmann::ordered_json; // keeps keys in the order written here

Json stepsJson(const Telemetry& telemetry) {
    Json steps = Json::array();
    for (const LossPoint& point : telemetry.losses())
        steps.push_back({{"step", point.step}, {"loss", point.loss}, {"seconds", point.seconds}});
    return steps;
}

Json epochsJson(const Telemetry& telemetry) {
    Json epochs = Json::array();
    for (const EpochPoint& point : telemetry.epochs())
        epochs.push_back({{"epoch", point.epoch},
                          {"train_loss", point.trainLoss},
                          {"test_loss", point.testLoss},
                          {"test_accuracy", point.testAccuracy},
                          {"seconds", point.seconds}});
    return epochs;
}

Json operationsJson(const std::vector<OperationTiming>& timings) {
    Json operations = Json::array();
    for (const OperationTiming& timing : timings)
        operations.push_back({{"name", timing.name},
                              {"milliseconds", timing.milliseconds},
                              {"calls", timing.calls},
                              {"flops", timing.flops},
                              {"bytes", timing.bytes}});
    return operations;
}

Json agreementJson(const Agreement& agreement) {
    return {{"steps", agreement.steps},
            {"agreed_steps", agreement.agreedSteps},
            {"largest_relative_difference", agreement.largestDifference},
            {"tolerance", agreement.tolerance},
            {"same", agreement.same()}};
}

Json laneJson(const LaneResult& result, const LaneFigures& figures, std::size_t classes) {
    Json json = laneJson(reportOf(result, figures));
    const auto limit = [](std::size_t count) { return count > 0 ? Json(count) : Json(); };
    json.update({{"of_threads", limit(result.machine.ofThreads)},
                 {"gpu_workgroups", limit(result.machine.workgroups)},
                 {"step", result.end.step},
                 {"steps", stepsJson(result.telemetry)},
                 {"log_every", result.telemetry.stride()},
                 {"epochs", epochsJson(result.telemetry)},
                 {"seconds", figures.seconds},
                 {"timed_seconds", figures.timedSeconds},
                 {"device_seconds", figures.deviceSeconds},
                 {"skipped_steps", result.skippedSteps},
                 {"watts", figures.watts},
                 {"warm_up_seconds", figures.warmUpSeconds},
                 {"evaluation_seconds", figures.evaluationSeconds},
                 {"samples_per_second", figures.rate},
                 {"gflops", figures.gflops},
                 {"operations", operationsJson(result.operations)},
                 {"test", evaluationJson(result.evaluation, classes)},
                 {"agreement", agreementJson(result.agreement)}});
    if (result.int8) json["int8"] = evaluationJson(result.int8, classes);
    return json;
}

Json finishJson(const FinishLine& finish) {
    const auto orNull = [](auto value) { return value > 0 ? Json(value) : Json(); };
    return {{"epochs", orNull(finish.epochs)},
            {"steps", orNull(finish.steps)},
            {"seconds", orNull(finish.seconds)},
            {"accuracy", orNull(finish.accuracy)},
            {"loss", orNull(finish.loss)}};
}

} // namespace

std::string jobText(const TrainJob& job, const FinishLine& finish) {
    const Dataset& data = *job.data;
    const NetShape& shape = job.shape;
    const TrainSettings& settings = job.settings;
    std::string saving;
    if (settings.precision.rounds()) saving += ", operands in " + emulationText(settings.precision);
    if (settings.precision.wide()) saving += ", computed in fp64";
    for (const std::string& each : savingTexts(settings.memory)) saving += ", " + each;
    return understoodText(data) +
           fmt::format("{}: {} training and {} test examples; {} {}, {}, {} parameters\n"
                       "{} {:g}, batch {}, seed {}{}{}; until {}\n",
                       data.name, grouped(data.train.count), grouped(data.test.count), shape.describeWidths(),
                       name(shape.activation), name(shape.loss), grouped(shape.parameters()),
                       name(settings.optimizer.kind), settings.optimizer.effectiveLearningRate(),
                       settings.batch, settings.seed, settings.shuffle ? "" : ", file order", saving,
                       finish.text());
}

std::string int8Text(const std::vector<LaneResult>& results) {
    const auto text = [](const Evaluation& evaluation) {
        return std::isnan(evaluation.accuracy) ? "loss " + fixed(evaluation.loss, 4)
                                               : percent(evaluation.accuracy);
    };
    std::string lines;
    for (const LaneResult& result : results)
        if (result.int8 && result.evaluation)
            lines += fmt::format("{}, evaluated in int8: {} (fp32: {})\n", result.spec.text(),
                                 text(*result.int8), text(*result.evaluation));
    return lines;
}

std::string emulationRemark(const PrecisionSettings& precision) {
    if (!precision.rounds()) return {};
    return fmt::format(
        "{0} is emulated: products read numbers that {0} has, stored as fp32; times are not those of "
        "hardware for {0}. Evaluations compute in fp32\n",
        name(precision.format));
}

std::string TimeColumn::text(double seconds) const {
    return decimals < 0 ? threeDigits(1e3 * seconds) : fixed(seconds, decimals);
}

TimeColumn timeColumn(const std::vector<LaneFigures>& figures) {
    if (std::ranges::any_of(figures, &LaneFigures::timedBeyond))
        return {"ms/step", "device ms", &LaneFigures::secondsPerStep, &LaneFigures::deviceSecondsPerStep, -1};
    double least = 1;
    for (const LaneFigures& lane : figures)
        if (lane.seconds > 0) least = std::min(least, lane.seconds);
    return {"seconds", "device s", &LaneFigures::seconds, &LaneFigures::deviceSeconds,
            secondsDecimals(least)};
}

std::vector<std::vector<std::string>> figureRows(const std::vector<LaneFigures>& figures) {
    const TimeColumn time = timeColumn(figures);
    std::vector<std::vector<std::string>> rows{
        {"steps", time.title, time.deviceTitle, "samples/s", "GFLOP/s", "test loss", "accuracy"}};
    const auto whole = [](double value) { return grouped(static_cast<std::uint64_t>(std::round(value))); };
    for (const LaneFigures& lane : figures)
        rows.push_back({whole(lane.steps), time.text(lane.*time.figure), time.text(lane.*time.deviceFigure),
                        whole(lane.rate), threeDigits(lane.gflops), lossText(lane.testLoss),
                        percent(lane.testAccuracy)});
    return rows;
}

std::string resultText(const std::vector<LaneResult>& results, const std::vector<LaneFigures>& figures,
                       bool together) {
    std::vector<LaneReport> lanes;
    lanes.reserve(results.size());
    for (std::size_t lane = 0; lane < results.size(); ++lane)
        lanes.push_back(reportOf(results[lane], figures[lane]));
    std::string text = laneTable(lanes, figureRows(figures));
    text += throttledLanes(results);
    if (together)
        text += "head to head: the lanes ran at once and competed for the machine; for a measurement, omit "
                "--together\n";
    text += "\n";
    const std::size_t laneWidth = longestName(lanes);
    for (std::size_t lane = 0; lane < results.size(); ++lane)
        text += whatRan(lanes[lane], laneWidth, "not included", results[lane].skippedSteps);
    for (const LaneReport& lane : lanes)
        text += howItEnded(lane, fmt::format("at step {}", grouped(lane.end.step)));
    return text;
}

Json evaluationJson(const std::optional<Evaluation>& evaluation, std::size_t classes) {
    if (!evaluation) return nullptr;
    Json rows = Json::array();
    for (std::size_t row = 0; row * classes < evaluation->confusion.size(); ++row) {
        const auto begin = evaluation->confusion.begin() + static_cast<std::ptrdiff_t>(row * classes);
        rows.push_back(std::vector<std::uint64_t>(begin, begin + static_cast<std::ptrdiff_t>(classes)));
    }
    return {{"loss", evaluation->loss},
            {"accuracy", evaluation->accuracy},
            {"count", evaluation->count},
            {"confusion", rows}};
}

Json dataJson(const Dataset& data) {
    Json json = {{"name", data.name},     {"train", data.train.count}, {"test", data.test.count},
                 {"inputs", data.inputs}, {"classes", data.classes},   {"class_names", data.classNames}};
    if (data.table) json["columns"] = toJson(*data.table);
    if (!data.notes.empty()) json["notes"] = data.notes;
    return json;
}

Json raceJson(const TrainJob& job, const FinishLine& finish, bool together,
              const std::vector<LaneResult>& results, const std::vector<LaneFigures>& figures,
              const Headline& headline) {
    Json settings = toJson(job.settings);
    settings["finish"] = finishJson(finish);
    settings["together"] = together;
    Json lanes = Json::array();
    for (std::size_t lane = 0; lane < results.size(); ++lane)
        lanes.push_back(laneJson(results[lane], figures[lane], job.data->classes));
    Json shown = headlineJson(headline, results[headline.faster].spec, results[headline.slower].spec,
                              headline.bySeconds ? "seconds" : "samples_per_second");
    shown["time_trial"] = !together;
    return {{"data", dataJson(*job.data)},
            {"net", toJson(job.shape)},
            {"settings", settings},
            {"lanes", lanes},
            {"headline", shown}};
}

std::string raceCsv(const std::vector<LaneResult>& results) {
    std::string text = "lane,step,loss,seconds\n";
    for (const LaneResult& result : results) {
        const std::string lane = csvField(result.spec.text());
        for (const LossPoint& point : result.telemetry.losses())
            text += fmt::format("{},{},{},{}\n", lane, point.step, point.loss, point.seconds);
    }
    return text;
}

} // namespace lockstep::demos
