#include "demos/exhibits/race/race_words.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "demos/kit/operations.h"
#include "demos/report/headline.h"
#include "demos/report/memory_report.h"
#include "demos/words/language.h"
#include "demos/words/text.h"
#include "engine/net/names.h"
#include "engine/plan/rounding.h"

namespace lockstep::demos {

namespace {

// From this share of a step on, launches are what it is made of.
constexpr double launchBound = 0.5;

double logShare(double from, double now, double to) {
    if (!(from > 0) || !(now > 0) || from <= to) return 0;
    return std::log(from / now) / std::log(from / to);
}

std::string preparation(const RaceRun& run, std::size_t lane) {
    const TuningProgress& tuning = run.lanes[lane].end.tuning;
    return std::string(translated(tuning.going() ? "compares kernels" : "warms up"));
}

bool moves(const LaneResult& lane) {
    return lane.end.status == LaneStatus::running || lane.end.status == LaneStatus::paused;
}

/// Rounded down: 100 is the finish.
double percentOfWay(const RaceRun& run, std::size_t lane) {
    return std::floor(100 * shareOfWay(run.finish, run.lanes[lane]));
}

std::string doing(const RaceRun& run, std::size_t index, bool begins, bool timed,
                  std::optional<bool> software) {
    const LaneResult& lane = run.lanes[index];
    const std::string name = laneName(run, index, begins, software);
    if (lane.end.status == LaneStatus::finished)
        return translatedFormat("{} finished in {}", name, timed ? duration(figuresOf(lane).seconds) : "-");
    if (moves(lane)) return translatedFormat("{} at {:.0f} %", name, percentOfWay(run, index));
    return name + " " + std::string(translated(statusText(run, index)));
}

/// Who has finished, and where the others are; of more than two lanes, how many. Empty before the start.
std::string whereTheyAre(const RaceRun& run, bool timed, std::optional<bool> software) {
    const auto statusIs = [](LaneStatus status) {
        return [status](const LaneResult& lane) { return lane.end.status == status; };
    };
    if (std::ranges::all_of(run.lanes, statusIs(LaneStatus::waiting))) return {};
    std::string text;
    const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
    if (run.lanes.size() <= 2) {
        for (std::size_t i = 0; i < run.lanes.size(); ++i) add(doing(run, i, i == 0, timed, software));
        return text;
    }
    if (const auto finished = std::ranges::count_if(run.lanes, statusIs(LaneStatus::finished)); finished > 0)
        text = translatedFormat("{} of {} lanes finished", finished, run.lanes.size());
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < run.lanes.size(); ++i)
        if (moves(run.lanes[i]) || run.lanes[i].end.status == LaneStatus::preparing) others.push_back(i);
    if (others.size() == 1) add(doing(run, others[0], false, timed, software));
    if (others.size() < 2) return text;
    const auto [last, first] =
        std::ranges::minmax(others, {}, [&](std::size_t lane) { return percentOfWay(run, lane); });
    const double least = percentOfWay(run, last);
    const double most = percentOfWay(run, first);
    add(least == most ? translatedFormat("{} lanes at {:.0f} %", others.size(), least)
                      : translatedFormat("{} lanes between {:.0f} and {:.0f} %", others.size(), least, most));
    return text;
}

} // namespace

std::string laneName(const RaceRun& run, std::size_t index, bool begins, std::optional<bool> software) {
    const LaneResult& lane = run.lanes[index];
    const bool machines = run.lanes.size() == 2 && run.lanes[0].spec.gpu != run.lanes[1].spec.gpu;
    // Before a lane prepares, it has no device yet: what it will get may be known all the same.
    const bool prepared = !lane.machine.device.empty();
    const bool known = prepared || (software.has_value() && lane.spec.device.empty());
    if (!machines || (lane.spec.gpu && !known)) return lane.spec.text();
    if (lane.spec.gpu && (prepared ? lane.machine.software : software.value_or(false)))
        return std::string(translated(begins ? "Software Vulkan" : "software Vulkan"));
    return lane.spec.gpu ? "GPU" : "CPU";
}

std::string matchText(const std::vector<LaneSpec>& lanes) {
    std::string text;
    for (const LaneSpec& lane : lanes)
        text.append(text.empty() ? "" : translated(" against ")).append(lane.text());
    return text;
}

std::string invitation(const std::vector<LaneSpec>& lanes) {
    if (lanes.size() == 1) return translatedFormat("{} trains a network.", lanes[0].text());
    const bool machines = lanes.size() == 2 && lanes[0].gpu != lanes[1].gpu;
    const std::string who = machines ? std::string(translated("The CPU and the GPU"))
                            : lanes.size() == 2
                                ? translatedFormat("{} and {}", lanes[0].text(), lanes[1].text())
                                : translatedFormat("{} lanes", lanes.size());
    return translatedFormat("{} train the same network. Which is faster?", who);
}

std::vector<std::pair<std::string, std::string>> jobRows(const TrainJob& job, const FinishLine& finish) {
    const TrainSettings& settings = job.settings;
    const std::vector<std::string> saving = savingTexts(settings.memory);
    std::vector<std::pair<std::string, std::string>> rows = {
        {"data", job.data->name},
        {"training examples", grouped(job.data->train.count)},
        {"test examples", grouped(job.data->test.count)},
        {"layers", job.shape.describeWidths()},
        {"activation", std::string(name(job.shape.activation))},
        {"loss", std::string(name(job.shape.loss))},
        {"parameters", grouped(job.shape.parameters())},
        {"optimizer", translatedFormat("{} {:g}", name(settings.optimizer.kind),
                                       settings.optimizer.effectiveLearningRate())},
        {"batch", grouped(settings.batch)},
        {"seed", std::to_string(settings.seed)},
        {"order", settings.shuffle ? "shuffled" : "as in the file"},
        {"until", finishText(finish)}};
    if (settings.precision.rounds())
        rows.emplace_back("numbers", translatedParts(emulationText(settings.precision)));
    else if (settings.precision.wide())
        rows.emplace_back("numbers", "fp64");
    if (!saving.empty()) rows.emplace_back("memory", fmt::format("{}", fmt::join(saving, ", ")));
    return rows;
}

std::string liveText(const RaceRun& run, bool timed, std::optional<bool> software) {
    std::string text;
    if (run.settings.repeat > 1)
        text = translatedFormat("run {} of {}: ", run.finished.size() + 1, run.settings.repeat);
    const std::string where = whereTheyAre(run, timed, software);
    text += where.empty() ? matchText(run.specs()) : where;
    if (!run.finish.needsEvaluation() || std::ranges::none_of(run.lanes, moves)) return text;
    // Without the limit that ends a run which never gets there.
    const FinishLine goal{.accuracy = run.finish.accuracy, .loss = run.finish.loss};
    return text + translatedFormat(", aiming for {}", finishText(goal));
}

std::string skippedText(const RaceRun& run) {
    for (const LaneResult& lane : run.lanes) {
        const TuningProgress& tuning = lane.end.tuning;
        if (!tuning.skipped || tuning.going() || tuning.compared >= tuning.comparisons) continue;
        return translatedFormat("The comparison of kernels was skipped after {} of {}: {} ran the fastest of "
                                "those measured, and the likeliest for the rest. It may be faster.",
                                tuning.compared, tuning.comparisons, lane.spec.text());
    }
    return {};
}

std::string whereItEnded(const RaceRun& run) {
    if (!run.finished.empty())
        return translatedFormat("{} of {} runs are finished", run.finished.size(), run.settings.repeat);
    std::string text;
    for (const LaneResult& lane : run.lanes)
        text += text.empty()
                    ? translatedFormat("{} ended at step {}", lane.spec.text(), grouped(lane.end.step))
                    : translatedFormat(", {} at step {}", lane.spec.text(), grouped(lane.end.step));
    return text;
}

double shareOfWay(const FinishLine& finish, const LaneResult& lane) {
    if (lane.end.status == LaneStatus::finished) return 1;
    double share = finish.needsEvaluation() ? 0 : lane.end.progress;
    if (finish.accuracy > 0 && !std::isnan(lane.end.testAccuracy))
        share = std::max(share, lane.end.testAccuracy / finish.accuracy);
    if (finish.loss > 0 && !std::isnan(lane.end.testLoss) && !lane.telemetry.opening().empty()) {
        const auto first = static_cast<double>(lane.telemetry.opening().front());
        share = std::max(share, logShare(first, lane.end.testLoss, finish.loss));
    }
    return std::clamp(share, 0.0, 1.0);
}

std::string statusText(const RaceRun& run, std::size_t lane) {
    const LaneStatus status = run.lanes[lane].end.status;
    if (status == LaneStatus::waiting && !run.settings.together) return "waits for its turn";
    if (status == LaneStatus::preparing) return preparation(run, lane);
    if (status == LaneStatus::ready) return "at the start";
    if (status == LaneStatus::paused && !run.paused) return "running"; // held between slow steps
    return std::string(name(status));
}

std::string threadsText(const RaceRun& run, std::size_t lane) {
    const LaneResult& result = run.lanes[lane];
    if (result.spec.gpu) return {};
    const std::size_t now = result.machine.threads;
    const std::size_t most = std::max(now, run.teams ? (*run.teams)[lane].load() : 0);
    if (result.end.over() || result.machine.throttled() || most <= 1) return shareText(result.machine);
    return translatedFormat("up to {}", counted(most, "thread"));
}

StepCost stepCost(const LaneResult& lane, const LaneFigures& figures) {
    StepCost cost;
    if (lane.end.runSteps == 0) return cost;
    cost.seconds = figures.secondsPerStep;
    cost.deviceSeconds = figures.deviceSecondsPerStep;
    std::uint64_t sampledSteps = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t calls = 0;
    double shortest = std::numeric_limits<double>::infinity();
    for (const OperationTiming& operation : lane.operations) {
        if (operation.calls == 0) continue;
        if (operationFromName(operation.name) == Operation::wholeStep) cost.wholeSteps = true;
        sampledSteps = std::min(sampledSteps, operation.calls);
        calls += operation.calls;
        shortest = std::min(shortest, operation.milliseconds * 1e-3 / static_cast<double>(operation.calls));
    }
    if (calls == 0 || cost.wholeSteps) return cost;
    cost.launches = static_cast<double>(calls) / static_cast<double>(sampledSteps);
    cost.shortest = shortest;
    return cost;
}

std::string becauseText(const RaceRun& run) {
    if (!run.over || !run.headline.valid || run.headline.ratio < equalBelow) return {};
    const LaneResult& winner = run.lanes[run.headline.faster];
    const LaneResult& loser = run.lanes[run.headline.slower];
    const std::vector<LaneFigures> figures = run.figures();
    const StepCost fast = stepCost(winner, figures[run.headline.faster]);
    const StepCost slow = stepCost(loser, figures[run.headline.slower]);
    if (fast.seconds <= 0 || slow.seconds <= fast.seconds) return {};
    if (!winner.spec.gpu && loser.machine.software)
        return translatedFormat("Because there is no GPU in this race: {} runs on the CPU, too, in software "
                                "that stands in for a GPU.",
                                loser.spec.text());
    if (loser.machine.throttled() && !winner.machine.throttled())
        return translatedFormat("Because {} is throttled.", loser.spec.text());
    if (!winner.spec.gpu && loser.spec.gpu) {
        const double launching = slow.launches * slow.shortest;
        if (slow.wholeSteps)
            return std::string(translated("Because this network is too small to keep a GPU busy."));
        if (launching >= launchBound * slow.seconds && launching <= slow.seconds)
            return std::string(translated("Because starting work on the GPU costs more than the work."));
    }
    const double fastRate = figures[run.headline.faster].gflops,
                 slowRate = figures[run.headline.slower].gflops;
    if (fastRate <= slowRate) return {};
    const std::string fastText = amountText(fastRate * 1e9, "FLOP/s");
    const std::string slowText = amountText(slowRate * 1e9, "FLOP/s");
    if (winner.spec.gpu && !winner.machine.software && !loser.spec.gpu)
        return translatedFormat("Because the GPU computes many outputs at the same time: {} against {}.",
                                fastText, slowText);
    return translatedFormat("Because {} does more arithmetic per second: {} against {}.", winner.spec.text(),
                            fastText, slowText);
}

std::string whyTheProcessorWins(const RaceRun& run) {
    if (!run.over || !run.headline.valid || run.headline.ratio < equalBelow) return {};
    const LaneResult& cpu = run.lanes[run.headline.faster];
    const LaneResult& gpu = run.lanes[run.headline.slower];
    if (cpu.spec.gpu || !gpu.spec.gpu) return {};
    const std::vector<LaneFigures> figures = run.figures();
    const StepCost fast = stepCost(cpu, figures[run.headline.faster]);
    const StepCost slow = stepCost(gpu, figures[run.headline.slower]);
    if (fast.seconds <= 0 || slow.seconds <= fast.seconds) return {};
    const std::string cpuName = cpu.spec.text();
    const std::string gpuName = gpu.spec.text();
    const std::string steps = translatedFormat("One step takes {} there and {} on {}.",
                                               duration(slow.seconds), duration(fast.seconds), cpuName);
    if (gpu.machine.software)
        return translatedFormat("Why the CPU wins: there is no GPU in this race. {} runs on the CPU, too, in "
                                "software that stands in for a GPU. {}",
                                gpuName, steps);
    if (gpu.machine.workgroups > 0)
        return translatedFormat(
            "Why the CPU wins: the GPU is throttled. {} runs {}, and every piece of a dispatch "
            "is a launch of its own. {}",
            gpuName, shareText(gpu.machine), steps);
    if (slow.wholeSteps)
        return translatedFormat(
            "Why the CPU wins: this network is too small to keep a GPU busy. {} trains it in a "
            "single workgroup, while the rest of the GPU has nothing to do. {}",
            gpuName, steps);
    const double launching = slow.launches * slow.shortest;
    // Steps that were timed launch by launch are slower. Where that shows, they explain nothing.
    if (launching >= launchBound * slow.seconds && launching <= slow.seconds)
        return translatedFormat(
            "Why the CPU wins: starting work on the GPU costs more than the work. {} launches "
            "{} kernels per step. Even if each took only as long as the shortest ({}), "
            "that would be {} per step. {}",
            gpuName, threeDigits(slow.launches), duration(slow.shortest), duration(launching), steps);
    const auto rate = [&](std::size_t lane) { return amountText(figures[lane].gflops * 1e9, "FLOP/s"); };
    return translatedFormat("Why the CPU wins: it does this arithmetic faster. {} reaches {}, {} reaches {}.",
                            cpuName, rate(run.headline.faster), gpuName, rate(run.headline.slower));
}

std::vector<TimeShare> timeShares(const LaneResult& lane, std::span<const OperationTiming> operations,
                                  double windowSeconds) {
    if (lane.end.runSteps == 0) return {};
    double sum = 0;
    for (const OperationTiming& operation : operations) sum += operation.milliseconds;
    if (!(sum > 0)) return {};
    const auto steps = static_cast<double>(lane.end.runSteps);
    const LaneFigures figures = figuresOf(lane);
    const double device = std::min(figures.deviceSecondsPerStep, figures.secondsPerStep);
    std::vector<TimeShare> shares;
    for (const OperationTiming& operation : operations)
        if (operation.milliseconds > 0)
            shares.push_back({operation.name, device * operation.milliseconds / sum});
    const double rest = figures.secondsPerStep - device;
    const double drawn = std::min(windowSeconds / steps, rest);
    std::ranges::stable_sort(shares, {},
                             [](const TimeShare& share) { return operationFromName(share.name); });
    if (drawn > 0) shares.push_back({std::string(windowPart), drawn});
    if (rest > drawn) shares.push_back({std::string(waitingPart), rest - drawn});
    return shares;
}

} // namespace lockstep::demos
