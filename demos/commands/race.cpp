// `lockstep race`: the same training on several machines.
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "demos/commands/command.h"
#include "demos/commands/run_race.h"
#include "demos/kit/machines.h"
#include "demos/options/parse.h"
#include "demos/report/race_report.h"
#include "demos/report/result_files.h"

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

struct RaceCommandOptions {
    RunOptions run;
    bool together = false;
};

int race(const RaceCommandOptions& command) {
    const RunOptions& options = command.run;
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
    Race lanes(job, std::move(entries), {laneOptions(options, job, finish), command.together});
    const int exitCode = runToEnd(lanes, options.quiet);
    return report(job, finish, options, lanes, exitCode);
}

} // namespace

Action addRace(CLI::App& command) {
    const auto options = std::make_shared<RaceCommandOptions>(); // as long as the command may be run
    addManual(command, raceAbout, raceExamples);
    addRunOptions(command, options->run, "a contestant; repeat for more [cpu:best and gpu:best]:");
    command.option_defaults()->group(machineGroup);
    command.add_flag("--together", options->together,
                     "run all lanes at once (head to head); they then compete for the machine");
    return [options, &command] {
        refuseIdleOptions(command, options->run);
        return race(*options);
    };
}

} // namespace lockstep::demos
