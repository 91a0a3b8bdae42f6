// Populations on a processor: every member against the same network trained alone by cpu:scalar, on every
// instruction set that this processor has; and that neither threads nor interruptions change a bit.
#include <doctest/doctest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "engine/cpu/population_kernels.h"
#include "engine/net/data_source.h"
#include "engine/net/param_layout.h"
#include "engine/train/answer_colour.h"
#include "engine/train/decision_map.h"
#include "engine/train/population_block.h"
#include "tests/cpu_tables.h"
#include "tests/sanitized.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

constexpr std::uint64_t comparedSteps = sanitized ? 20 : 100;

std::vector<VectorLevel> levels() {
    std::vector<VectorLevel> result;
    for (const VectorLevel level : {VectorLevel::baseline, VectorLevel::avx2, VectorLevel::avx512})
        if (level <= vectorLevel()) result.push_back(level);
    return result;
}

/// Members that differ in all that members can differ in, but the activation.
std::vector<PopulationMember> differentMembers(std::size_t count, std::size_t dataSets = 1) {
    std::vector<PopulationMember> members(count);
    for (std::size_t k = 0; k < count; ++k) {
        members[k].seed = 3 + k;
        members[k].learningRate = 0.002 * static_cast<double>(1 + k % 7);
        members[k].initialScale = 0.5 + 0.1 * static_cast<double>(k % 5);
        members[k].momentum = 0.5 + 0.1 * static_cast<double>(k % 4);
        members[k].weightDecay = k % 3 == 0 ? -1 : 0.001 * static_cast<double>(k % 3);
        members[k].data = k % dataSets;
    }
    return members;
}

Dataset spiral(std::size_t samples = 120, std::uint64_t seed = 1) {
    return loadDataset("spiral", {.seed = seed, .samples = samples});
}

/// 2-5-3-1 on the spiral, batches of 10 and one of 6, a member for each lane of the longest vectors and one
/// more.
PopulationJob jobOn(const std::vector<const Dataset*>& data) {
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

/// The losses of the member's first steps, trained alone.
std::vector<LossPoint> lossesAlone(const PopulationJob& job, std::size_t member, std::uint64_t steps) {
    const auto trainer = makeCpuTrainer(job.alone(member), "scalar", 1);
    TrainerState state = trainer->state();
    state.parameters = job.initialParameters(member);
    trainer->restore(state);
    return train(*trainer, steps);
}

/// The largest relative difference of a batch loss in the first steps between these members, trained in
/// blocks, and cpu:scalar.
double largestDifference(const PopulationJob& job, const PopulationBlocks& blocks,
                         const std::set<std::size_t>& compared, std::uint64_t steps = comparedSteps) {
    double largest = 0;
    for (const auto& block : blocks) {
        std::vector<std::vector<LossPoint>> alone(block->members().size());
        for (std::size_t lane = 0; lane < alone.size(); ++lane)
            if (compared.contains(block->members()[lane]))
                alone[lane] = lossesAlone(job, block->members()[lane], steps);
        for (std::uint64_t step = 0; step < steps; ++step) {
            block->train(1);
            const std::vector<float> losses = block->batchLosses();
            for (std::size_t lane = 0; lane < alone.size(); ++lane) {
                if (alone[lane].empty()) continue;
                const auto expected = static_cast<double>(alone[lane].at(step).loss);
                const double difference = std::abs(static_cast<double>(losses[lane]) - expected);
                // Below 1e-3 a loss is the difference of numbers that are large beside it.
                const double relative = difference / std::fmax(expected, 1e-3);
                largest = std::isnan(relative) ? INFINITY : std::fmax(largest, relative);
            }
        }
    }
    return largest;
}

std::set<std::size_t> allOf(const PopulationJob& job) {
    std::set<std::size_t> all;
    for (std::size_t member = 0; member < job.members.size(); ++member) all.insert(member);
    return all;
}

void checkAgainstScalar(const PopulationJob& job, const std::set<std::size_t>& compared) {
    job.validate();
    for (const VectorLevel level : levels()) {
        CAPTURE(name(level));
        CHECK(largestDifference(job, lanePopulationBlocks(job, level), compared) < 1e-4);
    }
}

void checkAgainstScalar(const PopulationJob& job) { checkAgainstScalar(job, allOf(job)); }

/// All bits of what is known of a population.
void checkSame(Population& a, Population& b) {
    const std::vector<MemberResult> ofA = a.results();
    const std::vector<MemberResult> ofB = b.results();
    REQUIRE(ofA.size() == ofB.size());
    const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
    for (std::size_t k = 0; k < ofA.size(); ++k) {
        CAPTURE(k);
        CHECK(ofA[k].steps == ofB[k].steps);
        CHECK(ofA[k].diverged == ofB[k].diverged);
        CHECK(bits(ofA[k].batchLoss) == bits(ofB[k].batchLoss));
        CHECK(bits(ofA[k].loss) == bits(ofB[k].loss));
        CHECK(a.parameters(k) == b.parameters(k));
    }
}

} // namespace

TEST_CASE("members are the same networks trained alone, for every activation") {
    const Dataset data = spiral();
    for (const Activation activation : activations) {
        CAPTURE(name(activation));
        PopulationJob job = jobOn({&data});
        for (PopulationMember& member : job.members) member.activation = activation;
        checkAgainstScalar(job);
    }
}

TEST_CASE("members are the same networks trained alone, for every optimizer and schedule") {
    const Dataset data = spiral();
    for (const Optimizer optimizer : optimizers)
        for (const Schedule schedule : {Schedule::constant, Schedule::step, Schedule::cosine}) {
            CAPTURE(name(optimizer));
            CAPTURE(name(schedule));
            PopulationJob job = jobOn({&data});
            job.settings.optimizer.kind = optimizer;
            job.settings.optimizer.schedule = schedule;
            job.settings.optimizer.scheduleSteps = 30;
            job.settings.optimizer.warmupSteps = schedule == Schedule::cosine ? 7 : 0;
            job.settings.optimizer.l1 = schedule == Schedule::step ? 1e-3 : 0;
            job.settings.optimizer.nesterov =
                optimizer == Optimizer::momentum && schedule == Schedule::cosine;
            checkAgainstScalar(job);
        }
}

TEST_CASE("members are the same networks trained alone, for every loss and kind of target") {
    const Dataset two = spiral(), rings = loadDataset("rings", {.samples = 100}),
                  five = loadDataset("blobs", {.samples = 100}), values = valueData();
    struct Case {
        const Dataset* data;
        Loss loss;
        Activation outputActivation;
        std::size_t outputs;
    };
    for (const Case& each : {Case{&rings, Loss::crossEntropy, Activation::identity, 3},
                             {&five, Loss::crossEntropy, Activation::identity, 5},
                             {&two, Loss::crossEntropy, Activation::identity, 2},
                             {&two, Loss::binaryCrossEntropy, Activation::identity, 1},
                             {&five, Loss::binaryCrossEntropy, Activation::identity, 5},
                             {&two, Loss::meanSquared, Activation::tanh, 1},
                             {&two, Loss::huber, Activation::sigmoid, 1},
                             {&five, Loss::meanSquared, Activation::silu, 5},
                             {&values, Loss::meanSquared, Activation::identity, 2},
                             {&values, Loss::huber, Activation::gelu, 2}}) {
        CAPTURE(each.data->name);
        CAPTURE(name(each.loss));
        PopulationJob job = jobOn({each.data});
        job.shape.widths.back() = each.outputs;
        job.shape.loss = each.loss;
        job.shape.outputActivation = each.outputActivation;
        checkAgainstScalar(job);
    }
}

TEST_CASE("members are the same networks trained alone, for awkward shapes and batches") {
    const Dataset data = spiral(), wide = classData(8, 5);
    for (const std::vector<std::size_t>& hidden :
         {std::vector<std::size_t>{}, {1}, {7}, {4, 4, 3, 2}, {16, 9}, {21, 21}})
        for (const Dataset* each : {&data, &wide}) {
            PopulationJob job = jobOn({each});
            job.shape.widths = {each->inputs};
            job.shape.widths.insert(job.shape.widths.end(), hidden.begin(), hidden.end());
            job.shape.widths.push_back(outputsFor(*each, job.shape.loss));
            CAPTURE(job.shape.describeWidths());
            job.members.resize(5);
            checkAgainstScalar(job);
        }
    for (const std::size_t batch : {1, 3, 16, 65, 96, 1000})
        for (const bool shuffle : {false, true}) {
            CAPTURE(batch);
            PopulationJob job = jobOn({&data});
            job.settings.batch = batch;
            job.settings.shuffle = shuffle;
            job.members.resize(6);
            checkAgainstScalar(job);
        }
}

TEST_CASE("any number of members, of equal and different seeds, data sets and activations") {
    const Dataset data = spiral(), other = spiral(120, 2);
    for (const std::size_t count : {1, 15, 16, 17, 1023, 1025}) {
        CAPTURE(count);
        PopulationJob job = jobOn({&data, &other});
        job.members = differentMembers(count, 2);
        for (std::size_t k = 0; k < count; ++k) job.members[k].activation = activations[k * k % 5];
        checkAgainstScalar(job, {0, 1, 7, 14, 15, 16, 500, 1021, 1022, 1024});
    }
    PopulationJob job = jobOn({&data, &other});
    for (PopulationMember& member : job.members) member.seed = 9;
    checkAgainstScalar(job);
    job.members.back().data = 1;
    checkAgainstScalar(job);
}

TEST_CASE("what a population knows at its end is what evaluations of its networks say") {
    const Dataset data = spiral();
    for (const bool vectors : {false, true}) {
        CAPTURE(vectors);
        PopulationJob job = jobOn({&data});
        job.members.resize(5);
        const auto population = makeCpuPopulation(job, 2, vectors);
        population->trainTo(job.steps);
        const std::vector<MemberResult> results = population->results();
        for (std::size_t member = 0; member < results.size(); ++member) {
            const auto trainer = makeCpuTrainer(job.alone(member), "scalar", 1);
            TrainerState state = trainer->state();
            state.parameters = population->parameters(member);
            trainer->restore(state);
            const Evaluation evaluation = trainer->evaluate(Split::test);
            CHECK(results[member].steps == job.steps);
            CHECK(static_cast<double>(results[member].loss) == doctest::Approx(evaluation.loss));
            CHECK(static_cast<double>(results[member].accuracy) == doctest::Approx(evaluation.accuracy));
            double squares = 0;
            const ParamLayout layout(job.shape);
            for (std::size_t l = 0; l < layout.layers(); ++l)
                for (std::size_t k = 0; k < layout.layer(l).weightCount(); ++k)
                    squares +=
                        std::pow(static_cast<double>(state.parameters[layout.layer(l).weightOffset + k]), 2);
            CHECK(static_cast<double>(results[member].weightNorm) == doctest::Approx(std::sqrt(squares)));
        }
    }
}

TEST_CASE("neither threads nor interruptions change a bit") {
    const Dataset data = spiral();
    PopulationJob job = jobOn({&data});
    job.members = differentMembers(40);
    job.steps = sanitized ? 200 : 2000;
    const auto alone = makeCpuPopulation(job, 1);
    alone->trainTo(job.steps);
    for (const std::size_t threads : {2, 3}) {
        const auto together = makeCpuPopulation(job, threads);
        CHECK(together->machine().threads == threads);
        together->trainTo(7);
        std::size_t calls = 0;
        while (together->advance(0.3)) ++calls;
        CHECK(calls > 0);
        checkSame(*together, *alone);
        CHECK_FALSE(together->advance(1));
        CHECK(together->trainingSeconds() > 0);
    }
}

TEST_CASE("advance trains some to their end before it takes the next") {
    const Dataset data = spiral();
    PopulationJob job = jobOn({&data});
    job.members = differentMembers(200);
    job.steps = sanitized ? 1000 : 20000;
    const auto population = makeCpuPopulation(job, 2);
    const auto start = std::chrono::steady_clock::now();
    CHECK(population->advance(20));
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
    std::size_t underWay = 0;
    for (const MemberResult& result : population->results())
        underWay += result.steps > 0 && result.steps < job.steps;
    CHECK(underWay <= 2 * mostPopulationLanes);
    const PopulationSummary summary = population->summary();
    CHECK(summary.begun >= summary.finished);
    CHECK(summary.begun < job.members.size());
    population->trainTo(3);
    for (const MemberResult& result : population->results()) CHECK(result.steps >= 3);
}

TEST_CASE("reset goes back to the first weights") {
    const Dataset data = spiral();
    for (const bool vectors : {false, true}) {
        PopulationJob job = jobOn({&data});
        job.settings.optimizer.kind = Optimizer::adam;
        const auto once = makeCpuPopulation(job, 1, vectors);
        const auto twice = makeCpuPopulation(job, 1, vectors);
        CHECK(once->parameters(3) == job.initialParameters(3));
        CHECK(std::isnan(once->results()[0].batchLoss));
        twice->trainTo(30);
        twice->reset();
        checkSame(*once, *twice);
        once->trainTo(20);
        twice->trainTo(20);
        checkSame(*once, *twice);
        CHECK_THROWS_AS(once->parameters(17), std::out_of_range);
    }
}

TEST_CASE("a network that diverges stays as it was before the step, and its neighbours go on") {
    const Dataset data = spiral();
    PopulationJob healthy = jobOn({&data});
    healthy.members.resize(9);
    healthy.steps = 300;
    for (PopulationMember& member : healthy.members) member.activation = Activation::relu;
    PopulationJob job = healthy;
    job.members[4].learningRate = 1e6;
    job.members[7].learningRate = 3e4;
    for (const bool vectors : {false, true}) {
        CAPTURE(vectors);
        const auto expected = makeCpuPopulation(healthy, 1, vectors);
        const auto population = makeCpuPopulation(job, 2, vectors);
        expected->trainTo(healthy.steps);
        while (population->advance(1)) {
        }
        const std::vector<MemberResult> results = population->results();
        for (const std::size_t member : {4, 7}) {
            const auto trainer = makeCpuTrainer(job.alone(member), "scalar", 1);
            TrainerState state = trainer->state();
            state.parameters = job.initialParameters(member);
            trainer->restore(state);
            trainer->run(healthy.steps);
            CHECK(results[member].diverged);
            try {
                trainer->completedSteps();
                FAIL("cpu:scalar does not diverge");
            } catch (const NonFiniteError& error) {
                CHECK(results[member].steps == error.step);
            }
            for (const float parameter : population->parameters(member)) CHECK_FALSE(std::isnan(parameter));
        }
        for (std::size_t member = 0; member < job.members.size(); ++member) {
            if (member == 4 || member == 7) continue;
            CHECK(results[member].steps == healthy.steps);
            CHECK_FALSE(results[member].diverged);
            CHECK(population->parameters(member) == expected->parameters(member));
        }
        const PopulationSummary summary = population->summary();
        CHECK(summary.finished == 9);
        CHECK(summary.diverged == 2);
        CHECK(summary.ranking[7] == 4);
        CHECK(summary.ranking[8] == 7);
        CHECK(std::isinf(summary.percentiles.back()));
    }
}

TEST_CASE("a population whose networks have all diverged is finished") {
    const Dataset data = spiral();
    PopulationJob job = jobOn({&data});
    job.steps = 1'000'000;
    for (PopulationMember& member : job.members) {
        member.activation = Activation::relu;
        member.learningRate = 1e6;
    }
    const auto population = makeCpuPopulation(job, 1);
    while (population->advance(5)) {
    }
    CHECK(population->summary().diverged == job.members.size());
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
            const std::vector<float> points = decisionMapPoints(options);
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
    refused("alike in their sizes", [&](Job& job) { job.data.push_back(&longer); });
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
    refused("network 3 of the population: its data set", [](Job& job) { job.members[3].data = 1; });
    refused("network 3 of the population: the scale", [](Job& job) { job.members[3].initialScale = 0; });
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
    const auto plain = makePopulation(job, populationLaneFromText("cpu:scalar"), 2, nullptr);
    CHECK(plain->machine().threads == 1);
    CHECK(plain->machine().kernels.find("plain loops") != std::string::npos);
    CHECK(makePopulation(job, populationLaneFromText("cpu:simd"), 2, nullptr)->machine().threads == 1);
    CHECK(makePopulation(job, populationLaneFromText("cpu:best"), 2, nullptr)->machine().threads == 2);
}
