#include "demos/exhibits/mosaic/mosaic_words.h"

#include <cmath>

#include <fmt/format.h>

#include "demos/words/text.h"

namespace lockstep::demos {

std::string sideName(const MosaicSide& side) {
    if (!side.spec.gpu) return "CPU";
    return side.machine.software ? "Vulkan in software" : "GPU";
}

std::string headline(const std::vector<MosaicSide>& sides, const PopulationSpec& spec) {
    std::string text;
    for (const MosaicSide& side : sides) {
        if (!side.shot || side.shot->summary.networkSteps == 0) continue;
        const PopulationSummary& summary = side.shot->summary;
        const std::string some =
            summary.finished == spec.size() ? "" : fmt::format("{} of ", grouped(summary.finished));
        const std::string lost =
            summary.diverged == 0 ? "" : fmt::format(", {} of them diverged,", grouped(summary.diverged));
        text += fmt::format("{}{}: {}{}{} in {}", text.empty() ? "" : "; ", sideName(side), some,
                            counted(spec.size(), "network"), lost, timeTaken(side.shot->seconds));
    }
    return text;
}

std::string memberState(const PopulationSpec& spec, const MemberResult& result) {
    if (result.diverged)
        return fmt::format("Diverged: the loss was no longer finite at step {}.", grouped(result.steps));
    if (result.steps == 0) return "Training has not started: initial weights.";
    if (result.steps >= spec.steps) return fmt::format("Trained for all {} steps.", grouped(spec.steps));
    return fmt::format("Trained for {} of {} steps.", grouped(result.steps), grouped(spec.steps));
}

NamedValues memberValues(const PopulationSpec& spec, std::size_t member, const MemberResult& result) {
    const GridCell cell = spec.cell(member);
    NamedValues values;
    values.emplace_back(hyperparameterLabel(spec.x.parameter), spec.x.label(cell.x, spec.columns));
    values.emplace_back(hyperparameterLabel(spec.y.parameter), spec.y.label(cell.y, spec.rows));
    values.emplace_back("loss",
                        std::isfinite(result.loss) ? threeDigits(static_cast<double>(result.loss)) : "-");
    if (result.diverged) values.emplace_back("diverged at step", grouped(result.steps));
    if (!std::isnan(result.accuracy))
        values.emplace_back("accuracy", percent(static_cast<double>(result.accuracy)));
    return values;
}

std::string sharedText(const PopulationGrid& grid) {
    const PopulationSpec& spec = grid.spec;
    const NetShape& shape = grid.job.shape;
    std::string text = shape.describeWidths();
    if (spec.axisOf(Hyperparameter::activation) == nullptr)
        text += fmt::format(" {}", name(shape.activation));
    text += fmt::format(", {}, {}", name(shape.loss), name(spec.train.optimizer.kind));
    if (spec.axisOf(Hyperparameter::learningRate) == nullptr)
        text += fmt::format(" {}", threeDigits(spec.train.optimizer.effectiveLearningRate()));
    return text + fmt::format(", batch {}", spec.train.batch);
}

} // namespace lockstep::demos
