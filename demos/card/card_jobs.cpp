#include "demos/card/card_jobs.h"

#include <algorithm>
#include <cmath>

namespace lockstep::demos {

const std::vector<RaceKind>& raceKinds() {
    static const std::vector<RaceKind> kinds{{"2-8-8-1, batch 10", {2, 8, 8, 1}, 10},
                                             {"784-256-128-10, batch 128", {784, 256, 128, 10}, 128},
                                             {"784-2048-2048-10, batch 512", {784, 2048, 2048, 10}, 512},
                                             {"4096-4096-4096-10, batch 4096", {4096, 4096, 4096, 10}, 4096}};
    return kinds;
}

TrainJob jobFor(const std::vector<std::size_t>& widths, std::size_t batch, const Dataset& data) {
    TrainJob job;
    job.data = &data;
    job.shape.widths = widths;
    if (widths.back() == 1) {
        job.shape.loss = Loss::meanSquared;
        job.shape.activation = Activation::tanh;
    }
    job.settings.batch = std::min(batch, data.train.count);
    job.settings.optimizer.kind = Optimizer::sgd;
    job.settings.optimizer.learningRate = 0.01;
    return job;
}

PopulationJob cardPopulation(const Dataset& data, std::size_t count) {
    PopulationJob job;
    job.data = {&data};
    job.shape.widths = {2, 8, 8, 1};
    job.shape.loss = Loss::meanSquared;
    job.settings.optimizer.kind = Optimizer::sgd;
    job.settings.batch = 10;
    job.steps = 10'000'000;
    for (std::size_t k = 0; k < count; ++k) { // rates and scales at which none diverges
        PopulationMember member;
        member.learningRate = 0.001 * std::pow(50.0, static_cast<double>(k) / static_cast<double>(count));
        member.initialScale = 0.5 + 0.1 * static_cast<double>(k % 8);
        job.members.push_back(member);
    }
    return job;
}

} // namespace lockstep::demos
