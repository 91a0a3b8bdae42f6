// A fixed amount of work for one worker or for thousands, of which one worker has to do the first tenth
// alone.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "demos/kit/pacer.h"
#include "demos/lab/experiment.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::uint32_t mostWorkers = 4096; // on the GPU
constexpr std::uint32_t mostRounds = 14;    // of a block: one workgroup's loops stay below 65,535 rounds
constexpr std::uint32_t group = 128;        // words of a block: no device allows fewer invocations
constexpr double tellingSpeedUp = 1.5;      // a lower one may be noise

std::uint32_t sixteenTurns(std::uint32_t value) {
    for (int turn = 0; turn < 16; ++turn) value = shared::xorshift(value);
    return value;
}

std::uint32_t turned(std::uint32_t value, std::uint32_t rounds) {
    for (std::uint32_t round = 0; round < rounds; ++round) value = sixteenTurns(value);
    return value;
}

/// What one worker does alone, and how much there is to share. A block is `group` words, each turned.
struct Work {
    Work(std::uint32_t blocksOfOne, std::uint32_t roundsOfBlock, std::uint32_t most)
        : blocks(blocksOfOne), rounds(roundsOfBlock), alone(blocks * rounds / 9) {
        // turned(a ^ b) is turned(a) ^ turned(b), so what the shares must add up to is known without the
        // work.
        std::vector<std::uint32_t> seeds(group);
        for (std::uint32_t l = 0; l < group; ++l) seeds[l] = turned(turned(l + 1, alone), rounds);
        sums.push_back(0);
        for (std::uint32_t block = 0; block < most; ++block) {
            const std::uint32_t mask = turned(block + 1, rounds);
            std::uint32_t sum = sums.back();
            for (const std::uint32_t seed : seeds) sum += seed ^ mask;
            sums.push_back(sum);
        }
    }
    void requireSumOf(std::span<const std::uint32_t> found, std::uint32_t ofBlocks) const {
        if (std::accumulate(found.begin(), found.end(), 0u) != sums[ofBlocks])
            throw std::runtime_error("wrong sum, so it is not timed");
    }

    std::uint32_t blocks;            ///< of a single worker
    std::uint32_t rounds;            ///< of 16 turns, for each word of a block
    std::uint32_t alone;             ///< rounds that come first: a ninth of what follows
    std::vector<std::uint32_t> sums; ///< of the first blocks
};

/// Milliseconds of the part of one worker (0: unknown), and of everything.
struct Times {
    double alone = 0;
    double all = 0;
};

class DeviceWorkers {
  public:
    explicit DeviceWorkers(LabBench& bench)
        : bench_(bench), seeds_(bench.buffer(4 * group, "seeds")),
          sums_(bench.buffer(std::uint64_t{4} * group * mostWorkers, "sums")) {}

    Times time(const Work& work, std::uint32_t workers, std::uint32_t blocks) {
        const LabKernel& alone = kernel(0);
        const LabKernel& everybody = kernel(1);
        bench_.recorder().takeTrace();
        Times times;
        times.all = bench_.deviceMilliseconds([&](gpu::Recorder& recorder) {
            recorder.traceDispatches(true);
            recorder.dispatch(alone, {group, 1, 1}, {0, work.alone, 0, 0}, {seeds_.view(), sums_.view()});
            recorder.dispatch(everybody, {group * workers, 1, 1}, {blocks, work.rounds, workers, 0},
                              {seeds_.view(), sums_.view()});
        });
        const std::vector<gpu::TracedDispatch> trace = bench_.recorder().takeTrace();
        if (!trace.empty()) times.alone = trace.front().endMs - trace.front().beginMs;
        work.requireSumOf(sums_.downloadValues<std::uint32_t>(group * workers), blocks);
        return times;
    }

  private:
    const LabKernel& kernel(std::uint32_t choice) {
        return bench_.kernel("lab_one_to_all", {{shared::labGroupSize, group}, {shared::labChoice, choice}});
    }

    LabBench& bench_;
    gpu::Buffer seeds_;
    gpu::Buffer sums_;
};

class ProcessorWorkers {
  public:
    explicit ProcessorWorkers(std::size_t most) : team_(most) {}

    Times time(const Work& work, std::uint32_t workers, std::uint32_t blocks) {
        std::vector<std::uint32_t> seeds(group);
        std::vector<std::uint32_t> sums(workers);
        const double begin = secondsNow();
        std::iota(seeds.begin(), seeds.end(), 1u);
        turnAll(seeds, work.alone);
        const double alone = secondsNow() - begin;
        team_.run(
            [&](std::size_t worker) {
                std::vector<std::uint32_t> words(group);
                std::uint32_t sum = 0;
                for (auto block = static_cast<std::uint32_t>(worker); block < blocks; block += workers) {
                    for (std::uint32_t l = 0; l < group; ++l) words[l] = seeds[l] ^ (block + 1);
                    turnAll(words, work.rounds);
                    sum = std::accumulate(words.begin(), words.end(), sum);
                }
                sums[worker] = sum;
            },
            workers);
        const double all = secondsNow() - begin;
        work.requireSumOf(sums, blocks);
        return {1e3 * alone, 1e3 * all};
    }

  private:
    static void turnAll(std::vector<std::uint32_t>& words, std::uint32_t rounds) {
        for (std::uint32_t round = 0; round < rounds; ++round)
            for (std::uint32_t& word : words) word = sixteenTurns(word);
    }

    ThreadTeam team_;
};

/// Rounds of a block with which a single workgroup stays well below what the device may be held for.
std::uint32_t roundsFor(LabBench& bench, DeviceWorkers& workers, std::uint32_t blocks) {
    const double longest = 0.4 * bench.device()->longestSubmission();
    double perRound = 0; // milliseconds
    for (std::uint32_t some = blocks / 64; some <= blocks; some *= 8) {
        const Work trial(some, 1, some);
        workers.time(trial, 1, some); // compiles
        perRound = workers.time(trial, 1, some).all * blocks / some;
        if (8 * perRound * some / blocks > longest) break;
    }
    return static_cast<std::uint32_t>(std::clamp(longest / perRound, 1.0, double{mostRounds}));
}

/// A machine's two series, and the numbers that they come to. `growing`: of all blocks, a worker's share.
template <class Workers>
void measureMachine(LabBench& bench, LabResult& result, bool gpu, Workers* workers,
                    const std::vector<double>& values, const Work& fixed, const Work& growing) {
    const std::string machine = gpu ? "gpu_" : "cpu_";
    constexpr double never = std::numeric_limits<double>::infinity();
    Times fastest{never, never}; // of one worker: the rounds that nothing has disturbed
    const auto sweep = [&](const char* name, const Work& work, bool grows) -> const LabSeries& {
        const auto sample = [&, grows](double value) {
            const auto count = static_cast<std::uint32_t>(value);
            const Times times = workers->time(work, count, work.blocks * (grows ? count : 1));
            if (count == 1 && !grows)
                fastest = {std::min(fastest.alone, times.alone), std::min(fastest.all, times.all)};
            return times.all;
        };
        std::vector<double> within = values; // the work that there are results for
        if (grows)
            std::erase_if(within, [&](double value) {
                return static_cast<std::size_t>(value) * work.blocks >= work.sums.size();
            });
        bench.sweep(result, {gpu, name, within, sample, [=](double value) { return grows ? value : 1; }});
        return result.series.back();
    };
    const std::vector<LabPoint> points = sweep("fixed work", fixed, false).points;
    if (points.empty()) return;
    const double share = std::min(fastest.alone / fastest.all, 1.0);
    auto least = std::ranges::min_element(points, {}, &LabPoint::median);
    // Among equals, chance has a winner.
    const double ratio = points.front().median / least->median;
    if (ratio < 1.05 || (ratio < tellingSpeedUp && !apart(points.front(), *least))) least = points.begin();
    if (share > 0) result.numbers[machine + "serial_share"] = share;
    result.numbers[machine + "one_milliseconds"] = points.front().median;
    result.numbers[machine + "best_milliseconds"] = least->median;
    result.numbers[machine + "best_workers"] = least->x;
    result.numbers[machine + "speed_up"] = points.front().median / least->median;
    sweep("growing work", growing, true);

    // From times to speed-ups: the time that one worker would need for this work, over that of all.
    for (LabSeries* series = &result.series.back() - 1; series <= &result.series.back(); ++series) {
        if (series->points.empty()) continue;
        const bool grows = series == &result.series.back();
        const double one = series->points.front().median;
        for (LabPoint& point : series->points) {
            const double work = one * (grows ? share + (1 - share) * point.x : 1);
            point = {point.x, work / point.median, work / point.high, work / point.low};
        }
        if (grows)
            result.numbers[machine + "growing_speed_up"] =
                std::ranges::max_element(series->points, {}, &LabPoint::median)->median;
    }
}

void measure(LabBench& bench, LabResult& result) {
    const std::uint32_t blocks = bench.rough() ? 256 : 4096;
    std::uint32_t rounds = bench.rough() ? 1 : mostRounds;
    const auto sharesOf = [&](std::uint32_t part, double most) {
        const auto one = blocks / part;
        return Work(one, rounds, one * static_cast<std::uint32_t>(most));
    };
    const std::vector<double> groups = labValues(1, bench.rough() ? 64 : mostWorkers, 2);
    std::optional<DeviceWorkers> device;
    const std::string failure = failureOf([&] {
        if (bench.device() == nullptr) return;
        device.emplace(bench);
        rounds = std::min(rounds, roundsFor(bench, *device, blocks));
    });
    const Work fixed(blocks, rounds, blocks);
    if (failure.empty())
        // In software, submissions cost so much that a single worker's share must be large beside them.
        measureMachine(bench, result, true, device ? &*device : nullptr, groups, fixed,
                       bench.software() ? sharesOf(4, 64) : sharesOf(64, groups.back()));
    else
        result.series.push_back({true, "fixed work", {}, failure});

    std::vector<double> threads = labValues(1, static_cast<double>(4 * bench.threads()), 2);
    threads.push_back(static_cast<double>(bench.threads()));
    std::ranges::sort(threads);
    threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
    ProcessorWorkers processor(4 * bench.threads());
    measureMachine(bench, result, false, &processor, threads, fixed, sharesOf(4, threads.back()));
}

/// The rounds of one worker and of the best number of workers do not contradict the speed-up.
bool decided(const LabResult& result) {
    const LabSeries* series = result.find(true, "fixed work");
    if (series == nullptr || !result.has("gpu_speed_up")) return false;
    const auto best = std::ranges::find(series->points, result.number("gpu_best_workers"), &LabPoint::x);
    return best != series->points.end() &&
           (result.number("gpu_speed_up") < tellingSpeedUp || apart(series->points.front(), *best));
}

std::optional<std::size_t> answer(const LabResult& result) {
    if (!decided(result)) return std::nullopt;
    const double times = result.number("gpu_speed_up");
    return times < 3 ? 0 : times < 10.5 ? 1 : times < 100 ? 2 : 3;
}

/// The GPU's speed-up is clearly higher if the work grows with the workers.
bool growthHelps(const LabResult& result) {
    const LabSeries* series = result.find(true, "growing work");
    if (series == nullptr || series->points.empty()) return false;
    const auto best = std::ranges::max_element(series->points, {}, &LabPoint::median);
    return best->median > 1.2 * result.number("gpu_speed_up") && apart(series->points.front(), *best);
}

void conclude(const LabResult& result, MeasuredValues& values) {
    if (result.has("gpu_speed_up")) values["gpu_too_busy"].number = decided(result) ? 0 : 1;
    if (result.has("gpu_growing_speed_up")) values["gpu_growth_helps"].number = growthHelps(result) ? 1 : 0;
}

/// A bar per machine and number of workers, to the same scale: the part of one worker, then everybody's.
float drawTimes(const Ui& ui, const LabResult& result) {
    struct Bar {
        bool gpu;
        std::string label;
        double alone, all; // milliseconds
    };
    std::vector<Bar> bars;
    double longest = 0;
    for (const bool gpu : {false, true}) {
        const std::string machine = gpu ? "gpu_" : "cpu_";
        const double one = result.number(machine + "one_milliseconds");
        const double alone = one * result.number(machine + "serial_share");
        if (!(one > 0)) continue;
        const auto add = [&](double workers, double all) {
            bars.push_back({gpu, counted(static_cast<std::uint64_t>(workers), gpu ? "workgroup" : "thread"),
                            alone, std::max(all, alone)});
            longest = std::max(longest, all);
        };
        add(1, one);
        if (result.number(machine + "best_workers") > 1)
            add(result.number(machine + "best_workers"), result.number(machine + "best_milliseconds"));
    }
    if (bars.empty() || ui.masked) return 0;
    const SmallLetters small(ui);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImVec2 start = ImGui::GetCursorScreenPos();
    float labels = 0;
    for (const Bar& bar : bars) labels = std::max(labels, textWidth(bar.label) + ui.px(12));
    const float letters = ImGui::GetTextLineHeight();
    const float row = letters + ui.px(5);
    const float room = ImGui::GetContentRegionAvail().x - labels - textWidth("0.000 ms") - ui.px(12);
    float y = start.y;
    for (const Bar& bar : bars) {
        const ImU32 colour = bar.gpu ? ui.theme.gpu : ui.theme.cpu;
        const float left = start.x + labels;
        const float alone = left + static_cast<float>(bar.alone / longest) * room;
        const float end = left + static_cast<float>(bar.all / longest) * room;
        draw.AddText({start.x, y}, legible(ui.theme, colour), bar.label.c_str());
        draw.AddRectFilled({left, y + ui.px(1)}, {alone, y + letters}, colour);
        draw.AddRectFilled({alone, y + ui.px(1)}, {end, y + letters}, faded(colour, 0.3f));
        draw.AddRect({left, y + ui.px(1)}, {end, y + letters}, colour, 0, 0, ui.line());
        draw.AddText({end + ui.px(6), y}, ui.theme.text, duration(1e-3 * bar.all).c_str());
        y += row;
    }
    drawText(draw, {start.x + labels, y}, ui.theme.muted,
             "one time scale; filled: what one worker has to do alone; light: what can be shared");
    const float height = y + row + ui.px(4) - start.y;
    ImGui::Dummy({0, height - ImGui::GetStyle().ItemSpacing.y});
    return height;
}

void draw(Ui& ui, const Experiment& experiment, const LabResult& result, LabView& view) {
    const float room = ImGui::GetContentRegionAvail().y;
    // Where there is little room, the curves are the picture.
    const float used = room > ui.px(260) ? drawTimes(ui, result) : 0;
    std::vector<double> workers[2], limit[2];
    std::vector<PlotLine> models;
    for (const bool gpu : {false, true}) {
        const double share = result.number(gpu ? "gpu_serial_share" : "cpu_serial_share");
        const LabSeries* series = result.find(gpu, "fixed work");
        if (series == nullptr || !(share > 0)) continue;
        for (const LabPoint& point : series->points) {
            workers[gpu].push_back(point.x);
            limit[gpu].push_back(1 / (share + (1 - share) / point.x));
        }
        models.push_back({.name = gpu ? "GPU Amdahl, enough cores" : "CPU Amdahl, enough cores",
                          .colour = gpu ? ui.theme.gpu : ui.theme.cpu,
                          .dotted = true,
                          .x = workers[gpu],
                          .y = limit[gpu]});
    }
    drawLabCurves(ui, experiment, result, view, room - used, models);
}

/// One cook does all of it; then one begins, and five share the rest.
LabScene scene() {
    LabScene scene{.beats = 20,
                   .blocks = {{0, 1.2f, 16, 0.7f, 0, 16, LabTone::muted}, {0, 3.15f, 2, 0.45f, 0, 2}},
                   .labels = {{0, 1.1f, "one worker"}, {0, 3.05f, "five workers, a tenth of it alone"}}};
    for (int worker = 0; worker < 5; ++worker)
        scene.blocks.push_back({2.1f, 3.15f + 0.57f * static_cast<float>(worker), 2.8f, 0.45f, 2, 5});
    return scene;
}

LabAxes axes(const LabReach& reach) { return {{1, mostWorkers}, {0.5, reach.software ? 10.0 : 100.0}}; }

LabVerdict verdict(const LabResult& result) {
    const double best = result.number("gpu_best_workers");
    const double times = result.number("gpu_speed_up");
    return ratioVerdict(times,
                        gpuFactor(times, {labPointAt(result, true, "fixed work", 1),
                                          labPointAt(result, true, "fixed work", best)}),
                        {"as fast", "No faster"},
                        best < 2 ? std::string(translated("with more workgroups"))
                                 : translatedFormat("with {} workgroups; ideal would be {}×", twoDigits(best),
                                                    twoDigits(best)));
}

} // namespace

extern const Experiment oneToAll{
    .place = 10,
    .name = "one-to-all",
    .title = "One cook, many helpers",
    .idea = "The same work for 1, 2, 4, ... workers: threads on the CPU, workgroups on the GPU. One worker "
            "has to do the first tenth of the arithmetic alone. Speed-ups are relative to one worker of the "
            "same machine.",
    .group = LabGroup::work,
    .scene = scene,
    .question =
        "One workgroup does the first tenth, then many share the rest. How many times as fast is that "
        "as one workgroup alone?",
    .choices = {"less than 3 times", "3 to 10 times", "10 to 100 times", "more than 100 times"},
    .x = {.title = "workers", .sketched = PlotRange{1, mostWorkers}},
    .y = {.title = "speed-up", .sketched = PlotRange{0.5, 100}},
    .lines = {"GPU fixed work", "CPU fixed work"},
    .sketched = "fixed work",
    .sources = {"lab_one_to_all.comp", "one_to_all.cpp"},
    .link = {"Give the GPU more to share: batch 4,096", "race",
             R"({"data": "spiral", "hidden": [64, 64], "settings": {"batch": 4096}})"},
    .axes = axes,
    .introduced = true,
    .folds = true,
    .measure = measure,
    .answer = answer,
    .verdict = verdict,
    .conclude = conclude,
    .draw = draw};

} // namespace lockstep::demos
