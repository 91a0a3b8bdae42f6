// Loads that wait for each other, in one chain or in thousands at once.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "demos/kit/pacer.h"
#include "demos/lab/experiment.h"
#include "demos/words/median.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::uint32_t lastWord = 3; // specialisation constant of the shader

// Larger than most caches.
std::uint32_t bitsFor(const LabBench& bench) {
    if (bench.rough()) return 14;
    if (bench.device() == nullptr || bench.software()) return 24;
    const gpu::Limits& limits = bench.device()->limits();
    const std::uint64_t most = std::min(limits.storageRange, bench.device()->memoryLeft() / 4) / 4;
    return std::min(25u, static_cast<std::uint32_t>(std::bit_width(most)) - 1);
}

/// A path through all words: next[labScatter(k)] = labScatter(k + 1).
struct Path {
    explicit Path(std::uint32_t bits) : next(std::size_t{1} << bits), last((1u << bits) - 1) {
        std::uint32_t at = shared::labScatter(0, last);
        for (std::uint32_t k = 0; k <= last; ++k) {
            const std::uint32_t after = shared::labScatter((k + 1) & last, last);
            next[at] = after;
            at = after;
        }
    }
    std::uint32_t wordAt(std::uint32_t step) const { return shared::labScatter(step & last, last); }

    std::vector<std::uint32_t> next;
    std::uint32_t last;
};

/// Chains that run at once, apart from each other, and where no chains have been lately.
struct Chains {
    Chains(const Path& all, std::uint32_t chains, std::uint32_t most)
        : path(all), count(chains), apart(std::max((all.last + 1) / chains, 1u)),
          rounds(std::min(most, apart)), first(sample++ * 2654435769u & all.last) {}

    void require(std::span<const std::uint32_t> ends) const {
        for (std::uint32_t i = 0; i < count; ++i)
            if (ends[i] != path.wordAt(first + i * apart + rounds))
                throw std::runtime_error("a chain of loads ended at a wrong word, so it is not timed");
    }
    double loads() const { return static_cast<double>(count) * rounds; }

    const Path& path;
    std::uint32_t count;
    std::uint32_t apart;
    std::uint32_t rounds; ///< loads of each
    std::uint32_t first;

  private:
    static inline std::uint32_t sample = 0;
};

class DeviceLoads {
  public:
    DeviceLoads(LabBench& bench, const Path& path, std::uint32_t mostChains)
        : bench_(bench), path_(path), next_(bench.buffer(std::uint64_t{4} * path.next.size(), "next")),
          ends_(bench.buffer(std::uint64_t{4} * mostChains, "ends")) {
        next_.uploadValues<std::uint32_t>(path.next);
    }

    // Enough for the device's clock, and little enough for its patience.
    std::uint32_t rounds(std::uint32_t chains) const {
        const std::uint32_t all = bench_.rough() ? 1u << 12 : bench_.software() ? 1u << 19 : 1u << 22;
        return std::clamp(all / chains, 32u, bench_.rough() ? 64u : 2048u);
    }
    /// Loads per microsecond.
    double rate(std::uint32_t count) {
        const Chains chains(path_, count, rounds(count));
        const LabKernel& kernel = bench_.kernel(
            "lab_hide_the_wait", {{shared::labGroupSize, bench_.groupSize()}, {lastWord, path_.last}});
        const double milliseconds = bench_.deviceMilliseconds([&](gpu::Recorder& recorder) {
            recorder.dispatch(kernel, {count, 1, 1}, {count, chains.rounds, chains.apart, chains.first},
                              {next_.view(), ends_.view()});
        });
        chains.require(ends_.downloadValues<std::uint32_t>(count));
        return chains.loads() / (1e3 * milliseconds);
    }

  private:
    LabBench& bench_;
    const Path& path_;
    gpu::Buffer next_;
    gpu::Buffer ends_;
};

/// `count` chains side by side in one thread: while one waits, the processor goes on with the others.
template <std::uint32_t count>
void follow(const std::uint32_t* next, const std::uint32_t* starts, std::uint32_t rounds,
            std::uint32_t* ends) {
    std::uint32_t at[count];
    for (std::uint32_t i = 0; i < count; ++i) at[i] = starts[i];
    for (std::uint32_t round = 0; round < rounds; ++round)
        for (std::uint32_t i = 0; i < count; ++i) at[i] = next[at[i]];
    for (std::uint32_t i = 0; i < count; ++i) ends[i] = at[i];
}

using Follow = void (*)(const std::uint32_t*, const std::uint32_t*, std::uint32_t, std::uint32_t*);
constexpr Follow follows[] = {follow<1>, follow<2>, follow<4>, follow<8>, follow<16>, follow<32>};
constexpr std::uint32_t mostInThread = 32;

double processorRate(LabBench& bench, const Path& path, std::uint32_t threads, std::uint32_t inThread) {
    const Chains chains(path, threads * inThread, bench.rough() ? 64 : 32768);
    std::vector<std::uint32_t> starts(chains.count);
    std::vector<std::uint32_t> ends(chains.count);
    for (std::uint32_t i = 0; i < chains.count; ++i) starts[i] = path.wordAt(chains.first + i * chains.apart);
    const Follow follow = follows[std::bit_width(inThread) - 1];
    const double begin = secondsNow();
    bench.team().run(
        [&](std::size_t thread) {
            follow(path.next.data(), &starts[thread * inThread], chains.rounds, &ends[thread * inThread]);
        },
        threads);
    const double seconds = secondsNow() - begin;
    chains.require(ends);
    return chains.loads() / (1e6 * seconds);
}

/// One chain, and many: the points from a thousand chains on (without them, the last third) lie on a plateau,
/// of which this is the median. A processor's few chains have none, so theirs are the last point.
struct Ends {
    LabPoint one, many;
    double fewest; ///< chains on the plateau
};

std::optional<Ends> endsOf(const LabResult& result, bool gpu, const char* name) {
    const LabSeries* series = result.find(gpu, name);
    if (series == nullptr || series->points.empty() || !(series->points.front().median > 0))
        return std::nullopt;
    const std::vector<LabPoint>& points = series->points;
    auto from = std::ranges::find_if(points, [](const LabPoint& point) { return point.x >= 1000; });
    if (from == points.end()) from -= gpu ? static_cast<std::ptrdiff_t>((points.size() + 2) / 3) : 1;
    const auto middle = [&](double LabPoint::*value) {
        std::vector<double> values(static_cast<std::size_t>(points.end() - from));
        std::transform(from, points.end(), values.begin(),
                       [value](const LabPoint& point) { return point.*value; });
        return median(std::move(values));
    };
    return Ends{points.front(),
                {from->x, middle(&LabPoint::median), middle(&LabPoint::low), middle(&LabPoint::high)},
                from->x};
}

/// What a series comes to: the latency of its first point's loads, and how much more many chains achieve.
void noteGain(LabResult& result, const std::string& prefix, bool gpu, const char* name) {
    const auto ends = endsOf(result, gpu, name);
    if (!ends) return;
    result.numbers[prefix + "latency_nanoseconds"] = 1e3 * ends->one.x / ends->one.median;
    result.numbers[prefix + "loads_per_microsecond"] = ends->many.median;
    result.numbers[prefix + "many_chains"] = ends->fewest;
    result.numbers[prefix + "gain"] = ends->many.median / ends->one.median;
}

constexpr double mostChainsOf(bool software) { return software ? 1 << 14 : 1 << 18; }

void measure(LabBench& bench, LabResult& result) {
    const Path path(bitsFor(bench));
    const double mostChains = bench.rough() ? 256 : mostChainsOf(bench.software());
    const auto count = [](double value) { return static_cast<std::uint32_t>(value); };
    std::optional<DeviceLoads> loads;
    const std::string failure = failureOf([&] {
        if (bench.device() != nullptr) loads.emplace(bench, path, count(mostChains));
    });
    if (failure.empty())
        bench.sweep(result, {true, "chains", labValues(1, mostChains, 2),
                             [&](double value) { return loads->rate(count(value)); },
                             [&](double value) { return value * loads->rounds(count(value)); }});
    else
        result.series.push_back({true, "chains", {}, failure});

    const auto threads = static_cast<std::uint32_t>(bench.threads());
    for (const std::uint32_t running : {1u, threads}) {
        if (running == 1 && threads == 1) continue; // that is all of them
        bench.sweep(result, {false, running == 1 ? "one thread" : "all threads",
                             labValues(running, running * mostInThread, 2), [&, running](double value) {
                                 return processorRate(bench, path, running, count(value) / running);
                             }});
    }
    noteGain(result, "gpu_", true, "chains");
    noteGain(result, "cpu_thread_", false, "one thread");
    noteGain(result, "cpu_", false, "all threads");
}

/// The GPU's rounds say that many chains do more.
bool decided(const LabResult& result) {
    const auto ends = endsOf(result, true, "chains");
    return ends && apart(ends->one, ends->many) && ends->many.median > ends->one.median;
}

std::optional<std::size_t> answer(const LabResult& result) {
    if (!result.has("gpu_gain") || !decided(result)) return std::nullopt;
    const double gain = result.number("gpu_gain");
    return gain < 10 ? 0 : gain < 100 ? 1 : gain < 1000 ? 2 : 3;
}

void conclude(const LabResult& result, MeasuredValues& values) {
    if (result.has("gpu_gain")) values["gpu_too_busy"].number = decided(result) ? 0 : 1;
}

/// Loads on their way to memory and back, in slow motion: of one chain, and as many as are under way at best.
void drawLoads(Ui& ui, const LabResult& result, bool gpu, double seconds) {
    const std::string prefix = gpu ? "gpu_" : result.has("cpu_thread_gain") ? "cpu_thread_" : "cpu_";
    if (!result.has(prefix + "gain")) return;
    const double latency = result.number(prefix + "latency_nanoseconds");
    const double underWay = // Little's law
        std::max(std::round(latency * result.number(prefix + "loads_per_microsecond") / 1e3), 1.0);
    constexpr double mostDots = 64;
    const ImU32 colour = gpu ? ui.theme.gpu : ui.theme.cpu;
    const SmallLetters small(ui);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float letters = ImGui::GetTextLineHeight();
    const std::string_view machine = translated(gpu ? "GPU" : prefix == "cpu_" ? "CPU" : "CPU thread");
    const std::string labels[] = {
        translatedFormat("{}, one chain: a load takes {:.0f} ns", machine, latency),
        translatedFormat("about {} under way at once{}",
                         counted(static_cast<std::uint64_t>(underWay), "load"),
                         underWay > mostDots ? translatedFormat(" ({:.0f} drawn)", mostDots) : "")};
    const float margin = ui.px(10);
    const float core =
        ImGui::GetCursorScreenPos().x + std::max(textWidth(labels[0]), textWidth(labels[1])) + ui.px(16);
    for (int lane = 0; lane < 2; ++lane) {
        const ImVec2 start = ImGui::GetCursorScreenPos();
        const float y = start.y + letters / 2;
        const float left = core + textWidth("core") + margin;
        const float right = start.x + ImGui::GetContentRegionAvail().x - textWidth("memory") - ui.px(16);
        draw.AddText(start, legible(ui.theme, colour), labels[lane].c_str());
        drawText(draw, {core, start.y}, ui.theme.muted, "core");
        drawText(draw, {right + margin, start.y}, ui.theme.muted, "memory");
        draw.AddLine({left, y}, {right, y}, ui.theme.grid, ui.line());
        const int dots = lane == 0 ? 1 : static_cast<int>(std::min(underWay, mostDots));
        for (int dot = 0; dot < dots; ++dot) {
            const double way = std::fmod(seconds / 3 + static_cast<double>(dot) / dots, 1.0);
            const double there = way < 0.5 ? 2 * way : 2 - 2 * way;
            const ImVec2 at{left + static_cast<float>(there) * (right - left), y};
            if (way < 0.5) // on the way back, it has a value
                draw.AddCircle(at, ui.px(4), colour, 0, ui.line(1.5f));
            else
                draw.AddCircleFilled(at, ui.px(4), colour);
        }
        ImGui::Dummy({right - start.x, letters});
    }
    const ImVec2 at = ImGui::GetCursorScreenPos();
    drawText(draw, {core, at.y}, ui.theme.muted, "hollow: request; filled: value");
    ImGui::Dummy({0, letters});
}

void draw(Ui& ui, const Experiment& experiment, const LabResult& result, LabView& view) {
    // Little's law: as long as nothing is full, n chains do n loads in the time of one.
    struct Law {
        std::vector<double> x, y;
    } laws[2];
    std::vector<PlotLine> models;
    double highest = 0; // where both lines end: above all curves, with room for their names
    for (const LabSeries& series : result.series)
        for (const LabPoint& point : series.points) highest = std::max(highest, 2 * point.median);
    for (const bool gpu : {false, true}) {
        const LabSeries* series = result.find(gpu, gpu ? "chains" : "one thread");
        if (!gpu && series == nullptr) series = result.find(gpu, "all threads");
        const std::string prefix = gpu                                                 ? "gpu_"
                                   : series != nullptr && series->name == "one thread" ? "cpu_thread_"
                                                                                       : "cpu_";
        if (series == nullptr || !result.has(prefix + "latency_nanoseconds")) continue;
        for (const LabPoint& point : series->points) {
            const double rate = 1e3 * point.x / result.number(prefix + "latency_nanoseconds");
            if (rate > highest) break;
            laws[gpu].x.push_back(point.x);
            laws[gpu].y.push_back(rate);
        }
        models.push_back({.name = gpu ? "GPU chains / latency" : "CPU chains / latency",
                          .colour = gpu ? ui.theme.gpu : ui.theme.cpu,
                          .dotted = true,
                          .x = laws[gpu].x,
                          .y = laws[gpu].y});
    }
    if (!ui.masked && ImGui::GetContentRegionAvail().y > ui.px(200))
        drawLoads(ui, result, result.has("gpu_gain"), view.seconds);
    drawLabCurves(ui, experiment, result, view, 0, models);
}

/// A lone load goes to memory and back; below it, another one leaves before the first is back.
LabScene scene() {
    LabScene scene{.beats = 16,
                   .blocks = {{0, 1.15f, 1.6f, 0.8f, 0, 0, LabTone::muted},
                              {0, 3.2f, 1.6f, 2.8f, 0, 0, LabTone::muted},
                              {14.4f, 1.15f, 1.6f, 4.85f, 0, 0, LabTone::pale}},
                   .lines = {{1.6f, 1.55f, 14.4f, 1.55f}},
                   .labels = {{0, 1.1f, "one load"}, {0, 3.15f, "many loads"}, {11.9f, 1.1f, "memory"}}};
    const auto load = [&](float y, double from) {
        scene.dots.push_back({2, y, 14, y, from, from + 8, LabTone::gpu, true});
        scene.dots.push_back({14, y, 2, y, from + 8, from + 16});
    };
    load(1.55f, 0);
    for (int lane = 0; lane < 3; ++lane) {
        const float y = 3.7f + 0.9f * static_cast<float>(lane);
        scene.lines.push_back({1.6f, y, 14.4f, y});
        for (int chain = 0; chain < 5; ++chain) load(y, 3.2 * chain + 0.7 * lane);
    }
    return scene;
}

LabAxes axes(const LabReach& reach) {
    return reach.software ? LabAxes{{1, 256}, {0.3, 300}} // where its curve ends early
                          : LabAxes{{1, mostChainsOf(false)}, {0.3, 3e5}};
}

LabVerdict verdict(const LabResult& result) {
    const auto ends = endsOf(result, true, "chains");
    const double gain = result.number("gpu_gain");
    return ratioVerdict(gain, gpuFactor(gain, {ends ? &ends->one : nullptr, ends ? &ends->many : nullptr}),
                        {"as many loads per second", "Just as many loads"},
                        std::string(translated("with many chains")));
}

} // namespace

extern const Experiment hideTheWait{
    .place = 30,
    .name = "hide-the-wait",
    .title = "Waiting for memory",
    .idea = "Chains of loads through a large array: each load returns the address of the next. One chain "
            "alone, or many independent ones.",
    .group = LabGroup::memory,
    .scene = scene,
    .question =
        "One chain keeps the GPU waiting. How many times as many loads per second does the GPU do with "
        "many chains in flight?",
    .choices = {"less than 10 times", "10 to 100 times", "100 to 1,000 times", "more than 1,000 times"},
    .x = {.title = "chains in flight", .sketched = PlotRange{1, 1 << 18}},
    .y = {.title = "loads", .unit = "per µs", .sketched = PlotRange{0.3, 3e5}},
    .lines = {"GPU chains", "CPU all threads"},
    .sketched = "chains",
    .sources = {"lab_hide_the_wait.comp", "lab.h", "hide_the_wait.cpp"},
    .link = {"Give the GPU too little to do: batch 1", "race",
             R"({"data": "spiral", "hidden": [64, 64], "settings": {"batch": 1}})"},
    .animated = true,
    .axes = axes,
    .introduced = true,
    .folds = true,
    .measure = measure,
    .answer = answer,
    .verdict = verdict,
    .conclude = conclude,
    .draw = draw};

} // namespace lockstep::demos
