#include "demos/exhibits/mosaic/mosaic_verdict.h"

#include <algorithm>
#include <span>

#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

bool hasTrained(const MosaicSide& side) { return side.failure.empty() && side.over(); }

std::string settingText(const PopulationAxis& axis, std::size_t place, std::size_t count) {
    return translatedFormat("{} {}", translated(hyperparameterLabel(axis.parameter)),
                            withDecimalSign(axis.label(place, count)));
}

std::string settingsText(const PopulationSpec& spec, std::size_t member) {
    const GridCell cell = spec.cell(member);
    return translatedFormat("{}, {}", settingText(spec.x, cell.x, spec.columns),
                            settingText(spec.y, cell.y, spec.rows));
}

/// "learning rate 0.7 to 4".
std::string rangeText(const PopulationAxis& axis, const PlaceRange& range, std::size_t count) {
    if (range.first == range.last) return settingText(axis, range.first, count);
    return translatedFormat("{} {} to {}", translated(hyperparameterLabel(axis.parameter)),
                            withDecimalSign(axis.label(range.first, count)),
                            withDecimalSign(axis.label(range.last, count)));
}

/// The best quarter of all networks.
std::vector<bool> bestQuarter(const MosaicShot& shot) {
    std::vector<bool> good(shot.results.size());
    for (std::size_t rank = 0; 4 * rank < good.size(); ++rank) {
        const std::size_t member = shot.summary.ranking[rank];
        good[member] = !shot.results[member].diverged;
    }
    return good;
}

std::string speedsText(const MosaicSide& gpu, const MosaicSide& cpu) {
    const std::string gpuRate = shortRate(gpu.networkStepsPerSecond());
    const std::string cpuRate = shortRate(cpu.networkStepsPerSecond());
    if (gpu.machine.software)
        return translatedFormat(
            "Vulkan in software trained at {} steps/s, the CPU kernels at {}, both at once on this CPU.",
            gpuRate, cpuRate);
    return translatedFormat("The GPU trained at {} steps/s, the CPU at {}; both ran at the same time.",
                            gpuRate, cpuRate);
}

} // namespace

const MosaicSide* answeringSide(const MosaicModel& model) {
    if (!model.over()) return nullptr;
    const auto found = std::ranges::find_if(model.sides(), hasTrained);
    return found == model.sides().end() ? nullptr : &*found;
}

std::optional<PlaceRange> bestPlaces(const PopulationSpec& spec, const std::vector<bool>& good, bool alongX) {
    std::vector<std::size_t> counts(alongX ? spec.columns : spec.rows);
    for (std::size_t member = 0; member < good.size(); ++member) {
        const GridCell cell = spec.cell(member);
        if (good[member]) ++counts[alongX ? cell.x : cell.y];
    }
    const auto most = std::ranges::max_element(counts);
    const auto some = [&](std::size_t count) { return 2 * count >= *most; };
    const auto at = static_cast<std::size_t>(most - counts.begin());
    PlaceRange range{at, at};
    while (range.first > 0 && some(counts[range.first - 1])) --range.first;
    while (range.last + 1 < counts.size() && some(counts[range.last + 1])) ++range.last;
    if (5 * (range.last - range.first + 1) > 3 * counts.size()) return std::nullopt;
    return range;
}

BestRanges bestRanges(const PopulationSpec& spec, const MosaicShot& shot) {
    const std::vector<bool> good = bestQuarter(shot);
    return {bestPlaces(spec, good, true), bestPlaces(spec, good, false)};
}

std::string mosaicVerdict(const MosaicModel& model) {
    const MosaicSide* const side = answeringSide(model);
    if (side == nullptr) return {};
    const std::size_t best = side->shot->summary.ranking.front();
    if (side->shot->results[best].diverged) return std::string(translated("No settings win: all diverged"));
    const PopulationSpec& spec = model.spec();
    const auto [x, y] = bestRanges(spec, *side->shot);
    if (!x && !y) return translatedFormat("Best: {}", settingsText(spec, best));
    const std::string alongX = x ? rangeText(spec.x, *x, spec.columns) : "";
    const std::string alongY = y ? rangeText(spec.y, *y, spec.rows) : "";
    if (x && y) return translatedFormat("Best: {}, {}", alongX, alongY);
    return translatedFormat("Best: {}, almost whatever the {}", x ? alongX : alongY,
                            translated(hyperparameterLabel(x ? spec.y.parameter : spec.x.parameter)));
}

std::string mosaicEvidence(const MosaicModel& model) {
    const MosaicSide* const side = answeringSide(model);
    if (side == nullptr) return {};
    const std::span<const MosaicSide> sides = model.sides();
    const std::size_t best = side->shot->summary.ranking.front();
    std::string text;
    if (!side->shot->results[best].diverged)
        text = translatedFormat("Lowest loss: {}. ", settingsText(model.spec(), best));
    if (sides.size() < 2 || !std::ranges::all_of(sides, hasTrained))
        return text + translatedFormat("Speed of all networks together: {} steps/s ({}).",
                                       shortRate(side->networkStepsPerSecond()), translated(sideName(*side)));
    text += speedsText(sides[0], sides[1]);
    const MosaicShot& cpu = *sides[1].shot;
    const std::size_t other = cpu.summary.ranking.front();
    if (other != best && !cpu.results[other].diverged)
        text += translatedFormat(" Rounded differently, the CPU's lowest is {}.",
                                 settingsText(model.spec(), other));
    return text;
}

} // namespace lockstep::demos
