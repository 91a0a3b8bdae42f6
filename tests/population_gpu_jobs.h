// Populations that tests train on a Vulkan device, and what they all look at.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "engine/grid/population.h"
#include "tests/plane_twin.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

namespace lockstep::test {

inline constexpr PopulationLayout layouts[] = {PopulationLayout::invocation, PopulationLayout::subgroup,
                                               PopulationLayout::workgroup};

inline const Dataset& twoClasses() {
    static const Dataset data = classData(2, 2, 45); // the last batch of an epoch has 5 examples
    return data;
}

inline PopulationJob jobOf(const Dataset& data, std::size_t members, std::vector<std::size_t> hidden = {3}) {
    PopulationJob job;
    job.data = {&data};
    job.shape = jobFor(data, std::move(hidden)).shape;
    job.settings.batch = 10;
    job.settings.optimizer.kind = Optimizer::sgd;
    job.steps = 100;
    for (std::size_t k = 0; k < members; ++k) {
        PopulationMember member;
        member.seed = 7;
        member.learningRate = 0.01 + 0.05 * static_cast<double>(k % 13) / 13;
        member.initialScale = 0.5 + 0.1 * static_cast<double>(k % 5);
        job.members.push_back(member);
    }
    return job;
}

inline bool sameFloat(float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

inline void checkSummary(const PopulationJob& job, Population& population) {
    const PopulationSummary found = population.summary();
    const PopulationSummary expected = summarise(job, population.results());
    CHECK(found.ranking == expected.ranking);
    CHECK(std::ranges::equal(found.percentiles, expected.percentiles, sameFloat));
    CHECK(found.begun == expected.begun);
    CHECK(found.finished == expected.finished);
    CHECK(found.diverged == expected.diverged);
    CHECK(found.networkSteps == expected.networkSteps);
}

inline DecisionMapOptions mapOptions(const NetShape& shape) {
    DecisionMapOptions options;
    options.features = featuresFor(shape);
    options.columns = 3;
    options.cells = 6;
    options.colours.negative = 0xFF009FE6;
    options.colours.zero = 0xFFF0F0F0;
    options.colours.positive = 0xFFE9B456;
    options.colours.background = 0xFF202020;
    for (std::uint32_t k = 0; k < shared::colourClassCount; ++k)
        options.colours.classes[k] = 0xFF000000u | (k * 2654435761u & 0xFFFFFFu);
    return options;
}

} // namespace lockstep::test
