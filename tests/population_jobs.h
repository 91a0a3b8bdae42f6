// Populations that tests on a processor train.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/data/data_source.h"
#include "engine/grid/population.h"
#include "tests/sanitized.h"

namespace lockstep::test {

inline constexpr std::uint64_t comparedSteps = sanitized ? 20 : 100;

/// Members that differ in all that members can differ in, but the activation.
inline std::vector<PopulationMember> differentMembers(std::size_t count, std::size_t dataSets = 1) {
    std::vector<PopulationMember> members(count);
    for (std::size_t k = 0; k < count; ++k) {
        members[k].seed = 3 + k;
        members[k].learningRate = 0.002 * static_cast<double>(1 + k % 7);
        members[k].initialScale = 0.5 + 0.1 * static_cast<double>(k % 5);
        members[k].momentum = 0.5 + 0.1 * static_cast<double>(k % 4);
        if (k % 3 != 0) members[k].weightDecay = 0.001 * static_cast<double>(k % 3);
        members[k].data = k % dataSets;
    }
    return members;
}

inline Dataset spiral(std::size_t samples = 120, std::uint64_t seed = 1) {
    return loadDataset("spiral", {.seed = seed, .samples = samples});
}

/// 2-5-3-1 on the spiral, batches of 10 and one of 6, a member for each lane of the longest vectors and one
/// more.
inline PopulationJob jobOn(const std::vector<const Dataset*>& data) {
    PopulationJob job;
    job.data = data;
    job.shape.loss = data.front()->classes == 2 ? Loss::meanSquared : Loss::crossEntropy;
    job.shape.widths = {data.front()->inputs, 5, 3, outputsFor(*data.front(), job.shape.loss)};
    job.settings.batch = 10;
    job.settings.optimizer.kind = Optimizer::sgd;
    job.members = differentMembers(17);
    job.steps = comparedSteps;
    return job;
}

} // namespace lockstep::test
