#include "demos/report/race_report.h"

#include <cmath>
#include <exception>
#include <new>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/words/table_words.h"
#include "demos/words/text.h"
#include "engine/run/settings_json.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t widest = 110;

/// Columns are too narrow for a limit of workgroups: throttledLanes() stands below the table.
MachineInfo inTable(MachineInfo machine) {
    machine.workgroups = 0;
    return machine;
}

/// "throttled: cpu:best (1 of 2 threads), gpu:best (at most 8 workgroups at once)"; empty if none is.
std::string throttledLanes(const std::vector<LaneResult>& results) {
    std::string text;
    for (const LaneResult& result : results)
        if (result.machine.throttled())
            text += fmt::format("{}{} ({})", text.empty() ? "throttled: " : ", ", result.spec.text(),
                                shareText(result.machine));
    return text.empty() ? text : wrapped(text, widest) + "\n";
}

/// The table of results, with device names cut to `deviceWidth`.
std::string numbersTable(const std::vector<LaneResult>& results, const std::vector<LaneFigures>& figures,
                         std::size_t deviceWidth) {
    std::vector<std::vector<std::string>> rows = figureRows(figures);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const LaneResult* lane = row > 0 ? &results[row - 1] : nullptr;
        const std::string device = lane == nullptr ? "device"
                                   : lane->machine.device.empty()
                                       ? "-"
                                       : honestDevice(inTable(lane->machine), deviceWidth);
        rows[row].insert(rows[row].begin(), {lane == nullptr ? "lane" : lane->spec.text(), device});
    }
    return table(rows, 2);
}

std::size_t longestDevice(const std::vector<LaneResult>& results) {
    std::size_t longest = 0;
    for (const LaneResult& result : results)
        longest = std::max(longest, honestDevice(inTable(result.machine)).size());
    return longest;
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

Json headlineJson(const Headline& headline, const LaneSpec& faster, const LaneSpec& slower,
                  const char* measuredBy) {
    const auto ifValid = [&headline](const Json& value) { return headline.valid ? value : Json(); };
    return {{"text", headline.text},
            {"comparable", headline.valid},
            {"reason", headline.valid ? Json() : Json(reasonOf(headline))},
            {"faster", ifValid(faster.text())},
            {"slower", ifValid(slower.text())},
            {"ratio", ifValid(headline.ratio)},
            {"measured_by", ifValid(measuredBy)}};
}

std::string jobText(const TrainJob& job, const FinishLine& finish) {
    const Dataset& data = *job.data;
    const NetShape& shape = job.shape;
    const TrainSettings& settings = job.settings;
    return understoodText(data) +
           fmt::format("{}: {} training and {} test examples; {} {}, {}, {} parameters\n"
                       "{} {:g}, batch {}, seed {}{}; until {}\n",
                       data.name, grouped(data.train.count), grouped(data.test.count), shape.describeWidths(),
                       name(shape.activation), name(shape.loss), grouped(shape.parameters()),
                       name(settings.optimizer.kind), settings.optimizer.effectiveLearningRate(),
                       settings.batch, settings.seed, settings.shuffle ? "" : ", file order", finish.text());
}

int secondsDecimals(double least) {
    int decimals = 3;
    if (!(least > 0)) return decimals;
    for (; least < 0.1 && decimals < 6; least *= 10) ++decimals;
    return decimals;
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
    std::string text = numbersTable(results, figures, widest);
    const std::size_t width = text.find('\n');
    const std::size_t device = longestDevice(results);
    if (width > widest) text = numbersTable(results, figures, device - std::min(width - widest, device));
    text += throttledLanes(results);
    if (together)
        text += "head to head: the lanes ran at once and competed for the machine; for a measurement, omit "
                "--together\n";
    text += "\n";
    std::size_t laneWidth = 0;
    for (const LaneResult& result : results) laneWidth = std::max(laneWidth, result.spec.text().size());
    for (std::size_t lane = 0; lane < results.size(); ++lane)
        text += whatRan(reportOf(results[lane], figures[lane]), laneWidth, "not included",
                        results[lane].skippedSteps);
    for (std::size_t lane = 0; lane < results.size(); ++lane)
        text += howItEnded(reportOf(results[lane], figures[lane]),
                           fmt::format("at step {}", grouped(results[lane].end.step)));
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

nlohmann::ordered_json laneJson(const LaneReport& lane) {
    const auto textOrNull = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
    return {{"lane", lane.spec.text()},
            {"device", textOrNull(lane.machine.device)},
            {"software", lane.machine.software},
            {"threads", lane.machine.threads},
            {"gpu", lane.machine.gpu},
            {"driver", textOrNull(lane.machine.driver)},
            {"kernels", textOrNull(lane.machine.kernels)},
            {"status", name(lane.end.status)},
            {"message", textOrNull(lane.end.message)}};
}

std::string whatRan(const LaneReport& lane, std::size_t laneWidth, const char* leftOut,
                    std::uint64_t skippedSteps) {
    const MachineInfo& machine = lane.machine;
    std::string text = fmt::format("{:<{}}  ", lane.spec.text(), laneWidth);
    if (machine.device.empty()) return text + "did not start\n";
    text += machine.device;
    if (machine.software) text += ", software, not a GPU";
    const std::string part = shareText(machine);
    if (!machine.gpu) text += ", " + part;
    if (!machine.driver.empty()) text += ", driver " + machine.driver;
    const std::string nextLine = "\n" + std::string(laneWidth + 2, ' ');
    text += nextLine + machine.kernels;
    if (machine.gpu && !part.empty()) text += nextLine + "throttled: " + part;
    if (skippedSteps > 0)
        text += fmt::format("{}gradients overflowed in {} steps, which were skipped", nextLine,
                            grouped(skippedSteps));
    if (lane.end.extraSeconds > 0)
        text += fmt::format("{}to the finish line {:.{}f} s; short, so it was timed beyond: {:.2f} s in all",
                            nextLine, lane.end.trainingSeconds, secondsDecimals(lane.end.trainingSeconds),
                            lane.end.timedSeconds());
    return text + fmt::format("{}{}: {:.3f} s warm-up, {:.3f} s evaluation\n", nextLine, leftOut,
                              lane.end.warmUpSeconds, lane.end.evaluationSeconds);
}

std::string howItEnded(const LaneReport& lane, const std::string& where) {
    if (lane.end.status == LaneStatus::finished) return {};
    const std::string reason = lane.end.message.empty() ? "" : ": " + lane.end.message;
    return wrapped(fmt::format("{} {} {}{}", lane.spec.text(), name(lane.end.status), where, reason)) + "\n";
}

void runOrFail(LaneReport& lane, const char* smaller, const std::function<void()>& work) {
    try {
        work();
    } catch (const std::bad_alloc&) {
        lane.end.status = LaneStatus::failed;
        lane.end.message = fmt::format("out of memory; try {}", smaller);
    } catch (const std::exception& error) {
        lane.end.status = LaneStatus::failed;
        lane.end.message = error.what();
    }
}

} // namespace lockstep::demos
