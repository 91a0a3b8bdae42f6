// What a Vulkan device tells of a population: results and pictures come from kernels and are what the host
// would make of the same networks.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "engine/net/param_layout.h"
#include "tests/population_gpu_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

/// What a network answers at the centre of a cell, by the plain loops.
std::vector<float> plainAnswer(NetShape shape, Activation hidden, std::span<const float> parameters,
                               const DecisionMapOptions& options, std::uint32_t x, std::uint32_t y) {
    shape.activation = hidden;
    const ParamLayout layout(shape);
    const float cell = (options.to - options.from) / static_cast<float>(options.cells);
    std::vector<float> level =
        planeFeatures(options.from + (static_cast<float>(x) + 0.5f) * cell,
                      options.to - (static_cast<float>(y) + 0.5f) * cell, options.features);
    for (std::size_t l = 0; l < shape.layers(); ++l) {
        const LayerLayout& place = layout.layer(l);
        level.resize(roundUpToFour(place.inputs));
        std::vector<float> above(roundUpToFour(place.outputs));
        plain::dense(DenseShape{1, place.inputs, place.outputs, place.rowStride, above.size()}, level.data(),
                     parameters.data() + place.weightOffset, parameters.data() + place.biasOffset,
                     shape.activationOf(l), above.data(), static_cast<float*>(nullptr));
        level = above;
    }
    level.resize(shape.outputs());
    return level;
}

void checkMaps(Population& population) {
    const PopulationJob& job = population.job();
    const DecisionMapOptions options = mapOptions(job.shape);
    const std::vector<std::uint32_t> picture = population.decisionMaps(options);
    const std::uint32_t width = options.width();
    REQUIRE(picture.size() == std::size_t{width} * options.height(job.members.size()));
    float largest = 0;
    for (std::uint32_t member = 0; member < job.members.size(); ++member) {
        const std::vector<float> parameters = population.parameters(member);
        for (std::uint32_t cell = 0; cell < options.cells * options.cells; ++cell) {
            const std::uint32_t x = cell % options.cells;
            const std::uint32_t y = cell / options.cells;
            const auto answer =
                plainAnswer(job.shape, job.members[member].activation, parameters, options, x, y);
            const Colour colour =
                outputColour(probabilities(answer, job.shape.loss), job.shape, options.colours);
            const std::uint32_t word = picture[(member / options.columns * options.cells + y) * width +
                                               member % options.columns * options.cells + x];
            largest = std::max(largest, colour.distance(word));
        }
    }
    CHECK(largest <= 1.01f);
    if (job.members.size() % options.columns != 0) CHECK(picture.back() == options.colours.background);
}

} // namespace

TEST_CASE("results, summaries and decision maps are what the host makes of the networks") {
    const Dataset classes = classData(2, 3, 45);
    const Dataset training = [] {
        Dataset data = twoClasses();
        data.test = {};
        return data;
    }();
    for (const Dataset* data : {&classes, &training})
        for (const Loss loss : {Loss::crossEntropy, Loss::meanSquared, Loss::binaryCrossEntropy}) {
            CAPTURE(name(loss));
            PopulationJob job = jobOf(*data, 7);
            job.shape.loss = loss;
            job.shape.widths.back() = outputsFor(*data, loss);
            for (std::size_t k = 0; k < 7; ++k)
                job.members[k].activation = k % 2 == 0 ? Activation::tanh : Activation::relu;
            const auto population = makeGpuPopulation(testDevice(), job, PopulationLayout::invocation);
            population->trainTo(50);
            checkSummary(job, *population);
            checkMaps(*population);
            const std::vector<MemberResult> results = population->results();
            for (const std::size_t member : {0, 5}) {
                const auto trainer = makeCpuTrainer(job.alone(member), "scalar", 1);
                TrainerState state = trainer->state();
                state.parameters = population->parameters(member);
                trainer->restore(state);
                const Evaluation evaluation =
                    trainer->evaluate(data->test.count > 0 ? Split::test : Split::train);
                CHECK(static_cast<double>(results[member].loss) ==
                      doctest::Approx(evaluation.loss).epsilon(1e-5));
                CHECK(static_cast<double>(results[member].accuracy) ==
                      doctest::Approx(evaluation.accuracy).epsilon(1e-6));
            }
        }
}

TEST_CASE("networks that diverged are scored and drawn as a processor does it") {
    const Dataset three = classData(2, 3, 45);
    for (const Dataset* data : {&twoClasses(), &three}) {
        PopulationJob job = jobOf(*data, 12, {4, 3, 3});
        job.shape.loss = data == &three ? Loss::crossEntropy : Loss::binaryCrossEntropy;
        job.shape.widths.back() = outputsFor(*data, job.shape.loss);
        for (std::size_t k = 0; k < 12; ++k) {
            job.members[k].activation = k % 2 == 0 ? Activation::identity : Activation::relu;
            if (k % 3 == 0) continue;
            job.members[k].learningRate = 1e6;
            job.members[k].initialScale = k % 3 == 1 ? 1e6 : 1e5; // their squares are no floats
        }
        const auto population = makeGpuPopulation(testDevice(), job, PopulationLayout::invocation);
        const auto plain = makeCpuPopulation(job, 1, false);
        population->trainTo(50);
        plain->trainTo(50);
        const std::vector<MemberResult> found = population->results();
        const std::vector<MemberResult> expected = plain->results();
        for (std::size_t k = 0; k < 12; ++k) {
            CAPTURE(k);
            CHECK(found[k].diverged == (k % 3 != 0));
            CHECK(found[k].steps == expected[k].steps);
            CHECK(found[k].accuracy == doctest::Approx(expected[k].accuracy));
            CHECK(found[k].weightNorm == doctest::Approx(expected[k].weightNorm).epsilon(1e-3));
        }
        const DecisionMapOptions options = mapOptions(job.shape);
        const std::vector<std::uint32_t> picture = population->decisionMaps(options);
        CHECK(std::ranges::count(picture, options.colours.background) > 0);
        const std::vector<std::uint32_t> wanted = plain->decisionMaps(options);
        float largest = 0;
        for (std::size_t at = 0; at < wanted.size(); ++at)
            largest = std::max(largest, Colour(wanted[at]).distance(picture[at]));
        CHECK(largest <= 1.01f);
    }
}

TEST_CASE("a weight's norm counts no biases, and regression has no accuracy") {
    const Dataset values = valueData();
    PopulationJob job = jobOf(values, 3);
    job.shape.loss = Loss::huber;
    job.shape.widths.back() = 2;
    const auto population = makeGpuPopulation(testDevice(), job, PopulationLayout::workgroup);
    population->trainTo(20);
    const ParamLayout layout(job.shape);
    const std::vector<float> parameters = population->parameters(1);
    double squares = 0;
    for (std::size_t l = 0; l < job.shape.layers(); ++l)
        for (std::size_t k = 0; k < layout.layer(l).weightCount(); ++k) {
            const auto weight = static_cast<double>(parameters[layout.layer(l).weightOffset + k]);
            squares += weight * weight;
        }
    const MemberResult result = population->results()[1];
    CHECK(static_cast<double>(result.weightNorm) == doctest::Approx(std::sqrt(squares)).epsilon(1e-5));
    CHECK(std::isnan(result.accuracy));
}

TEST_CASE("a picture on the device stays until the call after the next") {
    PopulationJob job = jobOf(twoClasses(), 4);
    job.shape.loss = Loss::meanSquared;
    job.shape.widths.back() = 1;
    const auto population = makeGpuPopulation(testDevice(), job, PopulationLayout::invocation);
    const DecisionMapOptions options = mapOptions(job.shape);
    const auto first = population->decisionMapsOnDevice(options);
    const auto second = population->decisionMapsOnDevice(options);
    REQUIRE(first.has_value());
    CHECK(first->view.buffer != second->view.buffer);
    CHECK(second->view.size == std::uint64_t{4} * options.width() * options.height(4));
    CHECK(population->decisionMapsOnDevice(options)->view.buffer == first->view.buffer);
    DecisionMapOptions wrong = options;
    wrong.features = {PlaneFeature::x};
    CHECK_THROWS_AS(population->decisionMaps(wrong), std::invalid_argument);
    wrong = options;
    wrong.cells = 3;
    CHECK_THROWS_AS(population->decisionMaps(wrong), std::invalid_argument);
    wrong.cells = 64;
    wrong.columns = 60000; // 245,760,000 pixels
    if (testDevice().limits().storageRange == 1u << 27)
        CHECK_THROWS_WITH(population->decisionMaps(wrong), doctest::Contains("at most 23 pixels"));
}

TEST_CASE(
    "networks that find no room in registers are scored and drawn by loops, in pieces that end soon enough") {
    // So many networks that each invocation scores all examples of one, in the widest layer there is.
    const Dataset data = classData(1, 2, 612); // 204 of them to test
    PopulationJob job = jobOf(data, 16400, {341});
    job.shape.loss = Loss::meanSquared;
    job.shape.widths.back() = 1;
    job.settings.batch = 1;
    const auto population = makeGpuPopulation(testDevice(), job, PopulationLayout::workgroup);
    population->trainTo(1);
    const std::vector<MemberResult> found = population->results();
    job.members.resize(7);
    const auto few = makeCpuPopulation(job, 1);
    few->trainTo(1);
    const std::vector<MemberResult> expected = few->results();
    for (std::size_t member = 0; member < 7; ++member)
        CHECK(static_cast<double>(found[member].loss) ==
              doctest::Approx(static_cast<double>(expected[member].loss)).epsilon(1e-4));
    const auto drawn = makeGpuPopulation(testDevice(), job, PopulationLayout::workgroup);
    drawn->trainTo(1);
    checkMaps(*drawn);
}
