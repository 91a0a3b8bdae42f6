#include "demos/report/race_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "demos/words/lane_text.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t widest = 110;

std::string whatRan(const LaneResult& result, std::size_t laneWidth) {
    std::string lines = ranWhere(result.spec, result.machine, laneWidth);
    if (result.machine.device.empty()) return lines;
    if (result.skippedSteps > 0)
        lines += fmt::format("{:{}}  gradients overflowed in {} steps, which were skipped\n", "", laneWidth,
                             grouped(result.skippedSteps));
    return lines + fmt::format("{:{}}  not included: {:.3f} s warm-up, {:.3f} s evaluation\n", "", laneWidth,
                               result.end.warmUpSeconds, result.end.evaluationSeconds);
}

std::vector<std::string> numbers(const LaneResult& result, std::size_t deviceWidth) {
    const LaneSnapshot& end = result.end;
    const Evaluation* test = result.evaluation ? &*result.evaluation : nullptr;
    return {result.spec.text(),
            result.machine.device.empty() ? "-" : honestDevice(result.machine, deviceWidth),
            grouped(end.runSteps),
            fixed(end.trainingSeconds, 3),
            fixed(end.deviceSeconds, 3),
            grouped(static_cast<std::uint64_t>(end.rate())),
            threeDigits(result.gflops),
            lossText(test ? test->loss : LaneSnapshot::unknown),
            percent(test ? test->accuracy : LaneSnapshot::unknown)};
}

/// The table of results, with device names cut to `deviceWidth`.
std::string numbersTable(const std::vector<LaneResult>& results, std::size_t deviceWidth) {
    std::vector<std::vector<std::string>> rows = {
        {"lane", "device", "steps", "seconds", "device s", "samples/s", "GFLOP/s", "test loss", "accuracy"}};
    for (const LaneResult& result : results) rows.push_back(numbers(result, deviceWidth));
    return table(rows, 2);
}

std::size_t longestDevice(const std::vector<LaneResult>& results) {
    std::size_t longest = 0;
    for (const LaneResult& result : results) longest = std::max(longest, honestDevice(result.machine).size());
    return longest;
}

std::string howItEnded(const LaneResult& result) {
    if (result.end.status == LaneStatus::finished) return {};
    const std::string reason = result.end.message.empty() ? "" : ": " + result.end.message;
    return wrapped(fmt::format("{} {} at step {}{}", result.spec.text(), name(result.end.status),
                               grouped(result.end.step), reason)) +
           "\n";
}

} // namespace

std::string jobText(const TrainJob& job, const FinishLine& finish) {
    const Dataset& data = *job.data;
    const NetShape& shape = job.shape;
    const TrainSettings& settings = job.settings;
    return fmt::format("{}: {} training and {} test examples; {} {}, {}, {} parameters\n"
                       "{} {:g}, batch {}, seed {}{}; until {}\n",
                       data.name, grouped(data.train.count), grouped(data.test.count), shape.describeWidths(),
                       name(shape.activation), name(shape.loss), grouped(shape.parameters()),
                       name(settings.optimizer.kind), settings.optimizer.effectiveLearningRate(),
                       settings.batch, settings.seed, settings.shuffle ? "" : ", file order", finish.text());
}

std::string resultText(const std::vector<LaneResult>& results, bool together) {
    std::string text = numbersTable(results, widest);
    const std::size_t width = text.find('\n');
    const std::size_t device = longestDevice(results);
    if (width > widest) text = numbersTable(results, device - std::min(width - widest, device));
    if (together)
        text += "head to head: the lanes ran at once and competed for the machine; for a measurement, omit "
                "--together\n";
    text += "\n";
    std::size_t laneWidth = 0;
    for (const LaneResult& result : results) laneWidth = std::max(laneWidth, result.spec.text().size());
    for (const LaneResult& result : results) text += whatRan(result, laneWidth);
    for (const LaneResult& result : results) text += howItEnded(result);
    return text;
}

} // namespace lockstep::demos
