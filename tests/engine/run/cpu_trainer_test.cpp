// The processor's trainer as a whole: its rungs agree with each other, repeat themselves bit by bit, go on
// from a stored state, evaluate and predict.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engine/cpu/cpu_info.h"
#include "engine/net/param_layout.h"
#include "tests/sanitized.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

TEST_CASE("all rungs agree for every activation, loss and optimizer") {
    const Dataset classes = classData();
    const Dataset values = valueData();
    std::size_t combination = 0;
    for (const Activation activation : allActivations)
        for (const Loss loss : {Loss::crossEntropy, Loss::meanSquared, Loss::huber, Loss::binaryCrossEntropy})
            for (const Optimizer optimizer : allOptimizers) {
                if (sanitized && ++combination % 3 != 0) continue;
                CAPTURE(name(activation));
                CAPTURE(name(loss));
                CAPTURE(name(optimizer));
                TrainJob job = jobFor(loss == Loss::huber ? values : classes, {33, 13});
                job.shape.activation = activation;
                job.shape.loss = loss;
                job.settings.optimizer.kind = optimizer;
                job.settings.optimizer.learningRate = optimizer == Optimizer::sgd ? 0.05 : 0.003;
                const auto reference = train(*makeCpuTrainer(job, "scalar", 1), 100);
                REQUIRE(reference.size() == 100);
                CHECK(reference.back().loss < reference.front().loss);
                CHECK(lossDistance(train(*makeCpuTrainer(job, "simd", 1), 100), reference) < 1e-4);
                CHECK(lossDistance(train(*makeCpuTrainer(job, "threads", 2), 100), reference) < 1e-4);
                CHECK(lossDistance(train(*makeCpuTrainer(job, "best", 2), 100), reference) < 1e-4);
            }
}

TEST_CASE("rungs and thread counts agree on a network worth splitting") {
    const Dataset data = pixelData(784, 10, 500);
    const std::uint64_t steps = sanitized ? 10 : 100;
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::adam}) {
        TrainJob job = largeJob(data);
        // Smooth: among a million sums a few lie within a rounding error of 0, and with ReLU such a unit is
        // on in one run and off in the other, which is no fault of either.
        job.shape.activation = Activation::tanh;
        job.settings.optimizer.kind = optimizer;
        const auto reference = train(*makeCpuTrainer(job, "scalar", 1), steps);
        for (const CpuRung& rung : cpuRungs) {
            CAPTURE(rung.name);
            CAPTURE(rung.threads);
            const auto trainer = makeCpuTrainer(job, rung.name, rung.threads);
            CHECK(trainer->machine().threads == rung.threads);
            CHECK(lossDistance(train(*trainer, steps), reference) < 1e-4);
        }
    }
}

TEST_CASE("layers with a million weights are cut by columns, and evaluate and predict alike") {
    const Dataset data = pixelData(784, 10, 60);
    TrainJob job = jobFor(data, {1370, 1030});
    job.shape.activation = Activation::tanh;
    job.settings.batch = 10;
    const std::uint64_t steps = sanitized ? 2 : 12;
    const auto one = makeCpuTrainer(job, "best", 1);
    const auto reference = train(*one, steps);
    for (const std::size_t threads : {2, 3})
        for (const char* rung : {"simd", "best"}) {
            if (sanitized && threads == 3) continue;
            CAPTURE(threads);
            CAPTURE(rung);
            const auto trainer = makeCpuTrainer(job, rung, threads);
            CHECK(lossDistance(train(*trainer, steps), reference) < 1e-4);
            CHECK(trainer->evaluate(Split::train).loss ==
                  doctest::Approx(one->evaluate(Split::train).loss).epsilon(1e-4));
            const auto outputs = trainer->predict(Split::train, 3, 41);
            const auto expected = one->predict(Split::train, 3, 41);
            for (std::size_t k = 0; k < expected.size(); ++k)
                REQUIRE(static_cast<double>(outputs[k]) ==
                        doctest::Approx(static_cast<double>(expected[k])).epsilon(1e-3));
        }
}

TEST_CASE("a trainer limited to fewer threads says how many it would have had") {
    const std::size_t cores = usablePhysicalCores().physical;
    const Dataset data = pixelData(784, 10, 300);
    TrainJob job = jobFor(data, {1024, 1024});
    job.settings.batch = 200;
    const std::size_t useful = usefulThreads(job.shape, 200, cores);
    for (const char* rung : {"best", "threads"}) {
        CAPTURE(rung);
        CHECK(makeCpuTrainer(job, rung, 0)->machine().ofThreads == 0);
        CHECK(makeCpuTrainer(job, rung, cores + 1)->machine().ofThreads == 0);
        const MachineInfo one = makeCpuTrainer(job, rung, 1)->machine();
        CHECK(one.threads == 1);
        CHECK(one.ofThreads == (useful > 1 ? useful : 0));
        CHECK(one.throttled() == (useful > 1));
    }
    CHECK(makeCpuTrainer(job, "simd", 1)->machine().ofThreads == 0); // one thread is all it takes
}

TEST_CASE("regularised SGD agrees too, folded or not") {
    const Dataset data = classData();
    for (const double l1 : {0.0, 0.001}) {
        TrainJob job = jobFor(data, {33});
        job.settings.optimizer.kind = Optimizer::sgd;
        job.settings.optimizer.weightDecay = 0.01;
        job.settings.optimizer.l1 = l1;
        const auto reference = train(*makeCpuTrainer(job, "scalar", 1), 100);
        CHECK(lossDistance(train(*makeCpuTrainer(job, "simd", 1), 100), reference) < 1e-4);
        CHECK(lossDistance(train(*makeCpuTrainer(job, "best", 1), 100), reference) < 1e-4);
    }
}

TEST_CASE("the same rung twice is bit-identical, and resumes as if it had never stopped") {
    const Dataset data = pixelData(784, 10, 500);
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adamw})
        for (const CpuRung& rung : cpuRungs) {
            CAPTURE(name(optimizer));
            CAPTURE(rung.name);
            CAPTURE(rung.threads);
            TrainJob job = largeJob(data);
            job.settings.optimizer.kind = optimizer;
            const auto first = makeCpuTrainer(job, rung.name, rung.threads);
            const auto losses = train(*first, 15);
            const auto second = makeCpuTrainer(job, rung.name, rung.threads);
            train(*second, 6);
            const TrainerState middle = second->state();
            CHECK(middle.step == 6);
            const auto third = makeCpuTrainer(job, rung.name, rung.threads);
            train(*third, 2); // somewhere else, to be overwritten
            third->restore(middle);
            const auto rest = train(*third, 9);
            CHECK(sameBits(third->state(), first->state()));
            REQUIRE(rest.size() == 9);
            for (std::size_t i = 0; i < rest.size(); ++i) {
                CHECK(rest[i].step == i + 6);
                CHECK(rest[i].loss == losses[i + 6].loss);
            }
        }
}

// Threads that share rows meet before tensors change places.
TEST_CASE("with layers computed again in shared memory, a run is bit-identical") {
    const Dataset data = pixelData(784, 10, 500);
    for (const CpuRung& rung : cpuRungs) {
        CAPTURE(rung.name);
        CAPTURE(rung.threads);
        TrainJob job = jobFor(data, {133, 65, 190, 40, 77});
        job.settings.batch = 64;
        job.shape.activation = Activation::gelu; // keeps Z, too
        const auto plain = makeCpuTrainer(job, rung.name, rung.threads);
        const auto losses = train(*plain, 10);
        for (const std::size_t every : {2, 3}) {
            job.settings.memory = {.recompute = every};
            const auto saving = makeCpuTrainer(job, rung.name, rung.threads);
            saving->evaluate(Split::test);
            CHECK(lossDistance(train(*saving, 10), losses) == 0);
            CHECK(sameBits(saving->state(), plain->state()));
        }
        job.settings.memory = {};
    }
}

TEST_CASE("a new trainer starts at the seed's weights, with nothing done") {
    const Dataset data = classData();
    const TrainJob job = jobFor(data, {9});
    for (const CpuRung& rung : cpuRungs) {
        const auto trainer = makeCpuTrainer(job, rung.name, rung.threads);
        const TrainerState state = trainer->state();
        CHECK(state.step == 0);
        CHECK(state.parameters == initialWeights(job.shape, job.settings.seed));
        for (const auto& array : state.optimizerState)
            CHECK(std::ranges::all_of(array, [](float value) { return value == 0; }));
        CHECK(trainer->completedSteps() == 0);
        CHECK(trainer->operations().empty());
        CHECK(trainer->trainingSeconds() == 0);
        CHECK(trainer->warmUpSeconds() > 0);
    }
}

TEST_CASE("evaluation counts what the plain twin counts, over both splits and all threads") {
    const Dataset data = pixelData(784, 10, 1000); // more than a chunk of an evaluation
    const TrainJob job = largeJob(data);
    const auto reference = makeCpuTrainer(job, "scalar", 1);
    train(*reference, 20);
    for (const CpuRung& rung : cpuRungs) {
        CAPTURE(rung.name);
        const auto trainer = makeCpuTrainer(job, rung.name, rung.threads);
        trainer->restore(reference->state());
        for (const Split split : {Split::train, Split::test}) {
            const Evaluation expected = reference->evaluate(split);
            const Evaluation found = trainer->evaluate(split);
            CHECK(found.count == expected.count);
            CHECK(found.loss == doctest::Approx(expected.loss).epsilon(1e-5));
            CHECK(found.accuracy == doctest::Approx(expected.accuracy).epsilon(2.0 / 333));
            std::uint64_t all = 0;
            std::uint64_t right = 0;
            REQUIRE(found.confusion.size() == 100);
            for (std::size_t k = 0; k < 100; ++k) all += found.confusion[k];
            for (std::size_t k = 0; k < 10; ++k) right += found.confusion[k * 11];
            CHECK(all == found.count);
            CHECK(static_cast<double>(right) / static_cast<double>(all) == doctest::Approx(found.accuracy));
        }
        CHECK(trainer->trainingSeconds() == 0); // evaluating is not training
    }
}

TEST_CASE("predictions are the rows asked for, without padding") {
    const Dataset data = classData(7, 3, 1000);
    const TrainJob job = jobFor(data, {9});
    const auto reference = makeCpuTrainer(job, "scalar", 1);
    const std::vector<float> all = reference->predict(Split::train, 0, 1000);
    REQUIRE(all.size() == 3000);
    for (const CpuRung& rung : cpuRungs) {
        const auto some = makeCpuTrainer(job, rung.name, rung.threads)->predict(Split::train, 333, 600);
        REQUIRE(some.size() == 1800);
        for (std::size_t i = 0; i < some.size(); ++i)
            REQUIRE(some[i] == doctest::Approx(all[999 + i]).epsilon(1e-4));
    }
    CHECK_THROWS_AS(reference->predict(Split::train, 999, 2), std::invalid_argument);
    CHECK(reference->predict(Split::train, 1000, 0).empty());
}

TEST_CASE("accuracy and confusion are not known in regression") {
    const Dataset data = valueData();
    TrainJob job = jobFor(data, {9});
    job.shape.loss = Loss::meanSquared;
    for (const CpuRung& rung : cpuRungs) {
        const Evaluation evaluation = makeCpuTrainer(job, rung.name, rung.threads)->evaluate(Split::test);
        CHECK(std::isfinite(evaluation.loss));
        CHECK(std::isnan(evaluation.accuracy));
        CHECK(evaluation.confusion.empty());
    }
}

TEST_CASE("operations are timed under the shaders' names, and a folded update is absent") {
    const Dataset data = pixelData(784, 10, 500);
    TrainJob job = largeJob(data);
    const auto namesOf = [&](const char* rung, Optimizer optimizer) {
        job.settings.optimizer.kind = optimizer;
        const auto trainer = makeCpuTrainer(job, rung, 1);
        train(*trainer, 33); // steps 0, 16 and 32 are sampled
        std::string names;
        for (const OperationTiming& timing : trainer->operations()) {
            CHECK(timing.milliseconds > 0);
            CHECK(timing.bytes > 0);
            CHECK(timing.calls % 3 == 0);
            names += timing.name + " ";
            if (timing.name == "dense")
                CHECK(timing.flops == 2.0 * 3 * 64 * (784 * 133 + 133 * 65 + 65 * 10));
        }
        return names;
    };
    const std::string common =
        "gather_batch dense loss_and_gradient dense_backward_inputs dense_backward_weights ";
    CHECK(namesOf("scalar", Optimizer::sgd) == common + "update ");
    CHECK(namesOf("simd", Optimizer::adam) == common + "update ");
    CHECK(namesOf("best", Optimizer::adam) == common + "update ");
    CHECK(namesOf("best", Optimizer::sgd) == common);
}

TEST_CASE("small steps are done by few threads, large ones by all") {
    NetShape tiny;
    tiny.widths = {2, 8, 8, 2};
    CHECK(usefulThreads(tiny, 10, 16) == 1);
    NetShape fashion;
    fashion.widths = {784, 256, 128, 10};
    CHECK(usefulThreads(fashion, 128, 16) == 16);
    CHECK(usefulThreads(fashion, 1, 16) == 1);
    CHECK(usefulThreads(fashion, 1, 16, 2e3) == 16); // the slower a thread, the more it has to give away
}
