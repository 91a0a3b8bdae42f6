// Neighbours that read neighbouring words, or words far apart.
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "demos/kit/pacer.h"
#include "demos/lab/experiment.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::uint32_t rounds = 16; // reads of an invocation
constexpr const char* strided = "with a stride";
constexpr const char* randomOrder = "random order";
constexpr double strides[] = {1, 2, 4, 8, 16, 32, 64};

// Larger than caches, or a cache would hide what memory does. Software Vulkan takes far longer to load a word
// than memory does.
std::uint32_t bitsFor(const LabBench& bench, bool device) {
    if (bench.rough()) return 16;
    return !device ? 24 : bench.software() ? 21 : 25;
}

constexpr double aboutAsFast = 1.5; // times slower, at most

/// A word of the array: its sum over all is known.
std::uint32_t wordAt(std::uint32_t index) { return index * 2654435769u >> 8; }

/// An array of 2^bits words, and the sum of all of them.
struct Words {
    explicit Words(std::uint32_t twoTo) : bits(twoTo), values(std::size_t{1} << twoTo) {
        for (std::uint32_t i = 0; i < values.size(); ++i) sum += values[i] = wordAt(i);
    }
    void requireSumOf(std::span<const std::uint32_t> sums) const {
        if (std::accumulate(sums.begin(), sums.end(), 0u) != sum)
            throw std::runtime_error("wrong sum, so it is not timed");
    }
    std::uint32_t count() const { return static_cast<std::uint32_t>(values.size()); }
    double gigabytes() const { return 4e-9 * count(); }

    std::uint32_t bits;
    std::vector<std::uint32_t> values;
    std::uint32_t sum = 0;
};

class DeviceReads {
  public:
    explicit DeviceReads(LabBench& bench)
        : bench_(bench), words_(bitsFor(bench, true)),
          buffer_(bench.buffer(std::uint64_t{4} * words_.count(), "words")),
          sums_(bench.buffer(std::uint64_t{4} * words_.count() / rounds, "sums")) {
        buffer_.uploadValues<std::uint32_t>(words_.values);
    }

    /// GB/s of the words that were asked for.
    double rate(std::uint32_t shift, bool scattered) {
        const LabKernel& kernel = bench_.kernel("lab_neighbours", {{shared::labGroupSize, bench_.groupSize()},
                                                                   {shared::labChoice, scattered ? 1u : 0u}});
        const std::uint32_t items = words_.count() / rounds;
        const double milliseconds = bench_.deviceMilliseconds([&](gpu::Recorder& recorder) {
            recorder.dispatch(kernel, {items, 1, 1}, {items, rounds, shift, words_.bits},
                              {buffer_.view(), sums_.view()});
        });
        words_.requireSumOf(sums_.downloadValues<std::uint32_t>(items));
        return words_.gigabytes() / (1e-3 * milliseconds);
    }

  private:
    LabBench& bench_;
    Words words_;
    gpu::Buffer buffer_;
    gpu::Buffer sums_;
};

/// The same on the CPU: each thread reads a share of the order.
double processorRate(LabBench& bench, const Words& words, std::uint32_t shift, bool scattered) {
    constexpr std::size_t line = 16; // words of a cache line: sums of different threads share none
    std::vector<std::uint32_t> sums(bench.threads() * line);
    const std::uint32_t last = words.count() - 1;
    const double begin = secondsNow();
    bench.team().run([&](std::size_t thread) {
        const Share share = shareOf(words.count(), thread, bench.threads());
        const auto first = static_cast<std::uint32_t>(share.begin);
        const auto end = static_cast<std::uint32_t>(share.end);
        std::uint32_t sum = 0;
        if (scattered)
            for (std::uint32_t n = first; n < end; ++n) sum += words.values[shared::labScatter(n, last)];
        else
            for (std::uint32_t n = first; n < end; ++n)
                sum += words.values[shared::labStrided(n, shift, words.bits, last)];
        sums[thread * line] = sum;
    });
    const double seconds = secondsNow() - begin;
    words.requireSumOf(sums);
    return words.gigabytes() / seconds;
}

void measure(LabBench& bench, LabResult& result) {
    const std::vector<double> values(std::begin(strides), std::end(strides));
    const auto shiftOf = [](double stride) { return static_cast<std::uint32_t>(std::log2(stride)); };
    const auto same = [](double) { return 1.0; }; // every stride reads as many words
    std::optional<DeviceReads> reads;
    if (bench.device() != nullptr) reads.emplace(bench);
    const Words words(bitsFor(bench, false));
    for (const bool scattered : {false, true}) {
        const char* name = scattered ? randomOrder : strided;
        const std::vector<double> at = scattered ? std::vector{values.front(), values.back()} : values;
        bench.sweep(result, {true, name, at,
                             [&](double stride) { return reads->rate(shiftOf(stride), scattered); }, same});
        bench.sweep(result,
                    {false, name, at,
                     [&](double stride) { return processorRate(bench, words, shiftOf(stride), scattered); },
                     same});
    }
    for (const bool gpu : {false, true}) {
        const std::string machine = gpu ? "gpu" : "cpu";
        const double near = result.at(gpu, strided, 1);
        const double far = result.at(gpu, strided, 32);
        const double anywhere = result.at(gpu, randomOrder, 1);
        if (std::isfinite(near)) result.numbers[machine + "_near_gigabytes_per_second"] = near;
        if (std::isfinite(far)) result.numbers[machine + "_far_gigabytes_per_second"] = far;
        if (std::isfinite(anywhere)) result.numbers[machine + "_anywhere_gigabytes_per_second"] = anywhere;
        if (near > 0 && far > 0) result.numbers[machine + "_loss"] = near / far;
    }
}

/// The GPU's times at the strides 1 and 32 scatter so widely that the loss may be chance.
bool undecided(const LabResult& result) {
    const auto at = [&](double stride) -> const LabPoint* {
        if (const LabSeries* series = result.find(true, strided))
            for (const LabPoint& point : series->points)
                if (point.x == stride) return &point;
        return nullptr;
    };
    const LabPoint* near = at(1);
    const LabPoint* far = at(32);
    if (near == nullptr || far == nullptr) return true;
    // Bands that overlap but are narrow do decide it: nothing is lost.
    const bool together = near->high < aboutAsFast * far->low && far->high < aboutAsFast * near->low;
    return !together && (!apart(*near, *far) || near->median < far->median);
}

std::optional<std::size_t> answer(const LabResult& result) {
    if (!result.has("gpu_loss") || undecided(result)) return std::nullopt;
    const double loss = result.number("gpu_loss");
    return loss < aboutAsFast ? 0 : loss < 4 ? 1 : loss < 16 ? 2 : 3;
}

void conclude(const LabResult& result, MeasuredValues& values) {
    if (result.has("gpu_loss")) values["gpu_too_busy"].number = undecided(result) ? 1 : 0;
}

/// The first words of the array, in cache lines of 16: those that 16 neighbours read at a stride are filled
/// and numbered by invocation, lines that have to be fetched for them are tinted.
/// perRow   lines beside each other
void drawReads(Ui& ui, double seconds, int perRow) {
    constexpr int readers = 16;
    constexpr int shown = 8; // lines
    constexpr int line = 16; // words
    constexpr double strideSeconds = 2.5;
    constexpr int strideCount = 5; // from 1 to 16: from then on, every word needs a line of its own
    const int stride = 1 << static_cast<int>(std::fmod(seconds / strideSeconds, strideCount));
    const int fetched = readers * stride / line;

    const SmallLetters small(ui);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const float letters = ImGui::GetTextLineHeight();
    const float gap = ui.px(8); // between lines of a row
    const float cell = (width - static_cast<float>(perRow - 1) * gap) / static_cast<float>(perRow * line);
    const float height = std::max(cell, letters + ui.px(2));
    const ImU32 used = ui.theme.accent;
    for (int each = 0; each < shown; ++each) {
        const ImVec2 from{corner.x + static_cast<float>(each % perRow) * (line * cell + gap),
                          corner.y + static_cast<float>(each / perRow) * (height + ui.px(6))};
        for (int word = 0; word < line; ++word) {
            const int index = each * line + word;
            const bool read = index % stride == 0 && index / stride < readers;
            const ImVec2 low{from.x + static_cast<float>(word) * cell, from.y};
            const ImVec2 high{low.x + cell - ui.px(1), low.y + height};
            list.AddRectFilled(low, high,
                               read             ? used
                               : each < fetched ? mixed(ui.theme.raised, used, 0.3f)
                                                : ui.theme.raised);
            if (!read) continue;
            const std::string number = fmt::format("{}", index / stride);
            const float indent = (cell - ui.px(1) - textWidth(number)) / 2;
            list.AddText({low.x + indent, low.y + (height - letters) / 2}, ui.theme.onAccent, number.c_str());
        }
        if (each < fetched) // the second cue beside the tint
            list.AddRect({from.x - ui.px(1), from.y - ui.px(1)},
                         {from.x + line * cell, from.y + height + ui.px(1)}, used, 0, 0, ui.line());
    }
    const float below = static_cast<float>(shown / perRow) * (height + ui.px(6));
    const std::string words = translatedFormat(
        "stride {}: {} neighbours use {} of {} words in {}{}", stride, readers, readers, fetched * line,
        counted(static_cast<std::uint64_t>(fetched), "fetched line"),
        fetched > shown ? translatedFormat(" (the first {} are shown)", shown) : std::string());
    list.AddText({corner.x, corner.y + below}, ui.theme.text, words.c_str());
    ImGui::Dummy({width, below + letters + ui.px(2)});
}

void draw(Ui& ui, const Experiment& experiment, const LabResult& result, LabView& view) {
    drawReads(ui, view.seconds, result.measured() || ImGui::GetContentRegionAvail().y < ui.px(400) ? 4 : 2);
    drawLabCurves(ui, experiment, result, view);
}

/// Four invocations read words side by side, from one line; then words that lie apart, from four.
LabScene scene() {
    LabScene scene{.beats = 20,
                   .labels = {{0, 1.1f, "neighbours: one cache line"}, {0, 4.1f, "far apart: four"}}};
    for (int row = 0; row < 2; ++row) {
        const float y = row == 0 ? 1.2f : 4.2f;
        for (int line = 0; line < 4; ++line) {
            const double read = row == 0 ? line == 0 ? 1 : labNever : 4.0 + 3 * line;
            const float x = 4.04f * static_cast<float>(line);
            scene.blocks.push_back({x, y, 3.85f, 1.7f, read, read, LabTone::pale});
            for (int word = 0; word < 4; ++word)
                scene.blocks.push_back({x + 0.15f + 0.92f * static_cast<float>(word), y + 0.25f, 0.8f, 1.2f,
                                        row == 0 || word == 0 ? read : labNever, 0});
        }
    }
    return scene;
}

LabAxes axes(const LabReach& reach) {
    return {{1, 64}, reach.software ? PlotRange{0.03, 30} : PlotRange{1, 1e4}};
}

LabVerdict verdict(const LabResult& result) {
    const double loss = result.number("gpu_loss");
    return ratioVerdict(
        loss, gpuFactor(loss, {labPointAt(result, true, strided, 1), labPointAt(result, true, strided, 32)}),
        {"as long", "Just as long"},
        translatedFormat("with words 32 apart: {} GB/s instead of {} GB/s",
                         twoDigits(result.number("gpu_far_gigabytes_per_second")),
                         twoDigits(result.number("gpu_near_gigabytes_per_second"))));
}

} // namespace

extern const Experiment neighbours{
    .place = 40,
    .name = "neighbours",
    .title = "Reading as neighbours",
    .idea = "All words of a large array are read once. Neighbouring invocations read neighbouring words, or "
            "words some stride apart.",
    .group = LabGroup::memory,
    .scene = scene,
    .question = "Neighbours read words that lie 32 words apart. How many times slower is the GPU than with "
                "words side by side?",
    .choices = {"about as fast", "1.5 to 4 times", "4 to 16 times", "more than 16 times"},
    .x = {.title = "stride in words", .sketched = PlotRange{1, 64}},
    .y = {.title = "read", .unit = "GB/s", .sketched = PlotRange{1, 1e4}},
    .lines = {"GPU with a stride", "CPU with a stride"},
    .sketched = strided,
    .sources = {"lab_neighbours.comp", "lab.h", "neighbours.cpp"},
    .link = {"Compare with the ladder's rung naive-strided", "ladder",
             R"({"rung": "gpu:naive-strided", "tab": "memory"})"},
    .animated = true,
    .axes = axes,
    .folds = true,
    .measure = measure,
    .answer = answer,
    .verdict = verdict,
    .conclude = conclude,
    .draw = draw};

} // namespace lockstep::demos
