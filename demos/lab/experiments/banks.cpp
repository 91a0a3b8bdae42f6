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
constexpr std::uint32_t lines = 128;    // that the CPU reads: 8 KiB of cache if they share no set
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
        for (const double stride : {1.0, 8.0, 32.0, 33.0})
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

/// The GPU's times at a stride; null: not measured.
const LabPoint* timesAt(const LabResult& result, double stride) {
    const LabSeries* series = result.find(true, "without padding");
    if (series == nullptr) return nullptr;
    const auto found = std::ranges::find(series->points, stride, &LabPoint::x);
    return found == series->points.end() ? nullptr : &*found;
}

/// Whether the noise hides what conflicts cost.
bool tooBusy(const LabResult& result) {
    const double factor = result.number("gpu_conflict_factor");
    const LabPoint* one = timesAt(result, 1);
    const LabPoint* most = timesAt(result, 32);
    if (one == nullptr || most == nullptr) return false;
    return factor < 0.8 || (factor >= 1.5 && !apart(*one, *most));
}

std::optional<std::size_t> answer(const LabResult& result) {
    if (!result.has("gpu_conflict_factor") || tooBusy(result)) return std::nullopt;
    const double factor = result.number("gpu_conflict_factor");
    return factor < 1.5 ? 0 : factor < 4 ? 1 : factor < 16 ? 2 : 3;
}

void conclude(const LabResult& result, MeasuredValues& values) {
    if (result.has("gpu_conflict_factor")) values["gpu_too_busy"].number = tooBusy(result) ? 1 : 0;
}

// Which bank each of 32 invocations asks: those above each other take turns. share: of the turns, that are
// over; ending: of the caption, which says how many turns there are; still: without it.
void drawBanks(const Ui& ui, ImVec2 at, ImVec2 size, std::uint32_t stride, bool padding, double share,
               std::string_view ending = "", bool still = false) {
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
    if (!still)
        labText(draw, at,
                fmt::format("{}: {}{}", translated(padding ? "padded by a word per 32" : "without padding"),
                            counted(turns, "turn"), translated(ending)),
                turns > 1 ? ui.theme.text : ui.theme.good);
    const float top = at.y + letters + ui.px(6);
    const float bottom = at.y + size.y - letters - ui.px(4);
    const float width = size.x / bankCount;
    const float height =
        std::min((bottom - top) / static_cast<float>(turns), still ? width : letters + ui.px(4));
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
    const bool still = !result.measured(); // turns would be the answer
    const std::uint32_t stride = still ? 1 : strides[static_cast<std::size_t>(now) % std::size(strides)];
    const double share = 2 * (now - std::floor(now));
    const float line = ImGui::GetTextLineHeightWithSpacing();
    const float one = 4.6f * line / std::max(ImGui::GetContentRegionAvail().y, 1.0f); // a turn's cells
    const LabPlace place = labPlace(ui, still ? std::min(one, 0.4f) : 0.55f);
    const std::string_view notHere = result.gpu.software ? ". Not on this GPU." : "";
    std::string caption = translatedFormat("On a GPU with 32 banks, stride {}:", stride);
    if (!place.low)
        caption += translatedFormat(" invocation i reads word {}i. Each cell is an invocation{}",
                                    stride == 1 ? "" : std::to_string(stride),
                                    notHere.empty() ? "." : translated(notHere));
    labText(*ImGui::GetWindowDrawList(), place.at, caption, ui.theme.text);
    const ImVec2 at{place.at.x, place.at.y + line};
    const float gap = ui.px(24);
    const ImVec2 size{place.low || still ? place.size.x : (place.size.x - gap) / 2, place.size.y - line};
    if (place.low || still) { // one after the other
        const bool padding =
            !still && std::fmod(view.seconds, 2 * each * std::size(strides)) >= each * std::size(strides);
        drawBanks(ui, at, size, stride, padding, share, place.low ? notHere : "", still);
    } else {
        drawBanks(ui, at, size, stride, false, share);
        drawBanks(ui, {at.x + size.x + gap, at.y}, size, stride, true, share);
    }
    drawLabCurves(ui, experiment, result, view, place.curves);
}

/// Six invocations queue at one bank; then each has a bank of its own.
LabScene scene() {
    LabScene scene{.beats = 18,
                   .lines = {{0, 5.8f, 6.8f, 5.8f}, {9.2f, 5.8f, 16, 5.8f}},
                   .labels = {{1.6f, 5.6f, "one bank"}, {9.3f, 4.7f, "many banks"}}};
    for (int i = 0; i < 6; ++i) {
        const auto at = static_cast<float>(i);
        scene.blocks.push_back({0.1f, 4.9f - 0.95f * at, 1, 0.8f, 2.0 * i, 2.0 * i + 1});
        scene.blocks.push_back({9.3f + 1.13f * at, 4.9f, 1, 0.8f, 0, 1});
    }
    return scene;
}

LabAxes axes(const LabReach& reach) {
    return {{1, widest}, reach.software ? PlotRange{100, 1e5} : PlotRange{0.1, 1e3}};
}

LabVerdict verdict(const LabResult& result) {
    const double factor = result.number("gpu_conflict_factor");
    return ratioVerdict(
        factor, gpuFactor(factor, {timesAt(result, 1), timesAt(result, 32)}), {"as long", "Just as long"},
        translatedFormat("with words {} apart; in turn it would be {}×", bankCount, bankCount));
}

} // namespace

extern const Experiment banks{
    .place = 50,
    .name = "banks",
    .title = "Banks of shared memory",
    .idea = "A subgroup's invocations read words of shared memory that lie some stride apart. On the "
            "CPU, words lie that many cache lines apart.",
    .group = LabGroup::memory,
    .scene = scene,
    .question = "Neighbours read words 32 apart instead of side by side. How many times as long do the GPU's "
                "reads take?",
    .choices = {"about as long", "1.5 to 4 times", "4 to 16 times", "more than 16 times"},
    .x = {.title = "stride (GPU: words; CPU: cache lines)", .log = false, .sketched = PlotRange{1, widest}},
    .y = {.title = "time for a million reads", .unit = "µs", .sketched = PlotRange{0.1, 1e3}},
    .lines = {"GPU without padding", "GPU with padding"},
    .sketched = "without padding",
    .sources = {"lab_banks.comp", "banks.cpp"},
    .link = {"See tiles in shared memory", "ladder", R"({"rung": "gpu:tiled", "tab": "memory"})"},
    .animated = true,
    .axes = axes,
    .folds = true,
    .measure = measure,
    .answer = answer,
    .verdict = verdict,
    .conclude = conclude,
    .draw = draw};

} // namespace lockstep::demos
