// `lockstep map`: a network per pixel, coloured by how its training ended.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/commands/command.h"
#include "demos/draw/png.h"
#include "demos/kit/interrupt.h"
#include "demos/kit/machines.h"
#include "demos/options/map_options.h"
#include "demos/options/parse.h"
#include "demos/report/grid_colours.h"
#include "demos/report/map_report.h"
#include "demos/report/progress.h"
#include "demos/report/result_files.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr const char* mapAbout =
    R"(Trains a small network for every pixel of a picture, each with its own pair of hyperparameters, and colours it by how
training ended: blue to white where it converged, the whiter the faster; black to yellow where it diverged, the
brighter the later. The border between the two is a fractal (Sohl-Dickstein 2024, arXiv 2402.06184).)";

constexpr const char* mapExamples = R"(examples:
  lockstep map --png map.png
  lockstep map --preset edge --size 1024x1024 --png edge.png
  lockstep map --window 2.5:3.5,0.9:1.9 --steps 500 --png zoom.png --json zoom.json
  lockstep map --preset sohl-dickstein-tanh --lane gpu:best --png paper.png
  lockstep map --axes rate-and-scale --window -1:5,-3:3 --activation relu --csv outcomes.csv
)";

MapRequest requestOf(const MapOptions& options) {
    MapRequest request{mapJob(options), mapWindow(options), options.size.width, options.size.height};
    if (!options.csvFile.empty() && request.pixels() > largestTable)
        throw std::invalid_argument(fmt::format("--csv takes at most {} pixels, as of 2048x2048, not {}x{}",
                                                largestTable, request.width, request.height));
    return request;
}

std::unique_ptr<MapTrainer> makeLane(const MapRequest& request, const LaneSpec& spec, Machines& machines) {
    gpu::Device* device = machines.deviceOf(spec);
    if (device == nullptr) return makeCpuMapTrainer(request.job, machines.threads());
    return makeGpuMapTrainer(*device, request.job);
}

LaneProgress progressOf(const MapRequest& request, const MapResult& lane) {
    LaneProgress progress{lane.spec.text(), lane.spec.gpu, lane.status, lane.trained > 0, 0, {}, {}};
    progress.progress = static_cast<double>(lane.trained) / static_cast<double>(request.pixels());
    progress.brief = fmt::format("{} networks/s", shortRate(lane.networksPerSecond()));
    progress.numbers = fmt::format("{} networks  {}{}", grouped(lane.trained), progress.brief,
                                   timeLeft(lane.status, lane.trainingSeconds, progress.progress));
    return progress;
}

void trainLane(const MapRequest& request, Machines& machines, const InterruptGuard& interrupt, bool quiet,
               MapResult& lane) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    const std::unique_ptr<MapTrainer> trainer = makeLane(request, lane.spec, machines);
    lane.warmUpSeconds = std::chrono::duration<double>(Clock::now() - begin).count();
    lane.machine = trainer->machine();
    ProgressLines lines(quiet);
    trainMap(request, *trainer, lane, [&](std::size_t) {
        lines.show({progressOf(request, lane)});
        return interrupt.exitCode() == 0;
    });
    lines.show({progressOf(request, lane)});
}

void writePicture(const std::string& file, const MapRequest& request, const MapResult& lane) {
    std::vector<MapOutcome> outcomes(request.pixels());
    for (std::size_t pixel = 0; pixel < outcomes.size(); ++pixel) outcomes[pixel] = lane.outcome(pixel);
    Pixels pixels{request.width, request.height, std::vector<std::uint8_t>(request.pixels() * 4)};
    paintMap(request.job, outcomes, pixels.rgba);
    writePng(file, pixels);
}

void writeResults(const MapOptions& options, const MapRequest& request, const std::vector<MapResult>& lanes) {
    const auto begun = [](const MapResult& lane) { return lane.trained > 0; };
    const auto shown = std::ranges::find_if(lanes, begun);
    if (!options.pngFile.empty() && shown != lanes.end()) writePicture(options.pngFile, request, *shown);
    if (!options.csvFile.empty()) writeResult(options.csvFile, mapCsv(request, lanes));
    if (!options.jsonFile.empty()) writeResult(options.jsonFile, mapJson(request, lanes).dump(1) + "\n");
}

int map(const MapOptions& options) {
    const MapRequest request = requestOf(options);
    requireResultFiles(options.jsonFile, options.csvFile);
    requirePictureFile(options.pngFile);
    std::FILE* people = peopleStream(options.jsonFile, options.csvFile);
    Machines machines(options.threads, options.device);
    const LaneChoice choice = chooseRaceLanes(options.lanes, machines);
    if (!choice.remark.empty()) fmt::print(people, "{}\n", choice.remark);
    fmt::print(people, "{}\n", mapRequestText(request));
    std::fflush(people);

    const InterruptGuard interrupt;
    std::vector<MapResult> lanes;
    for (const LaneSpec& spec : choice.lanes) {
        if (interrupt.exitCode() != 0) break;
        MapResult& lane = lanes.emplace_back();
        lane.spec = spec;
        runOrFail(lane, "a smaller picture",
                  [&] { trainLane(request, machines, interrupt, options.quiet, lane); });
    }
    fmt::print(people, "{}", mapResultText(request, lanes));
    std::fflush(people);
    if (!lanes.empty()) writeResults(options, request, lanes);
    return exitCodeOf(lanes, interrupt.exitCode());
}

} // namespace

Action addMap(CLI::App& command) {
    const auto options = std::make_shared<MapOptions>(); // as long as the command may be run
    addManual(command, mapAbout, mapExamples);
    addMapOptions(command, *options);
    return [options] { return map(*options); };
}

} // namespace lockstep::demos
