#include "demos/report/map_report.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/report/grid_colours.h"
#include "demos/words/text.h"
#include "engine/net/names.h"

namespace lockstep::demos {

namespace {

using Json = nlohmann::ordered_json;

double shareOf(std::size_t count, std::size_t all) {
    return all > 0 ? static_cast<double>(count) / static_cast<double>(all)
                   : std::numeric_limits<double>::quiet_NaN();
}

constexpr float alikeWithin = 0.01f;
constexpr double shortestMap = 0.01; // seconds: in less, the machine's interruptions decide

std::string zoomText(const MapRequest& request) {
    // Decades of a window so narrow that neighbouring pixels are neighbouring floats.
    const double end = std::max(request.size.width, request.size.height) *
                       std::log10(1 + static_cast<double>(std::numeric_limits<float>::epsilon()));
    if (request.resolved()) return fmt::format("fp32 ends the zoom at windows {:.1g} decades wide\n", end);
    return fmt::format("fp32 ends the zoom before this: neighbouring pixels have the same hyperparameters.\n"
                       "Windows of {:.1g} decades or more are resolved at this size.\n",
                       end);
}

/// The first lane that has trained a pixel, or else the first.
const MapResult& referenceOf(const std::vector<MapResult>& lanes) {
    const auto found = std::ranges::find_if(lanes, [](const MapResult& lane) { return lane.trained > 0; });
    return found == lanes.end() ? lanes.front() : *found;
}

Json agreementJson(const MapAgreement& agreement, const LaneSpec& with) {
    return {{"with", with.text()},
            {"pixels", agreement.both},
            {"same_side", agreement.share()},
            {"identical", shareOf(agreement.identical, agreement.both)}};
}

Json laneJson(const MapResult& lane, const MapResult& first) {
    Json json = laneJson(lane);
    json.update({{"networks", lane.trained},
                 {"seconds", lane.end.trainingSeconds},
                 {"warm_up_seconds", lane.end.warmUpSeconds},
                 {"networks_per_second", lane.networksPerSecond()},
                 {"converged", shareOf(lane.converged(), lane.trained)},
                 {"diverged", shareOf(lane.diverged(), lane.trained)},
                 {"agreement", agreementJson(lane.agreement, first.spec)}});
    return json;
}

} // namespace

std::string mapRequestText(const MapRequest& request) {
    const MapJob& job = request.job;
    const MapWindow& window = request.window;
    return fmt::format("{} networks {}, {}, {}, {}, seed {}\n"
                       "{} by {} pixels, {}, window {}:{},{}:{} (decimal logarithms)\n{}",
                       grouped(request.size.pixels()), mapNetworkText(job), name(job.activation),
                       counted(job.examples, "example"), counted(job.steps, "step"), job.seed,
                       request.size.width, request.size.height, name(job.axes), shortestText(window.left),
                       shortestText(window.right), shortestText(window.bottom), shortestText(window.top),
                       zoomText(request));
}

std::string mapResultText(const MapRequest& request, const std::vector<MapResult>& lanes) {
    std::vector<TableRow> rows{{"seconds", "networks/s", "converged", "diverged", "agree"}};
    std::string ends;
    const int decimals = secondsDecimals(lanes);
    for (const MapResult& lane : lanes) {
        rows.push_back({lane.trained > 0 ? fixed(lane.end.trainingSeconds, decimals) : "-",
                        shortRate(lane.networksPerSecond()), percent(shareOf(lane.converged(), lane.trained)),
                        percent(shareOf(lane.diverged(), lane.trained)),
                        &lane == &referenceOf(lanes) ? "-" : percent(lane.agreement.share())});
        ends += howItEnded(lane, fmt::format("with {} of {} networks trained", grouped(lane.trained),
                                             grouped(request.size.pixels())));
    }
    return laneTable({lanes.begin(), lanes.end()}, rows) + ends;
}

std::string agreementText(const std::vector<MapResult>& lanes) {
    std::string text;
    const MapResult& reference = referenceOf(lanes);
    for (const MapResult& lane : lanes) {
        const MapAgreement& agreement = lane.agreement;
        if (&lane == &reference || agreement.both == 0) continue;
        const bool same = agreement.same();
        text += wrapped(fmt::format(
            "{} mathematics: {} and {} agree in {} of the pixels on whether training converges ({})\n",
            same ? "same" : "different", lane.spec.text(), reference.spec.text(), percent(agreement.share()),
            same ? "at the boundary, rounding decides"
                 : fmt::format("needed: {:.0f} %, so its speed is not compared",
                               100 * MapAgreement::decisiveShare)));
    }
    return text;
}

Headline headlineFor(const std::vector<MapResult>& lanes) {
    return headlineByRate(lanes, &MapResult::networksPerSecond,
                          {"networks/s", shortestMap, "choose a larger --size"});
}

Json mapJson(const MapRequest& request, const std::vector<MapResult>& lanes, const Headline& headline) {
    const MapJob& job = request.job;
    const MapWindow& window = request.window;
    Json laneList = Json::array();
    for (const MapResult& lane : lanes) laneList.push_back(laneJson(lane, referenceOf(lanes)));
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
        {"width", request.size.width},
        {"height", request.size.height},
        {"resolved", request.resolved()},
        {"lanes", laneList},
        {"headline", headlineJson(headline, lanes[headline.faster].spec, lanes[headline.slower].spec,
                                  "networks_per_second")}};
}

std::string mapCsv(const MapRequest& request, const std::vector<MapResult>& lanes) {
    std::string text = "column,row,x,y";
    for (const MapResult& lane : lanes) text += "," + csvField(lane.spec.text());
    text += "\n";
    for (std::size_t pixel = 0; pixel < request.size.pixels(); ++pixel) {
        const MapPoint point = request.point(pixel);
        fmt::format_to(std::back_inserter(text), "{},{},{},{}", pixel % request.size.width,
                       pixel / request.size.width, point.x, point.y);
        for (const MapResult& lane : lanes) {
            text += ",";
            const MapOutcome outcome = lane.outcome(pixel);
            if (!std::isnan(outcome)) fmt::format_to(std::back_inserter(text), "{}", outcome);
        }
        text += "\n";
    }
    return text;
}

void MapAgreement::add(MapOutcome first, MapOutcome second) {
    ++both;
    if (first == second) ++identical;
    if ((first < 0) != (second < 0)) return;
    ++sameEnding;
    if (std::abs(first - second) <= alikeWithin * std::max(std::abs(first), std::abs(second))) ++alike;
}

double MapAgreement::share() const { return shareOf(sameEnding, both); }

MapOutcome MapResult::outcome(std::size_t pixel) const {
    return pixel < trained ? outcomes[pixel] : std::numeric_limits<float>::quiet_NaN();
}

double MapResult::networksPerSecond() const {
    return end.trainingSeconds > 0 ? static_cast<double>(trained) / end.trainingSeconds
                                   : std::numeric_limits<double>::quiet_NaN();
}

std::size_t MapResult::converged() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(trainedOutcomes(), [](MapOutcome outcome) { return outcome >= 0; }));
}

void trainMap(const MapRequest& request, MapTrainer& trainer, MapResult& lane, double millisecondsAtATime,
              const std::function<bool()>& goOn) {
    const std::size_t pixels = request.size.pixels();
    lane.outcomes.resize(pixels);
    lane.end.status = LaneStatus::running;
    std::vector<MapPoint> points;
    while (lane.trained < pixels) {
        const auto begin = std::chrono::steady_clock::now();
        const std::size_t count = std::min(trainer.pointsFor(millisecondsAtATime), pixels - lane.trained);
        points.clear();
        for (std::size_t pixel = lane.trained; pixel < lane.trained + count; ++pixel)
            points.push_back(request.point(pixel));
        trainer.train(points, std::span(lane.outcomes).subspan(lane.trained, count));
        lane.trained += count;
        lane.end.progress = shareOf(lane.trained, pixels);
        lane.end.trainingSeconds +=
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (!goOn()) break;
    }
    lane.end.status = lane.trained < pixels ? LaneStatus::stopped : LaneStatus::finished;
}

void addAgreements(std::vector<MapResult>& lanes) {
    const std::span<const MapOutcome> reference = referenceOf(lanes).trainedOutcomes();
    for (MapResult& lane : lanes) lane.agreement = agreementOf(reference, lane.trainedOutcomes());
}

MapAgreement agreementOf(std::span<const MapOutcome> first, std::span<const MapOutcome> second) {
    MapAgreement agreement;
    for (std::size_t pixel = 0; pixel < std::min(first.size(), second.size()); ++pixel)
        agreement.add(first[pixel], second[pixel]);
    return agreement;
}

Pixels mapPicture(const MapRequest& request, const MapResult& lane) {
    Pixels pixels{request.size.width, request.size.height, {}};
    pixels.rgba.reserve(4 * request.size.pixels());
    for (std::size_t pixel = 0; pixel < request.size.pixels(); ++pixel) {
        const std::uint32_t colour = mapColour(request.job, lane.outcome(pixel));
        for (const int shift : {0, 8, 16, 24})
            pixels.rgba.push_back(static_cast<std::uint8_t>(colour >> shift));
    }
    return pixels;
}

} // namespace lockstep::demos
