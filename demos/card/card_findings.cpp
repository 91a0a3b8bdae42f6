// What the numbers of a card say in a few words. Every word follows from measured rows.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "demos/card/card_jobs.h"
#include "demos/card/card_measure.h"
#include "demos/card/card_rows.h"
#include "demos/kit/crossover.h"
#include "demos/report/headline.h"
#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

bool hasBoth(const CardRow& row) { return row.cpu > 0 && row.gpu > 0; }

const CardRow* rowNamed(const CardPart& part, std::string_view name) {
    const auto row = std::ranges::find(part.rows, name, &CardRow::name);
    return row == part.rows.end() ? nullptr : &*row;
}

/// "CPU", "GPU" or what stands in for one.
std::string nameOfMachine(bool gpu, bool software) {
    return std::string(translated(!gpu ? "CPU" : software ? "Software Vulkan" : "GPU"));
}

std::string inSentence(bool gpu, bool software) {
    return std::string(translated(!gpu ? "the CPU" : software ? "software Vulkan" : "the GPU"));
}

std::string times(double ratio) { return twoDigits(ratio) + "×"; }

bool aboutEqual(double ratio) { return ratio < equalBelow && ratio > 1 / equalBelow; }

/// "CPU 3.1×" and, from a ratio of GPU to CPU, which one it is.
std::string factorText(double ratio, bool software) {
    return nameOfMachine(ratio > 1, software) + " " + times(std::max(ratio, 1 / ratio));
}

/// "784-256-128-10" of "784-256-128-10, batch 128".
std::string networkOf(const CardRow& row) { return row.name.substr(0, row.name.find(", ")); }

/// What the faster machine does more of than the `other` one.
std::string howMuch(const CardPart& part, const CardRow& row, const std::string& other, bool software) {
    if (part.id == "roofs") return translatedFormat("as much arithmetic as {}", other);
    if (part.id == "copies") return translatedFormat("as many bytes as {}, each in its own memory", other);
    if (part.id == "population") return translatedFormat("as fast as {} at training many networks", other);
    if (part.id != "races") return translatedFormat("as fast as {}", other);
    std::string words = translatedFormat("as fast as {} at training {}", other, networkOf(row));
    const auto small = std::ranges::find_if(part.rows, hasBoth);
    if (small == part.rows.end() || small->name == row.name) return words;
    const double ratio = small->gpu / small->cpu;
    return words + translatedFormat("; {}: {}", networkOf(*small),
                                    aboutEqual(ratio) ? std::string(translated("about equal"))
                                                      : factorText(ratio, software));
}

CardFinding equalFinding(CardRow row, bool software) {
    return {.figure = std::string(translated("About equal")),
            .beside = std::string(
                translated(software ? "CPU and software Vulkan, within 5 %" : "CPU and GPU, within 5 %")),
            .row = std::move(row)};
}

/// The finding of a part in which no row has both numbers: what there is, and why not more.
CardFinding halfFinding(const CardPart& part, bool software) {
    CardFinding finding;
    const CardRow* told = nullptr; // the largest number, and what kept the other machine from one
    for (const CardRow& row : part.rows) {
        const double number = std::max(row.cpu, row.gpu);
        if (number > 0 && (told == nullptr || number > std::max(told->cpu, told->gpu))) told = &row;
    }
    if (told == nullptr) {
        finding.figure = translated("Not measured");
        for (const CardRow& row : part.rows)
            if (finding.beside.empty()) finding.beside = translatedParts(row.note);
        return finding;
    }
    finding.row = *told;
    finding.row.name = translatedParts(told->name);
    const bool gpu = told->gpu > 0;
    if (std::ranges::any_of(part.rows, [&](const CardRow& row) { return (gpu ? row.cpu : row.gpu) > 0; })) {
        finding.figure = translated("Not compared");
        finding.beside = translated("no row has a number of both");
        return finding;
    }
    finding.figure = translated(!gpu ? "Only the CPU" : software ? "Only software Vulkan" : "Only the GPU");
    finding.beside = told->note.empty()
                         ? translatedFormat("{} has no number here", nameOfMachine(!gpu, software))
                         : translatedParts(told->note);
    return finding;
}

/// The row in which a part's machines are compared; empty: none has both numbers.
std::optional<CardRow> comparedRow(const CardPart& part) {
    if (part.id == "copies") { // the processor has one memory, a card often its own
        const CardRow* host = rowNamed(part, cardCopyRow);
        const CardRow* device = rowNamed(part, "device to device");
        if (host != nullptr && device != nullptr && host->cpu > 0 && device->gpu > 0)
            return CardRow{.name = "each in its own memory", .cpu = host->cpu, .gpu = device->gpu};
    }
    const auto last =
        std::ranges::find_if(part.rows.rbegin(), part.rows.rend(), hasBoth); // the largest network
    if (last == part.rows.rend()) return std::nullopt;
    return *last;
}

CardFinding ladderFinding(const CardPart& part, bool software) {
    const CardRow* plain = rowNamed(part, "cpu:scalar");
    const CardRow* cpu = nullptr;
    const CardRow* gpu = nullptr;
    for (const CardRow& row : part.rows) {
        if (row.cpu > 0 && (cpu == nullptr || row.cpu > cpu->cpu)) cpu = &row;
        if (row.gpu > 0 && (gpu == nullptr || row.gpu > gpu->gpu)) gpu = &row;
    }
    if (plain == nullptr || !(plain->cpu > 0)) return halfFinding(part, software);
    CardFinding finding;
    finding.row.cpu = cpu->cpu;
    finding.row.name = cpu->name;
    finding.row.unchecked = cpu->unchecked;
    if (gpu != nullptr) {
        finding.row.gpu = gpu->gpu;
        finding.row.name += ", " + gpu->name;
        finding.row.unchecked = finding.row.unchecked || gpu->unchecked;
    }
    const bool byGpu = finding.row.gpu > finding.row.cpu;
    const double ratio = std::max(finding.row.cpu, finding.row.gpu) / plain->cpu;
    if (aboutEqual(ratio)) {
        finding.gpu = false;
        finding.figure = translated("No faster");
        finding.beside = translated("than plain loops, however it is written");
        return finding;
    }
    std::string best = byGpu ? gpu->name : cpu->name;
    if (byGpu && software) best += translated(" (software, not a GPU)");
    finding.gpu = byGpu;
    finding.figure = times(ratio);
    finding.beside = translatedFormat("as fast as plain loops, with {}", best);
    return finding;
}

/// From which size on the other machine is faster.
CardFinding sweepFinding(const CardPart& part, SweepBy by, bool software) {
    std::vector<SweepPoint> points;
    std::vector<const CardRow*> rows; // of the points
    bool equal = true;
    for (const CardRow& row : part.rows) {
        if (!hasBoth(row)) continue;
        std::size_t value = 0; // of "N = 1,024"
        for (const char letter : row.name)
            if (letter >= '0' && letter <= '9' && value < 1'000'000'000)
                value = 10 * value + static_cast<std::size_t>(letter - '0');
        SweepPoint& point = points.emplace_back();
        point.value = std::max<std::size_t>(value, 1);
        point.cpuSamples = row.cpu;
        point.gpuSamples = row.gpu;
        rows.push_back(&row);
        equal = equal && aboutEqual(row.gpu / row.cpu);
    }
    if (rows.empty()) return halfFinding(part, software);
    CardFinding finding;
    finding.row = *rows.back();
    if (equal) return equalFinding(finding.row, software);
    const std::vector<Crossing> crossings = crossingsOf(points);
    if (crossings.size() != 1) { // one of them throughout, or noise where they are about equal
        const auto wins = static_cast<std::size_t>(
            std::ranges::count_if(points, [](const SweepPoint& p) { return p.gpuSamples > p.cpuSamples; }));
        if (2 * wins == points.size()) {
            finding.figure = translated("Undecided");
            finding.beside = translated("each is faster at half of the sizes");
            return finding;
        }
        finding.gpu = 2 * wins > points.size();
        finding.figure = translated(!*finding.gpu ? "CPU faster"
                                    : software    ? "Software Vulkan faster"
                                                  : "GPU faster");
        const std::string_view what = translated(nameOf(by));
        const std::string first = grouped(points.front().value);
        finding.beside =
            !crossings.empty()
                ? translatedFormat("at {} of {} sizes", std::max(wins, points.size() - wins), points.size())
            : points.size() == 1
                ? translatedFormat("with {} {}", what, first)
                : translatedFormat("for every {} from {} to {}", what, first, grouped(points.back().value));
        return finding;
    }
    const Crossing& crossing = crossings.front();
    for (std::size_t i = points.size(); i-- > 0;)
        if (static_cast<double>(points[i].value) >= crossing.value) finding.row = *rows[i];
    finding.gpu = crossing.gpuFasterBeyond;
    const std::string size = grouped(static_cast<std::uint64_t>(std::llround(crossing.value)));
    finding.figure = by == SweepBy::width ? translatedFormat("From width {}", size)
                                          : translatedFormat("From batch {}", size);
    finding.beside = translatedFormat("{} is faster", inSentence(crossing.gpuFasterBeyond, software));
    return finding;
}

} // namespace

CardFinding findingOf(const CardPart& part, bool software) {
    if (part.id == "ladder") return ladderFinding(part, software);
    if (part.id == "widths") return sweepFinding(part, SweepBy::width, software);
    if (part.id == "batches") return sweepFinding(part, SweepBy::batch, software);
    const std::optional<CardRow> row = comparedRow(part);
    if (!row) return halfFinding(part, software);
    const double ratio = row->gpu / row->cpu;
    CardFinding finding;
    finding.row = *row;
    finding.row.name = translatedParts(row->name);
    if (part.id == "population") finding.row.name = networkOf(finding.row); // a tile has no room for more
    if (aboutEqual(ratio)) return equalFinding(std::move(finding.row), software);
    finding.gpu = ratio > 1;
    finding.figure = factorText(ratio, software);
    finding.beside = howMuch(part, *row, inSentence(ratio < 1, software), software);
    return finding;
}

std::string cardHeadline(const Card& card) {
    const auto races = std::ranges::find(card.parts, "races", &CardPart::id);
    if (races == card.parts.end()) return {};
    const CardRow* told = nullptr;
    for (const CardRow& row : races->rows)
        if (row.cpu > 0 && row.gpu > 0 && (told == nullptr || told->name != raceKinds()[usualRace].name))
            told = &row;
    if (told == nullptr) return {};
    const bool software = card.gpu.software;
    const double ratio = told->gpu / told->cpu;
    const std::string times = twoDigits(std::max(ratio, 1 / ratio));
    const std::string what = translatedParts(told->name);
    if (aboutEqual(ratio))
        return software ? translatedFormat("CPU and software Vulkan are equally fast at training {}", what)
                        : translatedFormat("CPU and GPU are equally fast at training {}", what);
    if (ratio > 1)
        return software
                   ? translatedFormat("Software Vulkan is {}× as fast as the CPU at training {}", times, what)
                   : translatedFormat("The GPU is {}× as fast as the CPU at training {}", times, what);
    return software
               ? translatedFormat("The CPU is {}× as fast as software Vulkan at training {}", times, what)
               : translatedFormat("The CPU is {}× as fast as the GPU at training {}", times, what);
}

} // namespace lockstep::demos
