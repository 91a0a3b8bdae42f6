// Strides in shared memory, whose banks serve a word at a time each; and in a cache, whose sets hold few
// lines.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "demos/kit/pacer.h"
#include "demos/lab/experiment.h"
#include "demos/lab/lab_cells.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::uint32_t bankCount = 32; // of most cards
constexpr std::uint32_t words = 2048;   // in shared memory: 8 KiB
constexpr std::uint32_t sets = 64;      // of most first-level caches
constexpr std::uint32_t lines = 128;    // that the processor reads: 8 KiB of cache if they share no set
constexpr std::uint32_t lineWords = 16;
constexpr double widest = 33; // stride

/// An unused word after every so many.
std::uint32_t padded(std::uint32_t index, std::uint32_t every) { return index + index / every; }

class DeviceReads {
  public:
    explicit DeviceReads(LabBench& bench)
        : bench_(bench), items_(bench.rough()      ? 256
                                : bench.software() ? 1 << 11
                                                   : 1 << 16),
          sums_(bench.buffer(std::uint64_t{4} * items_, "sums")) {
        if (bench.rough()) return;
        milliseconds(1, false); // compiles
        // So many rounds that 32 turns instead of one keep the device for less than it may be held.
        const double most = bench.device()->longestSubmission() / (bench.software() ? 10 : 40);
        rounds_ = static_cast<std::uint32_t>(
            std::clamp(fewestRounds * most / milliseconds(1, false), 1.0 * fewestRounds, 2048.0));
    }

    /// Microseconds for a million reads.
    double microseconds(std::uint32_t stride, bool padding) {
        const double took = milliseconds(stride, padding);
        requireSums(stride);
        return 1e9 * took / (1.0 * items_ * rounds_);
    }

  private:
    double milliseconds(std::uint32_t stride, bool padding) {
        const LabKernel& kernel = bench_.kernel("lab_banks", {{shared::labGroupSize, bench_.groupSize()},
                                                              {shared::labChoice, padding ? 1u : 0u}});
        return bench_.deviceMilliseconds([&](gpu::Recorder& recorder) {
            recorder.dispatch(kernel, {items_, 1, 1}, {items_, rounds_, stride, 0}, {sums_.view()});
        });
    }

    void requireSums(std::uint32_t stride) const {
        const std::uint32_t group = bench_.groupSize();
        std::vector<std::uint32_t> right(group);
        for (std::uint32_t i = 0; i < group; ++i)
            for (std::uint32_t round = 0; round < rounds_; ++round)
                right[i] += shared::xorshift((i * stride + round) % words + 1);
        const std::vector<std::uint32_t> found = sums_.downloadValues<std::uint32_t>(items_);
        for (std::uint32_t i = 0; i < items_; ++i)
            if (found[i] != right[i % group]) throw std::runtime_error("wrong sums, so it is not timed");
    }

    LabBench& bench_;
    static constexpr std::uint32_t fewestRounds = 64;
    std::uint32_t items_;
    std::uint32_t rounds_ = fewestRounds;
    gpu::Buffer sums_;
};

/// The same question to a cache: microseconds for a million reads of words that lie `stride` lines apart, one
/// after another. Each word says where the next one is, so the time is a read's, and nothing can be fetched
/// ahead.
double processorMicroseconds(std::vector<std::uint32_t>& memory, std::uint32_t stride, bool padding,
                             std::uint32_t laps) {
    const auto placeOf = [&](std::uint32_t step) { // in an order that no prefetcher knows
        const std::uint32_t line = shared::labScatter(step % lines, lines - 1) * stride;
        return lineWords * (padding ? padded(line, sets) : line);
    };
    for (std::uint32_t step = 0; step < lines; ++step) memory[placeOf(step)] = placeOf(step + 1);
    std::uint32_t at = placeOf(0);
    const double begin = secondsNow();
    for (std::uint32_t read = 0; read < laps * lines; ++read) at = memory[at];
    const double seconds = secondsNow() - begin;
    if (at != placeOf(0))
        throw std::runtime_error("the reads do not end where they began, so they are not timed");
    return 1e12 * seconds / (1.0 * laps * lines);
}

void measure(LabBench& bench, LabResult& result) {
    std::vector<double> strides(static_cast<std::size_t>(widest));
    std::iota(strides.begin(), strides.end(), 1);
    const auto whole = [](double value) { return static_cast<std::uint32_t>(value); };
    const auto same = [](double) { return 1.0; }; // every stride reads as many words
    std::optional<DeviceReads> reads;
    if (bench.device() != nullptr) reads.emplace(bench);
    std::vector<std::uint32_t> memory(lineWords * (padded(lines * whole(widest), sets) + 1));
    for (const bool padding : {false, true}) {
        const char* name = padding ? "with padding" : "without padding";
        bench.sweep(result,
                    {true, name, strides,
                     [&](double stride) { return reads->microseconds(whole(stride), padding); }, same});
        bench.sweep(result, {false, name, strides,
                             [&](double stride) {
                                 return processorMicroseconds(memory, whole(stride), padding,
                                                              bench.rough() ? 10 : 2000);
                             },
                             same});
    }
    for (const bool gpu : {false, true})
        for (const double stride : {1.0, 32.0, 33.0})
            for (const bool padding : {false, true}) {
                const double found = result.at(gpu, padding ? "with padding" : "without padding", stride);
                if (std::isfinite(found))
                    result.numbers[fmt::format("{}_stride_{:.0f}{}_microseconds", gpu ? "gpu" : "cpu", stride,
                                               padding ? "_padded" : "")] = found;
            }
    for (const char* machine : {"cpu", "gpu"}) {
        const auto at = [&](int stride) {
            return result.number(fmt::format("{}_stride_{}_microseconds", machine, stride));
        };
        if (at(32) > 0 && at(1) > 0)
            result.numbers[fmt::format("{}_conflict_factor", machine)] = at(32) / at(1);
    }
}

/// A quartile of the GPU's times at a stride.
double quartile(const LabResult& result, double stride, double LabPoint::*which) {
    const LabSeries* series = result.find(true, "without padding");
    if (series != nullptr)
        for (const LabPoint& point : series->points)
            if (point.x == stride) return point.*which;
    return std::numeric_limits<double>::quiet_NaN();
}

std::optional<std::size_t> answer(const LabResult& result) {
    if (!result.has("gpu_conflict_factor")) return std::nullopt;
    const double factor = result.number("gpu_conflict_factor");
    const bool apart =
        quartile(result, 32, &LabPoint::low) > quartile(result, 1, &LabPoint::high); // not just noise
    return factor < 1.5 || !apart ? 0 : factor < 4 ? 1 : factor < 16 ? 2 : 3;
}

std::string explain(const LabResult& result) {
    const auto time = [&](const char* name) {
        return duration(1e-6 * result.number(fmt::format("{}_microseconds", name)));
    };
    std::string text;
    if (result.has("gpu_conflict_factor")) {
        text = fmt::format("A million reads of shared memory take the GPU {} with stride 1, {} with 32, {} "
                           "with 33, and {} with "
                           "32 and padding. ",
                           time("gpu_stride_1"), time("gpu_stride_32"), time("gpu_stride_33"),
                           time("gpu_stride_32_padded"));
        text += result.gpu.software
                    ? "This GPU is software and has no banks; on a card, invocations that ask the same bank "
                      "take turns (bank conflicts), up to 32 of them. "
                    : "Most cards have 32 banks, which serve a word at a time each; invocations that ask the "
                      "same bank take turns (bank conflicts), so kernels pad their tiles. ";
    }
    return text +
           fmt::format(
               "The processor's cache has sets{}: of the lines that lie a multiple of {} lines apart, most "
               "first-level caches hold 8 to 12. Reading {} lines side by side, one after another, takes {} "
               "for a million reads; 32 lines apart {}, with padding {}.",
               text.empty() ? "" : " instead", sets, lines, time("cpu_stride_1"), time("cpu_stride_32"),
               time("cpu_stride_32_padded"));
}

// Which bank each of 32 invocations asks: those above each other take turns.
void drawBanks(const Ui& ui, ImVec2 at, ImVec2 size, std::uint32_t stride, bool padding, double share) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const SmallLetters small(ui);
    const float letters = ImGui::GetFontSize();
    std::array<std::uint32_t, bankCount> waiting{};
    const auto bankOf = [&](std::uint32_t invocation) {
        const std::uint32_t index = invocation * stride;
        return (padding ? padded(index, bankCount) : index) % bankCount;
    };
    std::uint32_t turns = 0;
    for (std::uint32_t i = 0; i < bankCount; ++i) turns = std::max(turns, ++waiting[bankOf(i)]);
    const auto turn = std::min(turns, 1 + static_cast<std::uint32_t>(share * turns));
    labText(draw, at,
            fmt::format("{}: {}", padding ? "with a word of padding after every 32" : "without padding",
                        counted(turns, "turn")),
            turns > 1 ? ui.theme.text : ui.theme.good);
    const float top = at.y + letters + ui.px(6);
    const float bottom = at.y + size.y - letters - ui.px(4);
    const float width = size.x / bankCount;
    const float height = std::min((bottom - top) / static_cast<float>(turns), letters + ui.px(4));
    waiting = {};
    for (std::uint32_t i = 0; i < bankCount; ++i) {
        const std::uint32_t place = waiting[bankOf(i)]++;
        const float x = at.x + static_cast<float>(bankOf(i)) * width;
        const float y = bottom - static_cast<float>(place + 1) * height;
        const float gap = height > ui.px(6) ? ui.px(2) : ui.px(1);
        labCell(ui, draw, {x, y}, {x + width - ui.px(2), y + height - gap}, ui.theme.gpu, place < turn,
                fmt::format("{}", i), "88");
    }
    draw.AddLine({at.x, bottom}, {at.x + size.x, bottom}, ui.theme.muted, ui.line());
    for (std::uint32_t bank = 0; bank < bankCount; bank += 8)
        labText(draw,
                {at.x + (static_cast<float>(bank) + (bank == 0 ? 0.0f : 0.5f)) * width, bottom + ui.px(2)},
                bank == 0 ? "bank 0" : fmt::format("{}", bank), ui.theme.muted, bank == 0 ? 0.0f : 0.5f);
}

void draw(Ui& ui, const Experiment& experiment, const LabResult& result, LabView& view) {
    constexpr std::uint32_t strides[] = {8, 16, 32, 33, 1, 2, 3, 4};
    constexpr double each = 2.5; // seconds, the last half of them at rest
    const double now = view.seconds / each;
    const std::uint32_t stride = strides[static_cast<std::size_t>(now) % std::size(strides)];
    const double share = 2 * (now - std::floor(now));
    const LabPlace place = labPlace(ui, result.measured() ? 0.45f : 0.6f);
    const float line = ImGui::GetTextLineHeightWithSpacing();
    labText(*ImGui::GetWindowDrawList(), place.at,
            fmt::format("Stride {}: invocation i reads {}.{}", stride,
                        stride == 1 ? "word i" : fmt::format("word {}i", stride),
                        place.low ? "" : " Each cell is an invocation."),
            ui.theme.text);
    const ImVec2 at{place.at.x, place.at.y + line};
    const float gap = ui.px(24);
    const ImVec2 size{place.low ? place.size.x : (place.size.x - gap) / 2, place.size.y - line};
    if (place.low) { // one after the other
        const bool padding =
            std::fmod(view.seconds, 2 * each * std::size(strides)) >= each * std::size(strides);
        drawBanks(ui, at, size, stride, padding, share);
    } else {
        drawBanks(ui, at, size, stride, false, share);
        drawBanks(ui, {at.x + size.x + gap, at.y}, size, stride, true, share);
    }
    drawLabCurves(ui, experiment, result, view, place.curves);
}

} // namespace

extern const Experiment banks{
    .place = 50,
    .name = "banks",
    .title = "Banks of shared memory",
    .idea = "A subgroup's invocations read words of shared memory that lie some stride apart. On the "
            "processor, words lie that many cache lines apart.",
    .question = "Neighbours read words 32 apart instead of side by side. How many times as long do the GPU's "
                "reads take?",
    .choices = {"about as long", "1.5 to 4 times", "4 to 16 times", "more than 16 times"},
    .x = {"stride", "", false},
    .y = {"time for a million reads", "µs"},
    .sources = {"lab_banks.comp", "banks.cpp"},
    .link = {"See tiles in shared memory", "ladder", R"({"rung": "gpu:tiled", "tab": "memory"})"},
    .animated = true,
    .measure = measure,
    .answer = answer,
    .explain = explain,
    .draw = draw};

} // namespace lockstep::demos
