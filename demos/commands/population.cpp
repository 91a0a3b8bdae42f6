// `lockstep population`: thousands of small networks at once, over two hyperparameters.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/commands/command.h"
#include "demos/commands/lanes_told.h"
#include "demos/draw/png.h"
#include "demos/kit/interrupt.h"
#include "demos/kit/machines.h"
#include "demos/kit/pacer.h"
#include "demos/options/parse.h"
#include "demos/options/run_options.h"
#include "demos/report/population_report.h"
#include "demos/report/progress.h"
#include "demos/report/result_files.h"
#include "demos/words/streams.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr const char* populationAbout =
    R"(Trains a grid of small networks of one shape. Columns vary one hyperparameter, rows another. A graphics card trains
all of them at once, a processor a few at a time. The lanes run in turn. Every lane trains the same grid, each
network from the same initial weights.)";

constexpr const char* populationExamples = R"(examples:
  lockstep population                                  32 x 32 networks: learning rate by scale of the initial weights
  lockstep population --size 4x8 --x activation=relu,tanh,elu,gelu --y seed=1:8 --data moons
  lockstep population --x lr=1e-4:1:log --y momentum=0:0.99 --optimizer momentum --csv losses.csv
  lockstep population --x noise=0:0.8 --y l2=1e-6:0.1:log --png population.png

An axis is NAME=FROM:TO, the first and the last value, with :log for equal ratios; or activation=NAME,NAME,...
  lr          learning rate              l2       L2 regularisation
  init-scale  scale of initial weights   noise    of generated points, 0 to 0.8
  momentum    of --optimizer momentum    seed     of initial weights and order; the data keep --seed

Lanes: cpu:scalar uses one thread without SIMD, cpu:simd one thread with it, cpu:best all cores with it.
gpu:invocation, gpu:subgroup and gpu:workgroup train one network in each invocation, subgroup or workgroup;
gpu:best picks the fastest of them for this shape on this device.
The picture shows each network's output over the plane (for data with two inputs) and the final losses as colours.
)";

struct PopulationCommandOptions : RunOptions {
    PopulationSpec spec;
};

/// What a hyperparameter is called where all networks share it.
constexpr std::pair<Hyperparameter, const char*> sharedOptions[] = {
    {Hyperparameter::learningRate, "--lr"},   {Hyperparameter::initialScale, "--init-scale"},
    {Hyperparameter::momentum, "--momentum"}, {Hyperparameter::weightDecay, "--weight-decay"},
    {Hyperparameter::noise, "--noise"},       {Hyperparameter::activation, "--activation"},
};

void refuseOptionsOfAxes(const CLI::App& command, const PopulationSpec& spec) {
    for (const auto& [parameter, option] : sharedOptions)
        if (given(command, option) && spec.axisOf(parameter) != nullptr)
            throw std::invalid_argument(
                fmt::format("{} would do nothing: {} is on an axis", option, name(parameter)));
}

/// What options say of the networks and their shared settings.
PopulationSpec specOf(const PopulationCommandOptions& options) {
    PopulationSpec spec = options.spec;
    spec.data = options.data;
    spec.dataOptions = options.dataOptions;
    spec.dataOptions.seed = options.settings.seed;
    spec.hidden = options.hiddenWidths.value_or(spec.hidden);
    spec.activation = options.activation;
    spec.outputActivation = options.outputActivation;
    spec.loss = options.loss;
    spec.init = options.init;
    spec.train = options.settings;
    return spec;
}

constexpr double sliceMilliseconds = 100;
constexpr double betweenLooks = 0.5; // seconds
constexpr double looksShare = 0.05;  // of the time, for looks at the losses

/// Networks that diverged have no way left.
double shareDone(const PopulationJob& job, const PopulationSummary& summary) {
    const double steps =
        static_cast<double>(job.members.size() - summary.diverged) * static_cast<double>(job.steps);
    return steps > 0 ? std::min(static_cast<double>(summary.networkSteps) / steps, 1.0) : 1.0;
}

/// Runs lanes in turn, so they don't compete for the machine. If there are several, each first trains a few
/// steps of all networks, untimed, to be checked against the others, and then starts over. An interrupt ends
/// it.
struct PopulationRun {
    const PopulationJob& job;
    Machines& machines;
    bool quiet;
    std::optional<DecisionMapOptions> maps; ///< to be drawn of every lane's networks at the end
    std::vector<PopulationLaneResult>& results;
    const InterruptGuard& interrupt;
    const char* preparation = ""; ///< of the lane that prepares
    ProgressLines lines{quiet};

    /// Returns the exit code so far: 0, or that of the interrupt. A lane that fails says so in its result,
    /// and the others go on.
    int run() {
        for (PopulationLaneResult& lane : results) runLane(lane);
        addAgreements(results);
        return interrupt.exitCode();
    }

    bool interrupted() const { return interrupt.exitCode() != 0; }

    void runLane(PopulationLaneResult& lane) {
        runOrFail(lane, "fewer networks", [&] {
            lane.end.status = interrupted() ? LaneStatus::stopped : LaneStatus::preparing;
            preparation = "warms up";
            show();
            if (interrupted()) return;
            const auto population =
                makePopulation(job, lane.spec, machines.threads(), machines.deviceOf(lane.spec));
            lane.machine = population->machine();
            lane.end.warmUpSeconds = population->warmUpSeconds();
            if (results.size() > 1) trainOpening(*population, lane);
            train(*population, lane);
            conclude(*population, lane);
        });
        show();
    }

    void trainOpening(Population& population, PopulationLaneResult& lane) {
        preparation = "trains its first steps, to be compared";
        show();
        for (const std::uint64_t steps : openingSteps(job.steps)) {
            if (interrupted()) return;
            population.trainTo(steps);
            lane.opening.push_back({steps, population.results()});
        }
        population.reset();
    }

    void train(Population& population, PopulationLaneResult& lane) {
        lane.end.status = LaneStatus::running;
        const double before = population.trainingSeconds();
        double nextLook = secondsNow() + betweenLooks;
        bool more = true;
        while (more && !interrupted()) {
            more = population.advance(sliceMilliseconds);
            lane.end.trainingSeconds = population.trainingSeconds() - before;
            const double start = secondsNow();
            if (quiet || start < nextLook) continue;
            lane.summary = population.summary();
            show();
            const double end = secondsNow();
            nextLook = end + std::max(betweenLooks, pauseAfter(end - start, looksShare));
        }
        if (!more) population.trainTo(job.steps); // waits for what is under way
        lane.end.trainingSeconds = population.trainingSeconds() - before;
        lane.end.status = more ? LaneStatus::stopped : LaneStatus::finished;
    }

    void conclude(Population& population, PopulationLaneResult& lane) {
        const double start = secondsNow();
        lane.members = population.results();
        lane.end.evaluationSeconds = secondsNow() - start;
        lane.summary = summarise(job, lane.members);
        lane.machine = population.machine();
        if (maps) lane.maps = population.decisionMaps(*maps);
    }

    LaneProgress progressOf(const PopulationLaneResult& lane) const {
        LaneSnapshot end = lane.end;
        end.progress = shareDone(job, lane.summary);
        std::string brief =
            fmt::format("{} of {} networks done  {} network-steps/s", grouped(lane.summary.finished),
                        grouped(job.members.size()), shortRate(lane.networkStepsPerSecond()));
        std::string numbers = brief;
        if (lane.summary.diverged > 0)
            numbers += fmt::format("  {} diverged", grouped(lane.summary.diverged));
        if (end.over()) numbers += fmt::format("  {}", name(end.status));
        if (end.status == LaneStatus::waiting) numbers = brief = "waits for its turn";
        if (end.status == LaneStatus::preparing) numbers = brief = preparation;
        return {lane.spec.text(), lane.spec.gpu, end.status, lane.summary.networkSteps > 0,
                end.progress,     numbers,       brief,      end.trainingSeconds};
    }

    void show() {
        std::vector<LaneProgress> lanes;
        for (const PopulationLaneResult& lane : results) lanes.push_back(progressOf(lane));
        lines.show(lanes);
    }
};

int population(const PopulationCommandOptions& options) {
    std::FILE* people = peopleStream(options);
    requireResultFiles(options, {tableOf(options.data)});
    const PopulationGrid grid = makePopulationGrid(specOf(options));
    Machines machines(options.threads, options.device);
    const LaneChoice choice = chooseRaceLanes(options.lanes, machines);
    tellBefore(people, choice, machines.anySoftware(choice.lanes), populationText(grid));

    std::vector<PopulationLaneResult> results(choice.lanes.size());
    for (std::size_t i = 0; i < results.size(); ++i) results[i].spec = choice.lanes[i];
    const auto maps = options.pngFile.empty() ? std::nullopt : pictureMaps(grid);
    const InterruptGuard interrupt;
    const int soFar = PopulationRun{grid.job, machines, options.quiet, maps, results, interrupt}.run();
    const Headline headline = headlineFor(results);
    tellAfter(people, "\n" + populationResultText(grid.spec, results), results, headline);

    if (!options.jsonFile.empty())
        writeResult(options.jsonFile, populationJson(grid, results, headline).dump(1) + "\n");
    if (!options.csvFile.empty()) writeResult(options.csvFile, populationCsv(grid, results));
    if (!options.pngFile.empty()) writePng(options.pngFile, populationPicture(grid, results));
    return exitCodeOf(results, soFar);
}

void addGridOptions(CLI::App& command, PopulationSpec& spec) {
    command.option_defaults()->group("Grid");
    addText(
        command, "--size", "NxM",
        [&spec](std::string_view text) {
            const auto [columns, rows] = populationSizeFromText(text);
            spec.columns = columns;
            spec.rows = rows;
        },
        fmt::format("columns and rows [{}x{}]", spec.columns, spec.rows));
    const auto axis = [&command](const char* option, PopulationAxis& values, const char* along) {
        addText(command, option, "AXIS", values, populationAxisFromText,
                fmt::format("hyperparameter that varies {} [{}]", along, values.text()));
    };
    axis("--x", spec.x, "from the left column to the right one");
    axis("--y", spec.y, "from the bottom row to the top one");
}

} // namespace

Action addPopulation(CLI::App& command) {
    const auto options = std::make_shared<PopulationCommandOptions>(); // as long as the command may be run
    RunOptions& run = *options;
    PopulationSpec& spec = options->spec;
    run.data = spec.data;
    run.hiddenWidths = spec.hidden;
    run.activation = spec.activation;
    run.init = spec.init;
    run.settings = spec.train;
    addManual(command, populationAbout, populationExamples);
    addGridOptions(command, spec);
    addDataOptions(command, run);
    addNetworkOptions(command, run, "bce for two classes, cross-entropy for more, mse for values");
    addNumber(command, "--init-scale", "X", spec.initialScale, aboveZero(),
              "scale factor for the initial weights")
        ->capture_default_str();
    addSettingsOptions(command, run);
    addNumber(command, "--steps", "N", spec.steps, atLeastOne(), "training steps per network")
        ->capture_default_str();
    addMachineOptions(command, run,
                      "a contestant; repeat for more [cpu:best and gpu:best]:", knownPopulationLanes());
    addOutputOptions(command, run, "one row per lane and network");
    addValue(command, "--png", "FILE", options->pngFile,
             "draw each network's output over the plane, and the losses as colours");
    return [options, &command] {
        refuseOptionsOfAxes(command, options->spec);
        refuseIdleOptions(command, *options);
        return population(*options);
    };
}

} // namespace lockstep::demos
