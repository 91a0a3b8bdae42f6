// The same work, handed to the machine in one piece or in thousands.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "demos/kit/pacer.h"
#include "demos/lab/experiment.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::uint32_t words = 64;    // of a piece: 256 bytes, at which a view may begin on any device
constexpr std::uint32_t turns = 10000; // of each word, in however many pieces they come
constexpr double pieces[] = {1, 10, 100, 1000, 10000};

/// What a piece does, on the processor.
void turn(std::uint32_t* word, std::size_t begin, std::size_t end, std::uint32_t rounds) {
    for (std::size_t i = begin; i < end; ++i)
        for (std::uint32_t round = 0; round < rounds; ++round) word[i] = shared::xorshift(word[i]);
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

/// Microseconds that each further piece costs.
void noteSlope(LabResult& result, const char* number, bool gpu, const char* series) {
    const LabSeries* found = result.find(gpu, series);
    if (found == nullptr || found->points.size() < 2) return;
    const LabPoint& first = found->points.front();
    const LabPoint& last = found->points.back();
    result.numbers[number] = std::max((last.median - first.median) / (last.x - first.x), 0.0);
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

/// How many times as long the work takes in a thousand dispatches that wait for each other; 0: not measured.
double stretch(const LabResult& result) {
    const LabSeries* series = result.find(true, "dispatches with barriers");
    if (series == nullptr || series->points.size() < 2) return 0;
    const double perPiece = result.number("microseconds_per_barrier");
    const double one = series->points.front().median;
    return (one + 999 * perPiece) / one;
}

std::optional<std::size_t> answer(const LabResult& result) {
    const double times = stretch(result);
    if (times <= 0) return std::nullopt;
    return times < 1.5 ? 0 : times < 3 ? 1 : times < 10 ? 2 : 3;
}

std::string explain(const LabResult& result) {
    const auto each = [&](const char* number) { return duration(1e-6 * result.number(number)); };
    if (!result.has("microseconds_per_barrier"))
        return fmt::format(
            "Only the processor was measured. A function call costs {}, and to start and join {} costs {}. "
            "That is why programs keep their threads, and hand over work in pieces that are worth it.",
            each("microseconds_per_call"), counted(result.cpu.threads, "thread"),
            each("microseconds_per_thread"));
    return fmt::format(
        "Each further dispatch costs {}, or {} if it waits for the one before, {} as a submission of its "
        "own, and {} if "
        "the host waits for each. The arithmetic is always the same, so this is the price of handing over "
        "work. {} "
        "Ten dispatches of a training step cost about {} here, however small the network is.",
        each("microseconds_per_dispatch"), each("microseconds_per_barrier"),
        each("microseconds_per_submission"), each("microseconds_per_wait"),
        result.gpu.software
            ? "This driver is software and wakes threads for each dispatch; a card starts them in hardware."
            : "On a large card, that is most of a small network's step.",
        duration(1e-5 * result.number("microseconds_per_barrier")));
}

} // namespace

extern const Experiment launch{
    .place = 90,
    .name = "launch",
    .title = "The price of a launch",
    .idea = "The same 10,000 turns of work, in one dispatch or cut into up to 10,000. Only the handing over "
            "changes.",
    .question =
        "How much longer does the GPU take for the same work in 1,000 dispatches that wait for each other?",
    .choices = {"about as long", "1.5 to 3 times", "3 to 10 times", "more than 10 times"},
    .x = {"pieces", ""},
    .y = {"time for all", "µs"},
    .sources = {"lab_launch.comp", "launch.cpp"},
    .link = {"See the launches of a training step", "inside", R"({"data": "spiral", "hidden": [8, 8]})"},
    .measure = measure,
    .answer = answer,
    .explain = explain};

} // namespace lockstep::demos
