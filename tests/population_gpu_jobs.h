// Populations that tests train on a Vulkan device, and what they all look at.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
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
    const std::vector<MemberResult> results = population.results();
    std::vector<float> losses; // of the networks that have begun, best first
    std::uint64_t steps = 0;
    for (const std::uint32_t member : found.ranking) {
        const MemberResult& result = results.at(member);
        steps += result.steps;
        if (losses.size() == found.begun) CHECK(!result.begun());
        if (!result.begun()) continue;
        const bool bad = result.diverged || !std::isfinite(result.loss);
        losses.push_back(bad ? std::numeric_limits<float>::infinity() : result.loss);
    }
    CHECK(found.ranking.size() == job.members.size());
    CHECK(losses.size() == found.begun);
    CHECK(std::ranges::is_sorted(losses));
    CHECK(found.networkSteps == steps);
    CHECK(found.finished >= found.diverged);
    CHECK(std::cmp_equal(found.diverged, std::ranges::count_if(results, &MemberResult::diverged)));
    CHECK(sameFloat(found.percentiles.front(), losses.empty() ? MemberResult::unknown : losses.front()));
    CHECK(sameFloat(found.percentiles.back(), losses.empty() ? MemberResult::unknown : losses.back()));
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
