// `lockstep train`: trains one network on one machine, with saving and resuming.
#include <cstdio>
#include <memory>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "demos/commands/command.h"
#include "demos/commands/race.h"
#include "demos/kit/machines.h"
#include "demos/options/parse.h"
#include "demos/report/race_report.h"
#include "demos/report/result_files.h"
#include "demos/words/text.h"
#include "engine/files/atomic_file.h"
#include "engine/run/checkpoint.h"

namespace lockstep::demos {

namespace {

constexpr const char* trainAbout =
    R"(Trains one network on one machine. --save writes a safetensors file that PyTorch can load and that --resume
goes on from, bit-identical to never having stopped (on the same lane with the same threads).)";

constexpr const char* trainExamples = R"(examples:
  lockstep train --epochs 5 --save model.safetensors
  lockstep train --resume model.safetensors --epochs 10 --save model.safetensors      five more
  lockstep train --data csv:flowers.csv --label species --optimizer sgd --lr 0.05
  lockstep train --init weights.safetensors --no-shuffle --steps 200 --log-every 1 --json losses.json

epochs and steps are counted from the very first step, also in a resumed run.
without --lane: gpu:best if there is a GPU, else cpu:best
)";

struct TrainCommandOptions : RunOptions {
    std::string saveFile;
    std::uint64_t saveEvery = 0;
    std::string resumeFile;
};

/// A resumed run takes data, network and settings from the checkpoint, so options for them are rejected.
void refuseWithResume(const CLI::App& command) {
    for (const CLI::Option* option : command.get_options()) {
        const std::string& group = option->get_group();
        const bool recorded = group == dataGroup || group == networkGroup || group == settingsGroup;
        if (recorded && option->count() > 0)
            throw std::invalid_argument(option->get_name() +
                                        " cannot be combined with --resume, because the checkpoint "
                                        "determines it (to start a new run from its weights, use --init)");
    }
}

/// The data and network options of a checkpoint's run.
void takeOver(const Checkpoint& checkpoint, RunOptions& options) {
    options.data = checkpoint.dataSpec;
    options.dataOptions = checkpoint.dataOptions;
    options.settings = checkpoint.settings;
    if (options.lanes.empty() && !checkpoint.lane.empty())
        options.lanes = {laneSpecFromText(checkpoint.lane)};
}

Checkpoint checkpointOf(const RunOptions& options, const TrainJob& job, const LaneSpec& lane,
                        TrainerState state) {
    DataOptions data = options.dataOptions;
    data.seed = job.settings.seed;
    data.classNames = job.data->classNames;
    return {options.data, data, lane.text(), job.shape, job.settings, std::move(state)};
}

int train(TrainCommandOptions options) {
    std::FILE* people = peopleStream(options.jsonFile, options.csvFile);
    std::optional<Checkpoint> resumed;
    if (!options.resumeFile.empty()) {
        resumed = loadCheckpoint(options.resumeFile);
        takeOver(*resumed, options);
    }
    requireResultFiles(options.jsonFile, options.csvFile);
    if (!options.saveFile.empty()) requireWritable(options.saveFile);
    const Dataset data = loadData(options);
    TrainJob job = makeJob(options, data);
    if (resumed) {
        job.shape = resumed->shape;
        job.validate();
    }
    Machines machines(options.threads, options.device);
    const LaneChoice choice = chooseTrainLane(options.lanes, machines);
    const LaneSpec lane = choice.lanes.front();
    if (!choice.remark.empty()) fmt::print(people, "lane: {}\n", choice.remark);
    const FinishLine finish = finishLineFor(options, job, machines.software(lane));
    fmt::print(people, "{}", jobText(job, finish));
    if (resumed)
        fmt::print(people, "resumed at step {} of a run on {}\n", grouped(resumed->state.step),
                   resumed->lane);
    std::fflush(people);

    const auto save = [&](Trainer& trainer) {
        saveCheckpoint(options.saveFile, checkpointOf(options, job, lane, trainer.state()));
    };
    RaceOptions raceOptions{laneOptions(options, job, finish)};
    if (resumed) raceOptions.lane.start = resumed->state;
    raceOptions.lane.saveEvery = options.saveEvery;
    raceOptions.lane.save = save;
    Race race(job, {{lane, machines.maker(job, lane)}}, std::move(raceOptions));
    const int exitCode = report(job, finish, options, race, runToEnd(race, options.quiet));
    const bool whole = race.lane(0).snapshot().status != LaneStatus::failed;
    if (!options.saveFile.empty() && whole && race.lane(0).trainer() != nullptr) {
        save(*race.lane(0).trainer());
        fmt::print(people, "saved to {}\n", options.saveFile);
    }
    return exitCode;
}

} // namespace

Action addTrain(CLI::App& command) {
    const auto options = std::make_shared<TrainCommandOptions>(); // as long as the command may be run
    addManual(command, trainAbout, trainExamples);
    addRunOptions(command, *options, "where to run:");
    CLI::Option* save = addText(command, "--save", "FILE", options->saveFile,
                                "save the network and the state of its training");
    command.add_option("--save-every", options->saveEvery, "also save after every N epochs")
        ->type_name("N")
        ->check(atLeastOne())
        ->needs(save);
    addText(command, "--resume", "FILE", options->resumeFile, "continue a saved run");
    return [options, &command] {
        if (!options->resumeFile.empty()) refuseWithResume(command);
        refuseIdleOptions(command, *options);
        return train(*options);
    };
}

} // namespace lockstep::demos
