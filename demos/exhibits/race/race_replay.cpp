#include "demos/exhibits/race/race_replay.h"

namespace lockstep::demos {

double stepsAfter(const LaneResult& lane, double seconds) {
    const LaneSnapshot& end = lane.end;
    if (seconds >= end.trainingSeconds) return static_cast<double>(end.runSteps);
    const std::vector<LossPoint>& losses = lane.telemetry.losses();
    const auto doneAt = [](const LossPoint& point) { return static_cast<double>(point.step + 1); };
    const auto later = std::ranges::upper_bound(losses, seconds, {}, &LossPoint::seconds);
    double fromStep = 0, fromSeconds = 0;
    if (later != losses.begin()) {
        fromStep = doneAt(*std::prev(later));
        fromSeconds = std::prev(later)->seconds;
    }
    auto toStep = static_cast<double>(end.runSteps);
    double toSeconds = end.trainingSeconds;
    if (later != losses.end() && later->seconds < toSeconds) {
        // The losses of one submission share a time: by then, the last of these steps was done.
        toSeconds = later->seconds;
        toStep = doneAt(*std::prev(std::ranges::upper_bound(losses, toSeconds, {}, &LossPoint::seconds)));
    }
    return fromStep + (toStep - fromStep) * (seconds - fromSeconds) / (toSeconds - fromSeconds);
}

LaneSnapshot snapshotAfter(const LaneResult& lane, double seconds) {
    LaneSnapshot shown = lane.end;
    if (seconds >= shown.trainingSeconds) return shown;
    shown.status = LaneStatus::running;
    shown.step = static_cast<std::uint64_t>(stepsAfter(lane, seconds));
    shown.trainingSeconds = seconds;
    shown.recentRate = lane.end.rate();
    shown.loss = lane.telemetry.runningLossBefore(shown.step);
    shown.testLoss = shown.testAccuracy = LaneSnapshot::unknown;
    return shown;
}

double shareAfter(const RaceRun& run, std::size_t index, double seconds) {
    std::uint64_t way = run.lanes[index].end.runSteps;
    if (run.finish.seconds > 0)
        for (const LaneResult& lane : run.lanes) way = std::max(way, lane.end.runSteps);
    return way > 0 ? stepsAfter(run.lanes[index], seconds) / static_cast<double>(way) : 0;
}

std::optional<LaneGap> gapOf(const RaceRun& run, std::size_t index) {
    if (!canReplay(run) || run.lanes[index].end.status != LaneStatus::finished) return {};
    const std::vector<LaneFigures> figures = run.figures();
    const bool bySeconds = run.bySeconds();
    const auto ahead = [&](std::size_t a, std::size_t b) {
        if (bySeconds) return run.lanes[a].end.trainingSeconds < run.lanes[b].end.trainingSeconds;
        return figures[a].rate > figures[b].rate;
    };
    std::size_t fastest = index;
    for (std::size_t i = 0; i < run.lanes.size(); ++i)
        if (run.lanes[i].end.status == LaneStatus::finished && ahead(i, fastest)) fastest = i;
    if (fastest == index) return {};
    if (bySeconds) return LaneGap{fastest, shareAfter(run, index, run.lanes[fastest].end.trainingSeconds)};
    const bool beyond = figures[index].timedBeyond() || figures[fastest].timedBeyond();
    return LaneGap{fastest, std::clamp(figures[index].rate / figures[fastest].rate, 0.0, 1.0), beyond};
}

bool canReplay(const RaceRun& run) {
    const auto ran = [](const LaneResult& lane) {
        return lane.end.status == LaneStatus::finished && lane.end.trainingSeconds > 0;
    };
    return run.over && !run.stepped && std::ranges::count_if(run.lanes, ran) >= 2;
}

void RaceReplay::start(const RaceRun& run) {
    double fastest = 0;
    end_ = seconds_ = 0;
    for (const LaneResult& lane : run.lanes) {
        const double took = lane.end.trainingSeconds;
        end_ = std::max(end_, took);
        if (lane.end.status != LaneStatus::finished || took <= 0) continue;
        fastest = fastest > 0 ? std::min(fastest, took) : took;
    }
    // Slow enough to see the fastest lane run, but not so slow that the slowest one becomes a wait.
    stretch_ = fastest > 0 ? std::max(1.0, std::min(shortest / fastest, longest / end_)) : 1;
    playing_ = fastest > 0;
}

void RaceReplay::advance(double wallSeconds) {
    if (!playing_) return;
    seconds_ += wallSeconds / stretch_;
    if (seconds_ >= end_) playing_ = false;
}

} // namespace lockstep::demos
