#include "engine/run/race.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace lockstep {

double lossTolerance(const LaneSpec& spec) {
    return spec.row().half ? Agreement::halfTolerance : Agreement::floatTolerance;
}

Agreement compareLosses(const std::vector<float>& reference, const std::vector<float>& other,
                        double tolerance) {
    Agreement result;
    result.tolerance = tolerance;
    result.steps = std::min(reference.size(), other.size());
    bool agreed = true;
    bool exact = true;
    for (std::size_t step = 0; step < result.steps; ++step) {
        const auto a = static_cast<double>(reference[step]);
        const auto b = static_cast<double>(other[step]);
        double difference = a == b ? 0 : std::abs(a - b) / std::max(std::abs(a), std::abs(b));
        if (std::isnan(difference)) difference = std::numeric_limits<double>::infinity();
        result.largestDifference = std::max(result.largestDifference, difference);
        if (step < Agreement::decisiveSteps) result.early = std::max(result.early, difference);
        agreed = agreed && difference <= tolerance;
        exact = exact && difference <= Agreement::rounding;
        result.agreedSteps += agreed ? 1 : 0;
        result.exactSteps += exact ? 1 : 0;
    }
    return result;
}

void addAgreements(std::vector<LaneResult>& results, const PrecisionSettings& precision) {
    // The first CPU lane of floats, else the first of floats, else any.
    const auto rank = [](const LaneResult& result) {
        if (result.telemetry.opening().empty()) return 3;
        return result.spec.row().half ? 2 : result.spec.gpu ? 1 : 0;
    };
    const auto reference = std::ranges::min_element(results, {}, rank);
    if (reference == results.end() || rank(*reference) == 3) return;
    const double ofFormat = precision.rounds() ? Agreement::halfTolerance : Agreement::floatTolerance;
    for (LaneResult& result : results)
        result.agreement =
            compareLosses(reference->telemetry.opening(), result.telemetry.opening(),
                          std::max({ofFormat, lossTolerance(reference->spec), lossTolerance(result.spec)}));
}

Race::Race(const TrainJob& job, std::vector<RaceEntry> entries, RaceOptions options)
    : job_(job), entries_(std::move(entries)), options_(std::move(options)) {
    if (entries_.empty()) throw std::invalid_argument("a race needs at least one lane");
    if (options_.lane.finish == FinishLine{})
        throw std::invalid_argument("a race needs a finish line (epochs, steps, seconds, ...)");
    for (const RaceEntry& entry : entries_)
        lanes_.push_back(std::make_unique<Lane>(entry.spec.text(), job_, entry.make, options_.lane));
}

void Race::start() { advance(); }

bool Race::advance() {
    const auto over = [](const auto& lane) { return lane->snapshot().over(); };
    const auto mayStart = [&] { return options_.together || started_ == 0 || over(lanes_[started_ - 1]); };
    while (!stopped_ && started_ < lanes_.size() && mayStart()) {
        Lane& lane = *lanes_[started_++];
        if (!lane.snapshot().over()) lane.start();
    }
    return !std::ranges::all_of(lanes_, over);
}

bool Race::waitFor(std::chrono::milliseconds limit) {
    using SteadyClock = std::chrono::steady_clock;
    const auto end = SteadyClock::now() + limit;
    while (advance()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - SteadyClock::now());
        if (left.count() <= 0) return false;
        // Only the running lane can change what advance() does. An hour is a time limit that any clock can
        // represent.
        const auto running =
            std::ranges::find_if(lanes_, [](auto& lane) { return !lane->snapshot().over(); });
        if (running == lanes_.end()) continue; // it has just ended; advance() decides what comes next
        (*running)->waitFor(std::min<std::chrono::milliseconds>(left, std::chrono::hours(1)));
    }
    return true;
}

void Race::stop() {
    stopped_ = true;
    for (const auto& lane : lanes_) lane->stop();
}

std::vector<LaneResult> Race::results() {
    std::vector<LaneResult> results;
    for (std::size_t index = 0; index < lanes_.size(); ++index) {
        Lane& lane = *lanes_[index];
        LaneResult result{.spec = entries_[index].spec,
                          .machine = lane.machine(),
                          .end = lane.snapshot(),
                          .telemetry = lane.telemetry(),
                          .evaluation = lane.evaluation()};
        if (result.end.evaluatedStep != result.end.step) result.evaluation.reset();
        if (Trainer* trainer = lane.trainer()) {
            result.operations = trainer->operations();
            result.predictedMemory = trainer->predictedMemory();
            result.memory = trainer->memory();
            result.skippedSteps = trainer->skippedSteps();
        }
        result.gflops = result.end.rate() * job_.shape.flopsPerExample() * 1e-9;
        results.push_back(std::move(result));
    }
    addAgreements(results, job_.settings.precision);
    return results;
}

} // namespace lockstep
