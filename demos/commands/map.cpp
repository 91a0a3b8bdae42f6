// `lockstep map`: a network per pixel, coloured by how its training ended.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/commands/command.h"
#include "demos/commands/lanes_told.h"
#include "demos/kit/interrupt.h"
#include "demos/kit/machines.h"
#include "demos/kit/pacer.h"
#include "demos/options/parse.h"
#include "demos/report/map_report.h"
#include "demos/report/progress.h"
#include "demos/report/result_files.h"
#include "demos/words/streams.h"
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

constexpr std::size_t largestTable = std::size_t{2048} * 2048; // pixels of a CSV file

LaneProgress mapProgress(const MapResult& lane) {
    const std::string rate = fmt::format("{} networks/s", shortRate(lane.networksPerSecond()));
    const std::string numbers = fmt::format("{} networks  {}", grouped(lane.trained), rate);
    return {lane.spec.text(), lane.spec.gpu, lane.end.status,         lane.trained > 0, lane.end.progress,
            numbers,          rate,          lane.end.trainingSeconds};
}

void trainLane(const MapRequest& request, Machines& machines, const InterruptGuard& interrupt, bool quiet,
               MapResult& lane) {
    const double begin = secondsNow();
    gpu::Device* device = machines.deviceOf(lane.spec);
    const auto trainer = device != nullptr ? makeGpuMapTrainer(*device, request.job)
                                           : makeCpuMapTrainer(request.job, machines.threads());
    lane.end.warmUpSeconds = secondsNow() - begin;
    lane.machine = trainer->machine();
    ProgressLines lines(quiet);
    trainMap(request, *trainer, lane, 100, [&] {
        lines.show({mapProgress(lane)});
        return interrupt.exitCode() == 0;
    });
    lines.show({mapProgress(lane)});
}

int map(const MapOptions& options) {
    const MapRequest& request = options.request;
    request.job.validate();
    if (!options.csvFile.empty() && request.size.pixels() > largestTable)
        throw std::invalid_argument(fmt::format("--csv takes at most {} pixels, as of 2048x2048, not {}",
                                                largestTable, mapSizeText(request.size)));
    requireResultFiles(options);
    std::FILE* people = peopleStream(options);
    Machines machines(options.threads, options.device);
    const LaneChoice choice = chooseRaceLanes(options.lanes, machines);
    tellBefore(people, choice, machines.anySoftware(choice.lanes), mapRequestText(request) + "\n");

    const InterruptGuard interrupt;
    std::vector<MapResult> lanes;
    for (const LaneSpec& spec : choice.lanes) {
        if (interrupt.exitCode() != 0) break;
        MapResult& lane = lanes.emplace_back();
        lane.spec = spec;
        runOrFail(lane, "a smaller picture",
                  [&] { trainLane(request, machines, interrupt, options.quiet, lane); });
    }
    addAgreements(lanes);
    const Headline headline = headlineFor(lanes);
    tellAfter(people, mapResultText(request, lanes), lanes, headline);
    if (lanes.empty()) return interrupt.exitCode();
    const auto shown = std::ranges::find_if(lanes, [](const MapResult& lane) { return lane.trained > 0; });
    if (!options.pngFile.empty() && shown != lanes.end())
        writePng(options.pngFile, mapPicture(request, *shown));
    if (!options.csvFile.empty()) writeResult(options.csvFile, mapCsv(request, lanes));
    if (!options.jsonFile.empty())
        writeResult(options.jsonFile, mapJson(request, lanes, headline).dump(1) + "\n");
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
