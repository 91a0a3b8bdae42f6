#include "demos/commands/run_population.h"

#include <algorithm>

#include <fmt/format.h>

#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr double sliceMilliseconds = 100;
constexpr std::chrono::milliseconds betweenLooks{500};
constexpr int looksShare = 20; // looks at the losses take one part in so many of the time

double secondsSince(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Networks that diverged have no way left.
double shareDone(const PopulationJob& job, const PopulationSummary& summary) {
    const double steps =
        static_cast<double>(job.members.size() - summary.diverged) * static_cast<double>(job.steps);
    return steps > 0 ? std::min(static_cast<double>(summary.networkSteps) / steps, 1.0) : 1.0;
}

std::string numbersOf(const PopulationJob& job, const PopulationLaneResult& lane) {
    return fmt::format("{} of {} networks done  {} network-steps/s", grouped(lane.summary.finished),
                       grouped(job.members.size()), shortRate(lane.networkStepsPerSecond()));
}

} // namespace

PopulationRun::PopulationRun(const PopulationJob& job, const std::vector<LaneSpec>& lanes, Machines& machines,
                             PopulationRunOptions options)
    : job_(job), machines_(machines), options_(std::move(options)), lines_(options_.quiet) {
    for (const LaneSpec& spec : lanes) results_.emplace_back().spec = spec;
}

int PopulationRun::run() {
    interrupt_.emplace();
    for (PopulationLaneResult& lane : results_) runLane(lane);
    addAgreements(results_);
    const int exitCode = interrupt_->exitCode();
    interrupt_.reset();
    return exitCode;
}

void PopulationRun::runLane(PopulationLaneResult& lane) {
    runOrFail(lane, "fewer networks", [&] {
        lane.status = interrupted() ? LaneStatus::stopped : LaneStatus::preparing;
        preparation_ = "warms up";
        show();
        if (interrupted()) return;
        const auto population =
            makePopulation(job_, lane.spec, machines_.threads(), machines_.deviceOf(lane.spec));
        lane.machine = population->machine();
        lane.warmUpSeconds = population->warmUpSeconds();
        if (results_.size() > 1) trainOpening(*population, lane);
        train(*population, lane);
        conclude(*population, lane);
    });
    show();
}

void PopulationRun::trainOpening(Population& population, PopulationLaneResult& lane) {
    preparation_ = "trains its first steps, to be compared";
    show();
    for (const std::uint64_t steps : openingSteps(job_.steps)) {
        if (interrupted()) return;
        population.trainTo(steps);
        lane.opening.push_back({steps, population.results()});
    }
    population.reset();
}

void PopulationRun::train(Population& population, PopulationLaneResult& lane) {
    lane.status = LaneStatus::running;
    const double before = population.trainingSeconds();
    nextLook_ = Clock::now() + betweenLooks;
    bool more = true;
    while (more && !interrupted()) {
        more = population.advance(sliceMilliseconds);
        lane.trainingSeconds = population.trainingSeconds() - before;
        if (!options_.quiet && Clock::now() >= nextLook_) look(population, lane);
    }
    if (!more) population.trainTo(job_.steps); // waits for what is under way
    lane.trainingSeconds = population.trainingSeconds() - before;
    lane.status = more ? LaneStatus::stopped : LaneStatus::finished;
}

void PopulationRun::look(Population& population, PopulationLaneResult& lane) {
    const Clock::time_point start = Clock::now();
    lane.summary = population.summary();
    show();
    const Clock::duration took = Clock::now() - start;
    nextLook_ = Clock::now() + std::max<Clock::duration>(betweenLooks, took * looksShare);
}

void PopulationRun::conclude(Population& population, PopulationLaneResult& lane) {
    const Clock::time_point start = Clock::now();
    lane.members = population.results();
    lane.evaluationSeconds = secondsSince(start);
    lane.summary = summarise(job_, lane.members);
    lane.machine = population.machine();
    if (options_.maps) lane.maps = population.decisionMaps(*options_.maps);
}

LaneProgress PopulationRun::progressOf(const PopulationLaneResult& lane) const {
    LaneProgress progress;
    progress.title = lane.spec.text();
    progress.gpu = lane.spec.gpu;
    progress.status = lane.status;
    progress.begun = lane.summary.networkSteps > 0;
    if (lane.status == LaneStatus::waiting || lane.status == LaneStatus::preparing) {
        progress.brief = lane.status == LaneStatus::waiting ? "waits for its turn" : preparation_;
        progress.numbers = progress.brief;
        return progress;
    }
    progress.progress = shareDone(job_, lane.summary);
    progress.brief = numbersOf(job_, lane) + timeLeft(lane.status, lane.trainingSeconds, progress.progress);
    progress.numbers = progress.brief;
    if (lane.summary.diverged > 0)
        progress.numbers += fmt::format("  {} diverged", grouped(lane.summary.diverged));
    if (lane.status != LaneStatus::running) progress.numbers += fmt::format("  {}", name(lane.status));
    return progress;
}

void PopulationRun::show() {
    std::vector<LaneProgress> lanes;
    for (const PopulationLaneResult& lane : results_) lanes.push_back(progressOf(lane));
    lines_.show(lanes);
}

} // namespace lockstep::demos
