// What moves the lanes: their own pace, slow motion, steps by hand, or a script's frames.
#include <algorithm>
#include <chrono>
#include <utility>

#include "demos/exhibits/race/race_model.h"

namespace lockstep::demos {

namespace {

using namespace std::chrono_literals;

// What a script's frame moves the lanes by: a race takes about forty frames per lane.
constexpr std::uint64_t framesPerRace = 40;
constexpr std::uint64_t framesPerEpoch = 20;
constexpr std::uint64_t fewestSteps = 5;

std::uint64_t scriptedSteps(const RaceRun& run) {
    const bool counted = run.finish.epochs > 0 || run.finish.steps > 0;
    if (counted && !run.finish.needsEvaluation())
        return std::max<std::uint64_t>(1, (run.lastStep() + framesPerRace - 1) / framesPerRace);
    return std::max(fewestSteps, run.order().stepsPerEpoch() / framesPerEpoch);
}

bool held(LaneStatus status) { return status == LaneStatus::ready || status == LaneStatus::paused; }

void waitUntilHeld(Lane& lane, std::uint64_t step) {
    while (true) {
        const LaneSnapshot shot = lane.snapshot();
        if (shot.over() || (held(shot.status) && shot.step >= step)) return;
        lane.waitFor(1ms);
    }
}

} // namespace

void RaceModel::drive(double seconds, bool wait) {
    if (pendingEpochs_ > 0) {
        const std::uint64_t epoch = run_->order().stepsPerEpoch();
        std::uint64_t done = 0;
        for (const std::size_t i : run_->current()) done = run_->lanes[i].end.step;
        pendingSteps_ += pendingEpochs_ * epoch - done % epoch;
        pendingEpochs_ = 0;
    }
    if (!wait && !paused_ && pacer_.flatOut()) return; // the lanes run by themselves
    if (wait) {
        run_->race->pause();
        for (const std::size_t i : run_->current()) waitUntilHeld(run_->race->lane(i), 0);
    }
    move(stepsNow(seconds, wait), wait);
}

/// How many steps this frame is worth.
std::uint64_t RaceModel::stepsNow(double seconds, bool wait) {
    if (paused_) return std::exchange(pendingSteps_, 0);
    return pacer_.due(seconds, wait ? scriptedSteps(*run_) : 0);
}

void RaceModel::move(std::uint64_t steps, bool wait) {
    if (steps == 0) return;
    (wait && !paused_ && pacer_.flatOut() ? run_->byFrames : run_->stepped) = true;
    std::vector<std::pair<Lane*, std::uint64_t>> moving;
    for (const std::size_t i : run_->current()) {
        Lane& lane = run_->race->lane(i);
        const LaneSnapshot shot = lane.snapshot();
        // In slow motion a lane that is still at its last steps is asked for no more.
        if (!paused_ && !held(shot.status)) continue;
        lane.step(steps);
        moving.emplace_back(&lane, shot.step + steps);
    }
    if (!wait) return;
    for (const auto& [lane, target] : moving) waitUntilHeld(*lane, target);
}

} // namespace lockstep::demos
