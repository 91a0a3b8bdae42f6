#include "demos/report/map_report.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/options/map_options.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

using Json = nlohmann::ordered_json;

double shareOf(std::size_t count, std::size_t all) {
    return all > 0 ? static_cast<double>(count) / static_cast<double>(all)
                   : std::numeric_limits<double>::quiet_NaN();
}

/// Decades of a window so narrow that neighbouring pixels are neighbouring floats.
double narrowest(std::uint32_t pixels) {
    return pixels * std::log10(1 + static_cast<double>(std::numeric_limits<float>::epsilon()));
}

std::string zoomText(const MapRequest& request) {
    const double end = std::max(narrowest(request.width), narrowest(request.height));
    if (request.window.resolves(request.width, request.height))
        return fmt::format("fp32 ends the zoom at windows {:.1g} decades wide\n", end);
    return fmt::format("fp32 ends the zoom before this: neighbouring pixels have the same hyperparameters.\n"
                       "Windows of {:.1g} decades or more are resolved at this size.\n",
                       end);
}

Json orNull(double value) { return std::isnan(value) ? Json() : Json(value); }

Json agreementJson(const MapResult& first, const MapResult& lane) {
    const MapAgreement agreement = agreementOf(first, lane);
    return {{"with", first.spec.text()},
            {"pixels", agreement.both},
            {"same_side", orNull(agreement.share())},
            {"identical", orNull(shareOf(agreement.same, agreement.both))}};
}

Json laneJson(const MapResult& lane, const MapResult& first) {
    Json json = laneJson(lane);
    json.update({{"networks", lane.trained},
                 {"seconds", lane.trainingSeconds},
                 {"warm_up_seconds", lane.warmUpSeconds},
                 {"networks_per_second", orNull(lane.networksPerSecond())},
                 {"converged", orNull(shareOf(lane.converged(), lane.trained))},
                 {"diverged", orNull(shareOf(lane.diverged(), lane.trained))},
                 {"agreement", agreementJson(first, lane)}});
    return json;
}

} // namespace

std::string mapRequestText(const MapRequest& request) {
    const MapJob& job = request.job;
    return fmt::format("{} networks {}-{}-1, {}, {} examples, {} steps, seed {}\n"
                       "{} by {} pixels, {}, window {} (decimal logarithms)\n{}",
                       grouped(request.pixels()), job.inputs, job.hidden, name(job.activation), job.examples,
                       grouped(job.steps), job.seed, request.width, request.height, name(job.axes),
                       mapWindowText(request.window), zoomText(request));
}

std::string mapResultText(const MapRequest& request, const std::vector<MapResult>& lanes) {
    std::vector<std::vector<std::string>> rows{
        {"lane", "device", "seconds", "networks/s", "converged", "diverged", "agree"}};
    std::string ends;
    for (const MapResult& lane : lanes) {
        rows.push_back({lane.spec.text(), lane.machine.device.empty() ? "-" : honestDevice(lane.machine, 50),
                        lane.trained > 0 ? fixed(lane.trainingSeconds, 2) : "-",
                        shortRate(lane.networksPerSecond()), percent(shareOf(lane.converged(), lane.trained)),
                        percent(shareOf(lane.diverged(), lane.trained)),
                        &lane == &lanes.front() ? "-" : percent(agreementOf(lanes.front(), lane).share())});
        ends += howItEnded(lane, fmt::format("with {} of {} networks trained", grouped(lane.trained),
                                             grouped(request.pixels())));
    }
    return table(rows, 2) + ends;
}

Json mapJson(const MapRequest& request, const std::vector<MapResult>& lanes) {
    const MapJob& job = request.job;
    const MapWindow& window = request.window;
    Json laneList = Json::array();
    for (const MapResult& lane : lanes) laneList.push_back(laneJson(lane, lanes.front()));
    return {
        {"job",
         {{"axes", name(job.axes)},
          {"network", {job.inputs, job.hidden, 1}},
          {"activation", name(job.activation)},
          {"examples", job.examples},
          {"steps", job.steps},
          {"seed", job.seed}}},
        {"window",
         {{"left", window.left}, {"right", window.right}, {"bottom", window.bottom}, {"top", window.top}}},
        {"width", request.width},
        {"height", request.height},
        {"resolved", window.resolves(request.width, request.height)},
        {"lanes", laneList}};
}

std::string mapCsv(const MapRequest& request, const std::vector<MapResult>& lanes) {
    std::string text = "column,row,x,y";
    for (const MapResult& lane : lanes) text += "," + csvField(lane.spec.text());
    text += "\n";
    for (std::size_t pixel = 0; pixel < request.pixels(); ++pixel) {
        const MapPoint point = request.point(pixel);
        fmt::format_to(std::back_inserter(text), "{},{},{},{}", pixel % request.width, pixel / request.width,
                       point.x, point.y);
        for (const MapResult& lane : lanes) {
            text += ",";
            const MapOutcome outcome = lane.outcome(pixel);
            if (!std::isnan(outcome)) fmt::format_to(std::back_inserter(text), "{}", outcome);
        }
        text += "\n";
    }
    return text;
}

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
