// The same work, handed to the machine in one piece or in thousands.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include "demos/kit/pacer.h"
#include "demos/lab/experiment.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::uint32_t words = 64;    // of a piece: 256 bytes, at which a view may begin on any device
constexpr std::uint32_t turns = 10000; // of each word, in however many pieces they come
constexpr double pieces[] = {1, 10, 100, 1000, 10000};

/// What a piece does, on the processor. Word after word, a long piece would be one long chain of turns that
/// wait for each other, and the same arithmetic would take longer than in short pieces.
void turn(std::uint32_t* word, std::size_t begin, std::size_t end, std::uint32_t rounds) {
    for (std::uint32_t round = 0; round < rounds; ++round)
        for (std::size_t i = begin; i < end; ++i) word[i] = shared::xorshift(word[i]);
}

void requireTurned(const std::vector<std::uint32_t>& found, std::uint32_t rounds) {
    std::uint32_t right = 1;
    turn(&right, 0, 1, rounds);
    for (const std::uint32_t word : found)
        if (word != right) throw std::runtime_error("wrong results, so it is not timed");
}

enum class Handing { independent, barriers, submissions, waits };

/// Microseconds until the host knows that all pieces are done. Independent ones have words of their own, the
/// others work on the words of the piece before.
double onDevice(LabBench& bench, const gpu::Buffer& buffer, std::uint32_t count, Handing handing) {
    const LabKernel& kernel = bench.kernel("lab_launch", {{shared::labGroupSize, words}});
    const bool own = handing == Handing::independent;
    const std::uint64_t bytes = words * sizeof(std::uint32_t);
    bench.deviceMilliseconds([&](gpu::Recorder& recorder) { recorder.fill(buffer.view(), 1); });
    gpu::Recorder& recorder = bench.recorder();
    const double begin = secondsNow();
    recorder.begin();
    for (std::uint32_t i = 0; i < count; ++i) {
        recorder.dispatch(kernel, {words, 1, 1}, {words, turns / count, 0, 0},
                          {buffer.view(own ? i * bytes : 0, bytes)});
        if (i + 1 == count) break;
        if (handing == Handing::submissions) recorder.submitAndGoOn();
        if (handing != Handing::waits) continue;
        recorder.submitAndTime();
        recorder.begin();
    }
    recorder.submitAndTime();
    const double seconds = secondsNow() - begin;
    requireTurned(buffer.downloadValues<std::uint32_t>(own ? count * words : words),
                  own ? turns / count : turns);
    return 1e6 * seconds;
}

/// The same on the processor; `piece` does a share of the turns on all words.
template <class Piece> double onProcessor(std::uint32_t count, Piece piece) {
    std::vector<std::uint32_t> word(words, 1);
    const double begin = secondsNow();
    for (std::uint32_t i = 0; i < count; ++i) piece(word.data(), turns / count);
    const double seconds = secondsNow() - begin;
    requireTurned(word, turns);
    return 1e6 * seconds;
}

/// The largest number of pieces that all of the GPU's series were measured with: their costs are compared
/// there.
double mostShared(const LabResult& result) {
    double most = std::end(pieces)[-1];
    for (const LabSeries& series : result.series)
        if (series.gpu && series.points.size() > 1) most = std::min(most, series.points.back().x);
    return most;
}

/// Microseconds that each further piece costs.
void noteSlope(LabResult& result, const char* number, bool gpu, const char* series) {
    const LabSeries* found = result.find(gpu, series);
    if (found == nullptr || found->points.size() < 2) return;
    const LabPoint& first = found->points.front();
    const double most = gpu ? mostShared(result) : found->points.back().x;
    result.numbers[number] = std::max((found->at(most) - first.median) / (most - first.x), 0.0);
}

void measure(LabBench& bench, LabResult& result) {
    const auto count = [](double value) { return static_cast<std::uint32_t>(value); };
    const std::vector<double> values(std::begin(pieces),
                                     bench.rough() ? std::begin(pieces) + 3 : std::end(pieces));
    std::optional<gpu::Buffer> buffer;
    if (bench.device() != nullptr)
        buffer.emplace(*bench.device(), std::uint64_t{words} * sizeof(std::uint32_t) * count(values.back()),
                       gpu::Memory::device, "lab: words");
    // The turns themselves take as long as some thirty launches. The device is held by one submission at a
    // time.
    const auto cost = [](double value) { return 30 + value; };
    const auto device = [&](const char* name, Handing handing, double longest = 0) {
        const auto sample = [&, handing](double value) {
            return onDevice(bench, *buffer, count(value), handing);
        };
        bench.sweep(result, {true, name, values, sample, cost, longest});
    };
    device("dispatches", Handing::independent);
    device("dispatches with barriers", Handing::barriers);
    device("submissions", Handing::submissions, 300);
    device("submissions, each waited for", Handing::waits, 300);

    const auto processor = [&](const char* name, auto piece) {
        bench.sweep(result,
                    {false, name, values, [&](double value) { return onProcessor(count(value), piece); }});
    };
    processor("function calls", [](std::uint32_t* word, std::uint32_t rounds) {
        void (*volatile call)(std::uint32_t*, std::size_t, std::size_t, std::uint32_t) = turn; // not inlined
        call(word, 0, words, rounds);
    });
    processor("sleeping threads woken", [&](std::uint32_t* word, std::uint32_t rounds) {
        bench.team().run([&](std::size_t thread) {
            const Share share = shareOf(words, thread, bench.threads());
            turn(word, share.begin, share.end, rounds);
        });
    });
    processor("threads started and joined", [&](std::uint32_t* word, std::uint32_t rounds) {
        std::vector<std::jthread> started;
        for (std::size_t thread = 0; thread < bench.threads(); ++thread)
            started.emplace_back([&, share = shareOf(words, thread, bench.threads())] {
                turn(word, share.begin, share.end, rounds);
            });
    });
    noteSlope(result, "microseconds_per_dispatch", true, "dispatches");
    noteSlope(result, "microseconds_per_barrier", true, "dispatches with barriers");
    noteSlope(result, "microseconds_per_submission", true, "submissions");
    noteSlope(result, "microseconds_per_wait", true, "submissions, each waited for");
    noteSlope(result, "microseconds_per_call", false, "function calls");
    noteSlope(result, "microseconds_per_thread", false, "threads started and joined");
}

/// The work in one dispatch, and in a hundred that wait for each other.
struct Handed {
    LabPoint one, hundred;

    double times() const { return hundred.median / one.median; }
    /// The rounds say which takes longer, or that it makes little difference.
    bool decided() const { return apart(one, hundred) ? times() > 1 : times() < 1.5; }
};

std::optional<Handed> handed(const LabResult& result) {
    const LabSeries* series = result.find(true, "dispatches with barriers");
    if (series == nullptr) return std::nullopt;
    const auto one = std::ranges::find(series->points, 1, &LabPoint::x);
    const auto hundred = std::ranges::find(series->points, 100, &LabPoint::x);
    if (one == series->points.end() || hundred == series->points.end()) return std::nullopt;
    return Handed{*one, *hundred};
}

std::optional<std::size_t> answer(const LabResult& result) {
    const auto found = handed(result);
    if (!found || !found->decided()) return std::nullopt;
    const double times = found->times();
    return times < 1.5 ? 0 : times < 3 ? 1 : times < 10 ? 2 : 3;
}

void conclude(const LabResult& result, MeasuredValues& values) {
    if (result.has("microseconds_per_barrier"))
        values["ten_dispatches_microseconds"].number = 10 * result.number("microseconds_per_barrier");
    const auto found = handed(result);
    if (!found) return;
    values["gpu_too_busy"].number = found->decided() ? 0 : 1;
    values["one_dispatch_microseconds"].number = found->one.median;
    values["hundred_dispatches_microseconds"].number = found->hundred.median;
}

/// The same work in one piece, and in eight with what each launch costs.
LabScene scene() {
    LabScene scene{.beats = 20,
                   .blocks = {{0, 1.3f, 8, 1.4f, 0, 8}},
                   .labels = {{0, 1.2f, "one launch"}, {0, 4.3f, "eight launches"}}};
    for (int piece = 0; piece < 8; ++piece) {
        const float x = 2.0f * static_cast<float>(piece);
        scene.blocks.push_back({x, 4.4f, 0.9f, 1.4f, 2.0 * piece, 2.0 * piece + 1, LabTone::other});
        scene.blocks.push_back({x + 0.95f, 4.4f, 0.95f, 1.4f, 2.0 * piece + 1, 2.0 * piece + 2});
    }
    return scene;
}

LabAxes axes(const LabReach& reach) {
    return reach.software ? LabAxes{{1, 1e3}, {100, 1e6}} : LabAxes{{1, 1e4}, {10, 1e6}};
}

LabVerdict verdict(const LabResult& result) {
    const auto found = handed(result);
    if (!found) return {};
    return ratioVerdict(found->times(), gpuFactor(found->times(), {&found->one, &found->hundred}),
                        {"as long", "Just as long"},
                        translatedFormat("in 100 dispatches: {} instead of {}",
                                         duration(1e-6 * found->hundred.median),
                                         duration(1e-6 * found->one.median)));
}

} // namespace

extern const Experiment launch{
    .place = 90,
    .name = "launch",
    .title = "The price of a launch",
    .idea = "The same 10,000 rounds of arithmetic, in one dispatch or cut into up to 10,000. Only the number "
            "of launches changes.",
    .group = LabGroup::launch,
    .scene = scene,
    .question = "How many times as long does the GPU take if the same work comes in 100 dispatches, each "
                "waiting for the one before?",
    .choices = {"about as long", "1.5 to 3 times", "3 to 10 times", "more than 10 times"},
    .x = {.title = "pieces", .sketched = PlotRange{1, 1e4}},
    .y = {.title = "time for all", .unit = "µs", .sketched = PlotRange{10, 1e6}},
    .lines = {"GPU dispatches with barriers", "GPU dispatches"},
    .sketched = "dispatches with barriers",
    .sources = {"lab_launch.comp", "launch.cpp"},
    .link = {"See the launches of a training step", "inside", R"({"data": "spiral", "hidden": [8, 8]})"},
    .axes = axes,
    .introduced = true,
    .measure = measure,
    .answer = answer,
    .verdict = verdict,
    .conclude = conclude};

} // namespace lockstep::demos
