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
#include "engine/data/data_source.h"
#include "engine/grid/population_block.h"
#include "engine/net/param_layout.h"
#include "engine/plane/plane_colours.h"
#include "tests/cpu_tables.h"
#include "tests/population_alone.h"
#include "tests/population_jobs.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

std::vector<VectorLevel> levels() {
    std::vector<VectorLevel> result;
    for (const VectorLevel level : {VectorLevel::baseline, VectorLevel::avx2, VectorLevel::avx512})
        if (level <= vectorLevel()) result.push_back(level);
    return result;
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
            for (std::size_t lane = 0; lane < alone.size(); ++lane) {
                if (alone[lane].empty()) continue;
                const auto expected = static_cast<double>(alone[lane].at(step).loss);
                const double difference =
                    std::abs(static_cast<double>(block->state(lane).batchLoss) - expected);
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
        CHECK(largestDifference(job, vectorPopulationBlocks(job, level), compared) < 1e-4);
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
    for (const Activation activation : allActivations) {
        CAPTURE(name(activation));
        PopulationJob job = jobOn({&data});
        for (PopulationMember& member : job.members) member.activation = activation;
        checkAgainstScalar(job);
    }
}

TEST_CASE("members are the same networks trained alone, for every optimizer and schedule") {
    const Dataset data = spiral();
    for (const Optimizer optimizer : allOptimizers)
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
        for (std::size_t k = 0; k < count; ++k) job.members[k].activation = allActivations[k * k % 5];
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
    CHECK(underWay <= 2 * mostElements);
    const PopulationSummary summary = population->summary();
    CHECK(summary.begun >= summary.finished);
    CHECK(summary.begun < job.members.size());
    population->trainTo(3);
    for (const MemberResult& result : population->results()) CHECK(result.steps >= 3);
}

TEST_CASE("reset goes back to the initial weights") {
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
