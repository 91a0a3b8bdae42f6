#include "demos/report/race_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/words/text.h"
#include "engine/run/settings_json.h"

namespace lockstep::demos {

namespace {

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

Json laneJson(const LaneResult& result, std::size_t classes) {
    const LaneSnapshot& end = result.end;
    const auto textOrNull = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
    Json json = {{"lane", result.spec.text()},
                 {"device", textOrNull(result.machine.device)},
                 {"software", result.machine.software},
                 {"threads", result.machine.threads},
                 {"gpu", result.machine.gpu},
                 {"driver", textOrNull(result.machine.driver)},
                 {"kernels", result.machine.kernels},
                 {"status", name(end.status)},
                 {"message", textOrNull(end.message)},
                 {"step", end.step},
                 {"steps", stepsJson(result.telemetry)},
                 {"log_every", result.telemetry.stride()},
                 {"epochs", epochsJson(result.telemetry)},
                 {"seconds", end.trainingSeconds},
                 {"device_seconds", end.deviceSeconds},
                 {"skipped_steps", result.skippedSteps},
                 {"warm_up_seconds", end.warmUpSeconds},
                 {"evaluation_seconds", end.evaluationSeconds},
                 {"samples_per_second", end.rate()},
                 {"gflops", result.gflops},
                 {"operations", operationsJson(result.operations)},
                 {"test", evaluationJson(result.evaluation, classes)},
                 {"agreement", agreementJson(result.agreement)}};
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

Json headlineJson(const Headline& headline, const std::vector<LaneResult>& results, bool together) {
    const auto ifValid = [&headline](const Json& value) { return headline.valid ? value : Json(); };
    return {{"text", headline.text},
            {"faster", ifValid(results[headline.faster].spec.text())},
            {"slower", ifValid(results[headline.slower].spec.text())},
            {"ratio", ifValid(headline.ratio)},
            {"measured_by", ifValid(headline.bySeconds ? "seconds" : "samples_per_second")},
            {"time_trial", !together}};
}

} // namespace

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
    return {{"name", data.name},     {"train", data.train.count}, {"test", data.test.count},
            {"inputs", data.inputs}, {"classes", data.classes},   {"class_names", data.classNames}};
}

Json raceJson(const TrainJob& job, const FinishLine& finish, bool together,
              const std::vector<LaneResult>& results, const Headline& headline) {
    Json settings = toJson(job.settings);
    settings["finish"] = finishJson(finish);
    settings["together"] = together;
    Json lanes = Json::array();
    for (const LaneResult& result : results) lanes.push_back(laneJson(result, job.data->classes));
    return {{"data", dataJson(*job.data)},
            {"net", toJson(job.shape)},
            {"settings", settings},
            {"lanes", lanes},
            {"headline", headlineJson(headline, results, together)}};
}

std::string raceCsv(const std::vector<LaneResult>& results) {
    std::string text = "lane,step,loss,seconds\n";
    for (const LaneResult& result : results) {
        const std::string lane = csvField(result.spec.text());
        for (const LossPoint& point : result.telemetry.losses())
            text += fmt::format("{},{},{},{:.6f}\n", lane, point.step, point.loss, point.seconds);
    }
    return text;
}

} // namespace lockstep::demos
