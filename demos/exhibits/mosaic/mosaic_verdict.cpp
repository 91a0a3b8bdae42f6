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

std::string mosaicVerdict(const MosaicModel& model) {
    const MosaicSide* const side = answeringSide(model);
    if (side == nullptr) return {};
    const std::size_t best = side->shot->summary.ranking.front();
    if (side->shot->results[best].diverged) return std::string(translated("No settings win: all diverged"));
    return translatedFormat("Best: {}", settingsText(model.spec(), best));
}

std::string mosaicEvidence(const MosaicModel& model) {
    const MosaicSide* const side = answeringSide(model);
    if (side == nullptr) return {};
    const std::span<const MosaicSide> sides = model.sides();
    if (sides.size() < 2 || !std::ranges::all_of(sides, hasTrained))
        return translatedFormat("Speed of all networks together: {} steps/s ({}).",
                                shortRate(side->networkStepsPerSecond()), translated(sideName(*side)));
    std::string text = speedsText(sides[0], sides[1]);
    const MosaicShot& cpu = *sides[1].shot;
    const std::size_t best = cpu.summary.ranking.front();
    if (best != side->shot->summary.ranking.front() && !cpu.results[best].diverged)
        text +=
            translatedFormat(" Rounded differently, the CPU's best is {}.", settingsText(model.spec(), best));
    return text;
}

} // namespace lockstep::demos
