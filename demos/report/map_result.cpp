#include "demos/report/map_result.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <span>

namespace lockstep::demos {

namespace {

constexpr float alikeWithin = 0.01f;

bool onSameSide(MapOutcome a, MapOutcome b) { return (a < 0) == (b < 0); }

bool nearlyEqual(MapOutcome a, MapOutcome b) {
    return onSameSide(a, b) && std::abs(a - b) <= alikeWithin * std::max(std::abs(a), std::abs(b));
}

} // namespace

void MapAgreement::add(MapOutcome first, MapOutcome second) {
    ++both;
    if (onSameSide(first, second)) ++sameEnding;
    if (nearlyEqual(first, second)) ++alike;
    if (first == second) ++same;
}

double MapAgreement::share() const {
    return both > 0 ? static_cast<double>(sameEnding) / static_cast<double>(both)
                    : std::numeric_limits<double>::quiet_NaN();
}

MapPoint MapRequest::point(std::size_t pixel) const {
    return window.point(static_cast<std::uint32_t>(pixel % width), static_cast<std::uint32_t>(pixel / width),
                        width, height);
}

MapOutcome MapResult::outcome(std::size_t pixel) const {
    return pixel < trained ? outcomes[pixel] : std::numeric_limits<float>::quiet_NaN();
}

double MapResult::networksPerSecond() const {
    return trainingSeconds > 0 ? static_cast<double>(trained) / trainingSeconds
                               : std::numeric_limits<double>::quiet_NaN();
}

std::size_t MapResult::converged() const {
    return static_cast<std::size_t>(std::ranges::count_if(std::span(outcomes).first(trained),
                                                          [](MapOutcome outcome) { return outcome >= 0; }));
}

void trainMap(const MapRequest& request, MapTrainer& trainer, MapResult& lane,
              const std::function<bool(std::size_t trained)>& goOn) {
    using Clock = std::chrono::steady_clock;
    constexpr double millisecondsAtATime = 100;
    const std::size_t pixels = request.pixels();
    lane.outcomes.resize(pixels);
    lane.status = LaneStatus::running;
    std::vector<MapPoint> points;
    while (lane.trained < pixels) {
        const Clock::time_point begin = Clock::now();
        const std::size_t count = std::min(trainer.pointsFor(millisecondsAtATime), pixels - lane.trained);
        points.clear();
        for (std::size_t pixel = lane.trained; pixel < lane.trained + count; ++pixel)
            points.push_back(request.point(pixel));
        trainer.train(points, std::span(lane.outcomes).subspan(lane.trained, count));
        lane.trained += count;
        lane.trainingSeconds += std::chrono::duration<double>(Clock::now() - begin).count();
        if (!goOn(lane.trained)) break;
    }
    lane.status = lane.trained < pixels ? LaneStatus::stopped : LaneStatus::finished;
}

MapAgreement agreementOf(const MapResult& first, const MapResult& second) {
    MapAgreement agreement;
    // Pixels are trained in their order, by all.
    for (std::size_t pixel = 0; pixel < std::min(first.trained, second.trained); ++pixel)
        agreement.add(first.outcomes[pixel], second.outcomes[pixel]);
    return agreement;
}

} // namespace lockstep::demos
