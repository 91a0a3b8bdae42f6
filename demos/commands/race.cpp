// `lockstep race`: the same training on several machines. `lockstep train`: on one, with saving and resuming.
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/commands/command.h"
#include "demos/commands/lanes_told.h"
#include "demos/kit/interrupt.h"
#include "demos/kit/machines.h"
#include "demos/kit/rank_session.h"
#include "demos/options/parse.h"
#include "demos/options/run_options.h"
#include "demos/report/headline.h"
#include "demos/report/memory_report.h"
#include "demos/report/other_load.h"
#include "demos/report/progress.h"
#include "demos/report/race_report.h"
#include "demos/report/repeats.h"
#include "demos/report/result_files.h"
#include "demos/words/streams.h"
#include "demos/words/text.h"
#include "engine/files/atomic_file.h"
#include "engine/files/file_bytes.h"
#include "engine/net/param_layout.h"
#include "engine/run/checkpoint.h"
#include "engine/run/int8_inference.h"
#include "engine/run/settings_json.h"
#include "engine/step/rungs.h"
#include "lockstep/version.h"

namespace lockstep::demos {

namespace {

constexpr const char* raceAbout =
    R"(Trains the same network on several machines and compares them. All lanes start from the same weights, see the
same batches in the same order and do the same arithmetic; only the machine differs. The lanes run in turn (a time
trial), so they don't compete for the machine; --together runs them at once: fun to watch, but not a measurement.
One run is a sample: --repeat 5 runs the race five times and shows the median and the range of its times.)";

constexpr const char* raceExamples = R"(examples:
  lockstep race                                          the processor against the graphics card
  lockstep race --lane cpu:scalar --lane cpu:best        the effect of SIMD and of all cores
  lockstep race --lane gpu:naive --lane gpu:subgroup     the effect of better kernels
  lockstep race --lane gpu:best@0 --lane gpu:best@1      one card against the other
  lockstep race --data spiral --layers 32,32 --until-accuracy 95%
  lockstep race --epochs 3 --log-every 1 --json race.json
  lockstep race --threads 1 --gpu-workgroups 8           both machines throttled: the headline says so
  lockstep race --repeat 5                               how much the times vary from run to run
  mpirun -n 4 lockstep race --parallel data              four processes share every batch

Without a finish line, a race lasts 10 epochs on large data (1 if a lane runs on software Vulkan), else 5,000 steps.
If a target accuracy or loss is not reached, it ends after 100 epochs or 20,000 steps, whichever is longer.

lanes:
)";

/// Every rung that trains one network, and what it does.
std::string rungList() {
    const std::string indent(21, ' ');
    std::string text;
    for (const RungRow& row : rungTable) {
        if (!row.trains) continue;
        std::string idea = wrapped(std::string(row.idea), 89);
        for (std::size_t at = 0; (at = idea.find('\n', at)) != std::string::npos;) idea.insert(++at, indent);
        text += fmt::format("  {:<19}{}\n", row.lane, idea);
    }
    return text;
}

constexpr const char* trainAbout =
    R"(Trains one network on one machine. --save writes a safetensors file that PyTorch can load. --resume continues from
it; the results are bit-identical to those of an uninterrupted run on the same lane with the same threads.)";

constexpr const char* trainExamples = R"(examples:
  lockstep train --epochs 5 --save model.safetensors
  lockstep train --resume model.safetensors --epochs 10 --save model.safetensors      five more
  lockstep train --data csv:flowers.csv --label species --optimizer sgd --lr 0.05
  lockstep train --parallel data --device 0,1 --lane gpu:best                         two cards, one network
  mpirun -n 4 lockstep train --parallel data --shard 1 --lane cpu:best
  lockstep train --init weights.safetensors --no-shuffle --steps 200 --log-every 1 --json losses.json

A resumed run continues the count of epochs and steps.
Without --lane: gpu:best if there is a GPU, else cpu:best.
)";

/// Runs the race to its end; an interrupt stops the lanes. Returns the exit code so far: 0, or the
/// interrupt's.
int runToEnd(Race& race, bool quiet, const InterruptGuard& interrupt) {
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

/// What was run, and on how busy a machine.
struct RaceReport {
    const TrainJob& job;
    const FinishLine& finish;
    bool together = false;
    std::optional<OtherLoad> load = {};
    const char* remark = ""; ///< after the headline
    RankSession& ranks;
    std::vector<std::vector<nlohmann::ordered_json>> rankMemory =
        {}; ///< by lane and rank, where ranks share it
};

/// Prints the table and the headline, and writes the requested files. If results go to standard output
/// (--json -), the table goes to standard error. Returns the exit code.
int reportRace(const RaceReport& done, const RunOptions& options, const RepeatedRace& race, int interrupt) {
    const std::vector<LaneResult>& results = race.lanes;
    const Headline headline = headlineFor(race, done.finish, done.together);
    std::FILE* people = peopleStream(options);
    const std::string spread = race.runs.size() > 1 ? "\n" + spreadText(race) : "";
    const std::string memory = options.memory ? "\n" + memoryText(results) : "";
    tellAfter(people,
              "\n" + resultText(results, race.figures, done.together) + int8Text(results) + memory + spread,
              results, headline);
    const std::string emulated = emulationRemark(done.job.settings.precision);
    printTo(people, "{}{}{}", wrapped(emulated), done.remark, wrapped(otherLoadText(done.load)));
    flushText(people);

    if (!options.jsonFile.empty()) {
        nlohmann::ordered_json json =
            raceJson(done.job, done.finish, done.together, race, headline, done.load);
        for (std::size_t lane = 0; options.memory && lane < results.size(); ++lane)
            json["lanes"][lane]["memory"] = memoryJson(results[lane].predictedMemory, results[lane].memory);
        if (done.ranks.shared()) {
            json["ranks"] = done.ranks.ranks();
            json["parallel"] = done.ranks.toJson();
            for (std::size_t lane = 0; lane < done.rankMemory.size(); ++lane)
                json["lanes"][lane]["memory"] = done.rankMemory[lane];
        }
        writeResult(options.jsonFile, json.dump(1) + "\n");
    }
    writeResult(options.csvFile, raceCsv(results));
    return exitCodeOf(results, interrupt);
}

/// The results of a race that is over; with --format int8, its networks are evaluated so, too.
std::vector<LaneResult> resultsOf(Race& race, const RunOptions& options, const TrainJob& job) {
    std::vector<LaneResult> results = race.results();
    for (std::size_t lane = 0; options.int8 && lane < results.size(); ++lane)
        if (Trainer* trainer = race.lane(lane).trainer();
            trainer != nullptr && results[lane].end.status != LaneStatus::failed && results[lane].evaluation)
            results[lane].int8 = evaluateInt8(job, trainer->state().parameters);
    return results;
}

/// Finish line, evaluation, recorded losses, and the initial weights from --init, of which it prints notes.
LaneOptions laneOptions(const RunOptions& options, const TrainJob& job, const FinishLine& finish) {
    LaneOptions lane;
    lane.finish = finish;
    lane.evaluateEvery = options.evaluateEvery;
    lane.keepLossEvery = options.logEvery;
    lane.tuneSeconds = options.tuneSeconds;
    if (options.weightsFile.empty()) return lane;
    TrainerState state;
    LoadedWeights loaded = loadWeights(options.weightsFile, job.shape);
    printTo(peopleStream(options), "{}", notesText(loaded.notes));
    state.parameters = std::move(loaded.parameters);
    const std::size_t size = ParamLayout(job.shape).size();
    state.optimizerState.assign(job.settings.optimizer.stateArrays(), std::vector<float>(size, 0.0F));
    lane.start = std::move(state);
    return lane;
}

/// Meets the other ranks; what fails on one of them ends all.
template <class Work> int amongRanks(const RunOptions& options, const Work& work) {
    RankSession ranks(options.ranks, options.device);
    try {
        return work(ranks);
    } catch (const std::invalid_argument& error) {
        // Most likely all ranks have the same to say: the first one says it for all.
        if (!ranks.speaks()) std::this_thread::sleep_for(std::chrono::milliseconds(500));
        ranks.abort(error.what());
        throw;
    } catch (const std::exception& error) {
        ranks.abort(error.what());
        throw;
    }
}

/// Only the first of several processes prints, and writes files.
void hushUnlessFirst(const RankSession& ranks, RunOptions& options) {
    if (ranks.speaks()) return;
    options.quiet = true;
    options.jsonFile.clear();
    options.csvFile.clear();
}

/// Processes that train together need the same run, option by option.
void requireSameRun(RankSession& ranks, const TrainJob& job, const RunOptions& options,
                    const std::vector<LaneSpec>& lanes, const LaneOptions& lane) {
    if (!ranks.processes()) return;
    ranks.requireSame("version", LOCKSTEP_VERSION);
    ranks.requireSame(toJson(job.shape));
    ranks.requireSame(toJson(job.settings));
    ranks.requireSame(ranks.toJson());
    const DataFingerprint data = fingerprintOf(*job.data);
    ranks.requireSame("data", fmt::format("{} training and {} test examples, checksum {:08x}", data.train,
                                          data.test, data.checksum));
    std::string names;
    for (const LaneSpec& spec : lanes) names += spec.text().substr(0, spec.text().find('@')) + " ";
    ranks.requireSame("lanes", names);
    ranks.requireSame("finish line", lane.finish.text());
    ranks.requireSame("--evaluate-every", std::to_string(lane.evaluateEvery));
    ranks.requireSame("--save-every", std::to_string(lane.saveEvery));
    ranks.requireSame("--format int8", options.int8 ? "yes" : "no");
    std::string start = "random weights of the seed";
    if (lane.start) {
        std::uint32_t checksum = crc32(std::as_bytes(std::span(lane.start->parameters)));
        for (const std::vector<float>& state : lane.start->optimizerState)
            checksum = crc32(std::as_bytes(std::span(state)), checksum);
        start = fmt::format("step {}, checksum {:08x}", lane.start->step, checksum);
    }
    ranks.requireSame("initial weights and optimizer state", start);
}

/// A lane that failed on this process alone would leave the others waiting. All fail alike where the loss is
/// not finite.
void endIfLost(Race& race, RankSession& ranks) {
    for (std::size_t lane = 0; lane < race.size(); ++lane)
        if (const LaneSnapshot end = race.lane(lane).snapshot();
            end.status == LaneStatus::failed && !end.nonFinite)
            ranks.abort(end.message);
}

/// Other ranks are processes, too, but not other load.
std::optional<OtherLoad> loadOf(const LoadWatch& watch, const RankSession& ranks) {
    return ranks.processes() ? std::nullopt : watch.load();
}

std::string traceTitle(const TrainJob& job) {
    return fmt::format("{}, {}, batch {}", job.data->name, job.shape.describeWidths(), job.settings.batch);
}

/// By lane and rank; empty where no ranks share the lanes.
std::vector<std::vector<nlohmann::ordered_json>> memoryOfRanks(Race& race, RankSession& ranks) {
    std::vector<std::vector<nlohmann::ordered_json>> all;
    for (std::size_t lane = 0; ranks.shared() && lane < race.size(); ++lane)
        all.push_back(ranks.memoryOf(race.lane(lane).trainer()));
    return all;
}

struct RaceCommandOptions : RunOptions {
    bool together = false;
    bool quick = false;
    std::size_t repeat = 1;
};

int raceAmong(RankSession& ranks, RaceCommandOptions options) {
    if (options.repeat > mostRepeats)
        throw std::invalid_argument(
            fmt::format("--repeat takes 1 to {} runs, not {}", mostRepeats, options.repeat));
    refuseIdleOffload(options);
    refuseIdlePrecision(options.settings.precision);
    if (options.together && ranks.shared())
        throw std::invalid_argument(
            "--together cannot be combined with --parallel: ranks share one lane at a time");
    hushUnlessFirst(ranks, options);
    std::FILE* people = peopleStream(options);
    requireResultFiles(options, {tableOf(options.data), {"--init", options.weightsFile}});
    const Dataset data = loadData(options);
    const TrainJob job = ranks.share(makeJob(options, data));
    job.validate();
    Machines machines(options.threads, ranks.firstDevice());
    const LaneChoice choice = chooseRaceLanes(options.lanes, machines);
    for (const LaneSpec& lane : choice.lanes) requireFormat(job.settings.precision, lane);
    const bool software = machines.anySoftware(choice.lanes);
    const FinishLine finish = finishLineFor(options, job, software);
    tellBefore(people, choice, software, jobText(job, finish) + ranks.text());

    std::vector<RaceEntry> entries;
    for (const LaneSpec& spec : choice.lanes)
        entries.push_back({spec, ranks.maker(machines, job, spec, options.share())});
    RaceOptions how{laneOptions(options, job, finish), options.together};
    requireSameRun(ranks, job, options, choice.lanes, how.lane);
    ranks.requireSame("--repeat", std::to_string(options.repeat));
    ranks.join(how.lane);
    if (!options.together && !options.quick) how.lane.compareTimes();
    const LoadWatch watch;
    const InterruptGuard guard;
    std::vector<std::vector<LaneResult>> runs;
    std::vector<std::vector<nlohmann::ordered_json>> memory;
    int interrupt = 0;
    std::size_t begun = 0;
    while (begun < options.repeat && interrupt == 0) {
        ++begun;
        if (options.repeat > 1 && !options.quiet) printError("run {} of {}\n", begun, options.repeat);
        Race run(job, entries, how);
        interrupt = ranks.anyInterrupt(runToEnd(run, options.quiet, guard));
        endIfLost(run, ranks);
        memory = memoryOfRanks(run, ranks);
        if (interrupt == 0 || runs.empty())
            runs.push_back(resultsOf(run, options, job)); // a later run counts as a whole
    }
    if (interrupt != 0 && options.repeat > 1)
        printTo(people, "\ninterrupted in run {} of {}\n", begun, options.repeat);
    const char* remark =
        options.repeat == 1 && interrupt == 0 ? "one run; --repeat 5 shows the spread\n" : "";
    ranks.writeTrace(traceTitle(job), job.shape.layers());
    const std::optional<OtherLoad> load = loadOf(watch, ranks);
    return reportRace({job, finish, options.together, load, remark, ranks, memory}, options,
                      repeatedRace(std::move(runs)), interrupt);
}

int race(const RaceCommandOptions& options) {
    return amongRanks(options, [&](RankSession& ranks) { return raceAmong(ranks, options); });
}

struct TrainCommandOptions : RunOptions {
    std::string saveFile;
    std::uint64_t saveEvery = 0;
    std::string resumeFile;
    std::function<bool(const char* option)> given; ///< on the command line
};

/// A resumed run takes data, network and settings from the checkpoint, so options for them are rejected.
void refuseWithResume(const CLI::App& command) {
    if (const CLI::Option* option = firstGiven(command, {dataGroup, networkGroup, settingsGroup}))
        throw std::invalid_argument(option->get_name() +
                                    " cannot be combined with --resume, because the checkpoint determines "
                                    "it (to start a new run from its weights, use --init)");
}

/// The data and network options of a checkpoint's run. It may go on where there is less memory.
void takeOver(const Checkpoint& checkpoint, TrainCommandOptions& options) {
    options.data = checkpoint.dataSpec;
    options.dataOptions = checkpoint.dataOptions;
    const MemorySettings own = std::exchange(options.settings, checkpoint.settings).memory;
    MemorySettings& memory = options.settings.memory;
    if (options.given("--recompute")) memory.recompute = own.recompute;
    if (options.given("--accumulate")) memory.accumulate = own.accumulate;
    if (options.given("--offload")) memory.offload = own.offload;
    if (options.lanes.empty() && !checkpoint.lane.empty())
        options.lanes = {laneSpecFromText(checkpoint.lane)};
}

Checkpoint checkpointOf(const RunOptions& options, const TrainJob& job, const LaneSpec& lane,
                        const DataFingerprint& fingerprint, TrainerState state) {
    DataOptions data = options.dataOptions;
    data.seed = job.settings.seed;
    data.classNames = job.data->classNames;
    data.model = job.data->table;
    return {options.data, data, fingerprint, lane.text(), job.shape, job.settings, std::move(state)};
}

/// Training on other examples would not be the same run, and could meet those that were held out.
void requireSameData(const Checkpoint& checkpoint, const DataFingerprint& now, const std::string& file) {
    if (!checkpoint.fingerprint || *checkpoint.fingerprint == now) return;
    const DataFingerprint& then = *checkpoint.fingerprint;
    throw std::runtime_error(
        fmt::format("{} has changed since {} was saved: {} training and {} test examples, then {} and {}{}; "
                    "a resumed run needs the "
                    "same data, for its test examples were never trained on. To train on the new ones, start "
                    "a new run with "
                    "--init {}",
                    checkpoint.dataSpec, file, grouped(now.train), grouped(now.test), grouped(then.train),
                    grouped(then.test),
                    now.train == then.train && now.test == then.test ? ", with other values" : "", file));
}

/// Says so if a checkpoint is at the finish line already; empty otherwise.
std::string nothingToTrain(const FinishLine& finish, const TrainJob& job, std::uint64_t step) {
    const std::uint64_t last = finish.lastStep(job.order());
    if (step < last) return {};
    return fmt::format("note: nothing is left to train: the checkpoint is at step {}, and the finish line is "
                       "step {}; raise {} to continue\n",
                       grouped(step), grouped(last), finish.steps == last ? "--steps" : "--epochs");
}

int trainAmong(RankSession& ranks, TrainCommandOptions options) {
    hushUnlessFirst(ranks, options);
    std::FILE* people = peopleStream(options);
    std::optional<Checkpoint> resumed;
    if (!options.resumeFile.empty()) {
        resumed = loadCheckpoint(options.resumeFile);
        takeOver(*resumed, options);
        if (options.settings.precision.wide())
            throw std::invalid_argument(
                "a run in fp64 is saved in fp32, so it cannot be resumed (to start a new "
                "run from its weights, use --init)");
    }
    refuseIdleOffload(options);
    refuseIdlePrecision(options.settings.precision);
    requireResultFiles(options, {{"--save", options.saveFile},
                                 {"--resume", options.resumeFile},
                                 {"--init", options.weightsFile},
                                 tableOf(options.data)});
    requireSeparateFiles({{"--save", options.saveFile}}, {tableOf(options.data)}); // --resume may be the same
    if (!options.saveFile.empty() && ranks.speaks()) requireWritable(options.saveFile);
    const Dataset data = loadData(options);
    const DataFingerprint fingerprint = fingerprintOf(data);
    if (resumed) requireSameData(*resumed, fingerprint, options.resumeFile);
    TrainJob job = ranks.share(makeJob(options, data));
    if (resumed) job.shape = resumed->shape;
    job.validate();
    Machines machines(options.threads, ranks.firstDevice());
    const LaneChoice choice = chooseTrainLane(options.lanes, machines);
    const LaneSpec lane = choice.lanes.front();
    requireFormat(job.settings.precision, lane);
    if (!choice.remark.empty()) printTo(people, "lane: {}\n", choice.remark);
    const FinishLine finish = finishLineFor(options, job, machines.software(lane));
    printTo(people, "{}{}", jobText(job, finish), ranks.text());
    if (resumed)
        printTo(people, "resumed at step {} of a run on {}\n", grouped(resumed->state.step), resumed->lane);
    if (resumed) printTo(people, "{}", nothingToTrain(finish, job, resumed->state.step));
    flushText(people);

    const auto save = [&](Trainer& trainer) {
        TrainerState state = trainer.state(); // of all ranks, and so asked for by all
        if (ranks.speaks())
            saveCheckpoint(options.saveFile, checkpointOf(options, job, lane, fingerprint, std::move(state)));
    };
    LaneOptions saved = laneOptions(options, job, finish);
    if (resumed) saved.start = resumed->state;
    saved.saveEvery = options.saveEvery;
    saved.save = save;
    requireSameRun(ranks, job, options, {lane}, saved);
    ranks.requireSame("--save", options.saveFile.empty() ? "no" : "yes");
    ranks.join(saved);
    Race race(job, {{lane, ranks.maker(machines, job, lane, options.share())}}, {std::move(saved)});
    const LoadWatch watch;
    const InterruptGuard guard;
    const int interrupt = ranks.anyInterrupt(runToEnd(race, options.quiet, guard));
    endIfLost(race, ranks);
    const std::optional<OtherLoad> load = loadOf(watch, ranks);
    // First of all the network, and neither it nor the results are lost for the other's failure.
    const bool whole = race.lane(0).snapshot().status != LaneStatus::failed;
    const bool saves = ranks.all(!options.saveFile.empty() && whole && race.lane(0).trainer() != nullptr);
    std::exception_ptr unsaved;
    if (saves) try {
            save(*race.lane(0).trainer());
        } catch (...) {
            unsaved = std::current_exception();
        }
    const int exitCode = reportRace({job, finish, false, load, "", ranks, memoryOfRanks(race, ranks)},
                                    options, repeatedRace({resultsOf(race, options, job)}), interrupt);
    ranks.writeTrace(traceTitle(job), job.shape.layers());
    if (unsaved) std::rethrow_exception(unsaved);
    if (saves) printTo(people, "saved to {}\n", options.saveFile);
    return exitCode;
}

int train(const TrainCommandOptions& options) {
    return amongRanks(options, [&](RankSession& ranks) { return trainAmong(ranks, options); });
}

} // namespace

Action addRace(CLI::App& command) {
    const auto options = std::make_shared<RaceCommandOptions>(); // as long as the command may be run
    addManual(command, raceAbout, raceExamples + rungList());
    addRunOptions(command, *options, "a contestant; repeat for more [cpu:best and gpu:best]:");
    command.option_defaults()->group(machineGroup);
    command.add_flag("--together", options->together,
                     "run all lanes at once (head to head); they then compete for the machine");
    command.add_flag(
        "--quick", options->quick,
        "start at once and stop at the finish line; otherwise each machine first works until its "
        "speed settles (2 s at most), and is timed for a second at least");
    addNumber(command, "--repeat", "N", options->repeat, atLeastOne(),
              "run the race N times, 1 to 20, and show medians and ranges [1]");
    return [options, &command] {
        refuseIdleOptions(command, *options);
        refuseIdleRanks(command, *options);
        return race(*options);
    };
}

Action addTrain(CLI::App& command) {
    const auto options = std::make_shared<TrainCommandOptions>(); // as long as the command may be run
    addManual(command, trainAbout, trainExamples);
    addRunOptions(command, *options, "where to run:");
    CLI::Option* save = addValue(command, "--save", "FILE", options->saveFile,
                                 "save the network and the state of its training");
    addNumber(command, "--save-every", "N", options->saveEvery, atLeastOne(),
              "also save after every N epochs")
        ->needs(save);
    addValue(command, "--resume", "FILE", options->resumeFile, "continue a saved run");
    return [options, &command] {
        if (!options->resumeFile.empty()) refuseWithResume(command);
        options->given = [&command](const char* option) { return demos::given(command, option); };
        refuseIdleOptions(command, *options);
        refuseIdleRanks(command, *options);
        return train(*options);
    };
}

} // namespace lockstep::demos
