#include "demos/exhibits/mosaic/mosaic_measured.h"

#include <cmath>
#include <string>

#include "demos/exhibits/mosaic/mosaic_verdict.h"

namespace lockstep::demos {

void addMeasured(MeasuredValues& values, const MosaicModel& model) {
    values["mosaic.networks"].number = static_cast<double>(model.members());
    values["mosaic.finished"].number = model.over() ? 1 : Measured().number;
    for (const char* name :
         {"diverged_share", "best_loss", "best_learning_rate", "first_diverged_learning_rate"})
        values[std::string("mosaic.") + name] = {};
    const MosaicSide* const trained = answeringSide(model);
    if (trained == nullptr) return;
    const std::vector<MemberResult>& results = trained->shot->results;
    const PopulationSummary& summary = trained->shot->summary;
    const auto rate = [&](std::size_t member) { return model.spec().member(member).learningRate.value(); };
    values["mosaic.diverged_share"].number =
        static_cast<double>(summary.diverged) / static_cast<double>(results.size());
    double& first = values["mosaic.first_diverged_learning_rate"].number;
    for (std::size_t member = 0; member < results.size(); ++member)
        if (results[member].diverged) first = std::fmin(first, rate(member)); // NaN: none so far
    const std::size_t best = summary.ranking.front();
    if (results[best].diverged) return;
    values["mosaic.best_loss"].number = static_cast<double>(results[best].loss);
    values["mosaic.best_learning_rate"].number = rate(best);
}

} // namespace lockstep::demos
