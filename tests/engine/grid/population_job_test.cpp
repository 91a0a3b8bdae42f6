// What a population is told and what it tells: summaries, decision maps, and jobs that make no sense.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "engine/grid/population_block.h"
#include "engine/plane/plane_colours.h"
#include "tests/population_jobs.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

TEST_CASE("a network without a step has no loss on any lane") {
    const Dataset data = spiral();
    for (const bool vectors : {false, true}) {
        const auto population = makeCpuPopulation(jobOn({&data}), 1, vectors);
        for (const MemberResult& result : population->results()) {
            CHECK_FALSE(result.begun());
            CHECK(std::isnan(result.loss));
            CHECK(std::isnan(result.accuracy));
            CHECK(result.weightNorm > 0);
        }
        population->trainTo(1);
        CHECK(population->results()[3].loss > 0);
    }
}

TEST_CASE("a summary ranks by loss and leaves out what has not begun") {
    const Dataset data = spiral();
    PopulationJob job = jobOn({&data});
    job.members.resize(6);
    job.steps = 10;
    std::vector<MemberResult> results(6);
    const float losses[] = {0.5f, 0.2f, 0.9f, 0.2f, 0.1f, 0.3f};
    for (std::size_t k = 0; k < 6; ++k) {
        results[k].loss = losses[k];
        results[k].steps = k == 4 ? 0 : 10;
    }
    results[5].diverged = true;
    results[5].steps = 3;
    const PopulationSummary summary = summarise(job, results);
    CHECK(summary.ranking == std::vector<std::uint32_t>{1, 3, 0, 2, 5, 4});
    CHECK(summary.begun == 5);
    CHECK(summary.finished == 5);
    CHECK(summary.diverged == 1);
    CHECK(summary.networkSteps == 43);
    CHECK(summary.percentiles[0] == 0.2f); // of 0.2, 0.2, 0.5, 0.9, infinity
    CHECK(summary.percentiles[2] == 0.2f);
    CHECK(summary.percentiles[3] == 0.5f);
    CHECK(summary.percentiles[4] == 0.9f);
    CHECK(std::isinf(summary.percentiles[6]));
    CHECK(std::isnan(summarise(job, std::vector<MemberResult>(6)).percentiles[3]));
}

TEST_CASE("decision maps show each network's answers in its tile") {
    const Dataset two = spiral(), five = loadDataset("blobs", {.samples = 100});
    for (const Dataset* data : {&two, &five})
        for (const bool vectors : {false, true}) {
            PopulationJob job = jobOn({data});
            const auto population = makeCpuPopulation(job, 2, vectors);
            population->trainTo(20);
            DecisionMapOptions options;
            options.columns = 5;
            options.cells = 6;
            options.colours = {
                .negative = 0xFF0000FF, .zero = 0xFFFFFFFF, .positive = 0xFFFF0000, .background = 0xFF123456};
            for (std::uint32_t k = 0; k < shared::colourClassCount; ++k)
                options.colours.classes[k] = 0xFF000000u + 0x0F1B2Du * k;
            const std::vector<std::uint32_t> picture = population->decisionMaps(options);
            CHECK(options.width() == 30);
            REQUIRE(picture.size() == 30 * 4 * 6); // 17 members in 4 lines
            CHECK(picture.back() == options.colours.background);
            const std::vector<float> points = options.points();
            CHECK(points[0] == doctest::Approx(-5));
            CHECK(points[1] == doctest::Approx(5));
            const std::size_t outputs = job.shape.outputs();
            for (const std::size_t member : {0, 7, 16}) {
                PopulationJob one = job;
                one.members = {job.members[member]};
                auto block = std::move(plainPopulationBlocks(one).front());
                block->train(20);
                const std::vector<float> answers = block->answers(points, 36);
                for (std::size_t row = 0; row < 36; ++row) {
                    const std::uint32_t expected =
                        answerColour(job.shape, {answers.data() + row * outputs, outputs}, options.colours);
                    const std::size_t at = (member / 5 * 6 + row / 6) * 30 + member % 5 * 6 + row % 6;
                    for (std::uint32_t shift = 0; shift < 32; shift += 8)
                        CHECK(std::abs(static_cast<int>(picture[at] >> shift & 255) -
                                       static_cast<int>(expected >> shift & 255)) <= 1);
                }
            }
            options.features = {PlaneFeature::x};
            CHECK_THROWS_AS(population->decisionMaps(options), std::invalid_argument);
            options.features = {PlaneFeature::x, PlaneFeature::y};
            options.cells = 3;
            CHECK_THROWS_AS(population->decisionMaps(options), std::invalid_argument);
            options.cells = 6;
            options.columns = 0;
            CHECK_THROWS_AS(population->decisionMaps(options), std::invalid_argument);
            options.columns = 5;
            options.to = options.from;
            CHECK_THROWS_AS(population->decisionMaps(options), std::invalid_argument);
        }
}

TEST_CASE("a job that makes no sense is refused with the reason") {
    const Dataset data = spiral(), longer = spiral(130), pixels = pixelData(2, 2, 100);
    const auto refused = [&](const std::string& words, const std::function<void(PopulationJob&)>& spoil) {
        PopulationJob job = jobOn({&data});
        spoil(job);
        try {
            makeCpuPopulation(job, 1);
            FAIL("not refused: ", words);
        } catch (const std::invalid_argument& error) {
            CHECK_MESSAGE(std::string(error.what()).find(words) != std::string::npos, error.what());
        }
    };
    using Job = PopulationJob;
    refused("needs data", [](Job& job) { job.data.clear(); });
    refused("the same sizes", [&](Job& job) { job.data.push_back(&longer); });
    refused("not pixels", [&](Job& job) { job.data = {&pixels}; });
    refused("at least 1 network", [](Job& job) { job.members.clear(); });
    refused("at most 65536 networks", [](Job& job) { job.members.resize(65537); });
    refused("1 to 10,000,000 steps", [](Job& job) { job.steps = 0; });
    refused("1 to 10,000,000 steps", [](Job& job) { job.steps = 10'000'001; });
    refused("at most 8 inputs", [](Job& job) { job.shape.widths.front() = 9; });
    refused("at most 8 outputs", [](Job& job) { job.shape.widths.back() = 9; });
    refused("at most 4 hidden layers", [](Job& job) { job.shape.widths = {2, 2, 2, 2, 2, 2, 1}; });
    refused("hidden layers of 29 neurons fit", [](Job& job) { job.shape.widths = {2, 40, 40, 1}; });
    refused("the network takes 3", [](Job& job) { job.shape.widths.front() = 3; });
    refused("batch", [](Job& job) { job.settings.batch = 0; });
    refused("train in fp32, not in bf16",
            [](Job& job) { job.settings.precision.format = OperandFormat::bf16; });
    refused("train in fp32, not in fp64",
            [](Job& job) { job.settings.precision.format = OperandFormat::fp64; });
    refused("network 3 of the population: its data set", [](Job& job) { job.members[3].data = 1; });
    refused("network 3 of the population: the scale", [](Job& job) { job.members[3].initialScale = 0; });
    refused("up to 1,000,000", [](Job& job) { job.members[3].initialScale = 1e39; }); // no float
    refused("up to 1,000,000", [](Job& job) { job.members[3].initialScale = NAN; });
    refused("network 3 of the population: the learning rate",
            [](Job& job) { job.members[3].learningRate = -1; });
    refused("network 3 of the population: momentum", [](Job& job) { job.members[3].momentum = 1; });
    refused("network 3 of the population: the weight decay",
            [](Job& job) { job.members[3].weightDecay = -2; });
}

TEST_CASE("layouts and lanes of populations have names") {
    for (const PopulationLayout layout : {PopulationLayout::best, PopulationLayout::invocation,
                                          PopulationLayout::subgroup, PopulationLayout::workgroup})
        CHECK(populationLayoutFromName(name(layout)) == layout);
    CHECK_THROWS_WITH_AS(populationLayoutFromName("subgrup"), doctest::Contains("did you mean 'subgroup'"),
                         std::invalid_argument);
    const Dataset data = spiral();
    const PopulationJob job = jobOn({&data});
    const auto plain = makePopulation(job, laneSpecFromText("cpu:scalar"), 2, nullptr);
    CHECK(plain->machine().threads == 1);
    CHECK(plain->machine().kernels.find("plain loops") != std::string::npos);
    CHECK(makePopulation(job, laneSpecFromText("cpu:simd"), 2, nullptr)->machine().threads == 1);
    CHECK(makePopulation(job, laneSpecFromText("cpu:best"), 2, nullptr)->machine().threads == 2);
}
