// `lockstep race`: the same training on several machines.
#include "demos/commands/race.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/commands/command.h"
#include "demos/kit/interrupt.h"
#include "demos/kit/machines.h"
#include "demos/options/parse.h"
#include "demos/report/headline.h"
#include "demos/report/progress.h"
#include "demos/report/race_report.h"
#include "demos/report/result_files.h"
#include "demos/words/text.h"
#include "engine/net/param_layout.h"
#include "engine/run/checkpoint.h"

namespace lockstep::demos {

namespace {

constexpr const char* raceAbout =
    R"(Trains the same network on several machines and compares them. All lanes start from the same weights, see the
same batches in the same order and do the same arithmetic; only the machine differs. The lanes run in turn (a time
trial), so they don't compete for the machine; --together runs them at once: fun to watch, but not a measurement.)";

constexpr const char* raceExamples = R"(examples:
  lockstep race                                          the processor against the graphics card
  lockstep race --lane cpu:scalar --lane cpu:best        what SIMD and all cores bring
  lockstep race --lane gpu:naive --lane gpu:subgroup     what better kernels bring
  lockstep race --lane gpu:best@0 --lane gpu:best@1      one card against the other
  lockstep race --data spiral --layers 32,32 --until-accuracy 95%
  lockstep race --epochs 3 --log-every 1 --json race.json

lanes: cpu:scalar is one thread without SIMD, cpu:simd one thread, cpu:threads all cores without SIMD, cpu:best
all cores with it. gpu:one, gpu:naive-strided, gpu:naive, gpu:tiled, gpu:blocked, gpu:texel and gpu:subgroup are
kernels of growing refinement, gpu:fused has the optimizer's step in the products, gpu:half computes with numbers
of 16 bits and sums of 32, gpu:matrix does so in cooperative matrices, gpu:whole-step does small networks in one
dispatch; gpu:best takes what is fastest on this device, in 32 bits.
without a finish line: 10 epochs of large data (1 if a Vulkan device that is software takes part), or 5,000 steps;
an accuracy or a loss that is not reached ends the run after 100 epochs, or 20,000 steps where those are more
)";

struct RaceCommandOptions : RunOptions {
    bool together = false;
};

int race(const RaceCommandOptions& options) {
    std::FILE* people = peopleStream(options.jsonFile, options.csvFile);
    requireResultFiles(options.jsonFile, options.csvFile);
    const Dataset data = loadData(options);
    const TrainJob job = makeJob(options, data);
    Machines machines(options.threads, options.device);
    const LaneChoice choice = chooseRaceLanes(options.lanes, machines);
    if (!choice.remark.empty()) fmt::print(people, "{}\n", choice.remark);
    const bool software = machines.anySoftware(choice.lanes);
    const FinishLine finish = finishLineFor(options, job, software);
    if (software) fmt::print(people, "note: Vulkan runs in software here, not on a GPU\n");
    fmt::print(people, "{}", jobText(job, finish));
    std::fflush(people);

    std::vector<RaceEntry> entries;
    for (const LaneSpec& spec : choice.lanes) entries.push_back({spec, machines.maker(job, spec)});
    Race lanes(job, std::move(entries), {laneOptions(options, job, finish), options.together});
    const int exitCode = runToEnd(lanes, options.quiet);
    return report(job, finish, options, lanes, exitCode);
}

} // namespace

int runToEnd(Race& race, bool quiet) {
    const InterruptGuard interrupt;
    ProgressLines progress(quiet);
    race.start();
    bool stopping = false;
    while (!race.waitFor(std::chrono::milliseconds(100))) {
        progress.show(progressOf(race));
        if (interrupt.exitCode() == 0 || stopping) continue;
        race.stop();
        stopping = true;
    }
    progress.show(progressOf(race));
    return interrupt.exitCode();
}

int report(const TrainJob& job, const FinishLine& finish, const RunOptions& options, Race& race, int soFar) {
    const std::vector<LaneResult> results = race.results();
    const Headline headline = headlineFor(results, finish, race.together());
    std::FILE* people = peopleStream(options.jsonFile, options.csvFile);
    fmt::print(people, "\n{}", resultText(results, race.together()));
    if (results.size() > 1) fmt::print(people, "\n{}{}\n", agreementText(results), wrapped(headline.text));
    std::fflush(people);

    if (!options.jsonFile.empty())
        writeResult(options.jsonFile,
                    raceJson(job, finish, race.together(), results, headline).dump(1) + "\n");
    writeResult(options.csvFile, raceCsv(results));
    if (soFar != 0) return soFar;
    const auto failed = [](const LaneResult& result) { return result.end.status == LaneStatus::failed; };
    return std::ranges::any_of(results, failed) ? 1 : 0;
}

LaneOptions laneOptions(const RunOptions& options, const TrainJob& job, const FinishLine& finish) {
    LaneOptions lane;
    lane.finish = finish;
    lane.evaluateEvery = options.evaluateEvery;
    lane.keepLossEvery = options.logEvery;
    if (options.weightsFile.empty()) return lane;
    TrainerState state;
    state.parameters = loadWeights(options.weightsFile, job.shape);
    const std::size_t size = ParamLayout(job.shape).size();
    state.optimizerState.assign(job.settings.optimizer.stateArrays(), std::vector<float>(size, 0.0F));
    lane.start = std::move(state);
    return lane;
}

Action addRace(CLI::App& command) {
    const auto options = std::make_shared<RaceCommandOptions>(); // as long as the command may be run
    addManual(command, raceAbout, raceExamples);
    addRunOptions(command, *options, "a contestant; repeat for more [cpu:best and gpu:best]:");
    command.option_defaults()->group(machineGroup);
    command.add_flag("--together", options->together,
                     "run all lanes at once (head to head); they then compete for the machine");
    return [options, &command] {
        refuseIdleOptions(command, *options);
        return race(*options);
    };
}

} // namespace lockstep::demos
