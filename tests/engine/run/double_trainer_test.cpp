// Training in fp64: the plain loops in double behind the interface of every trainer.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "engine/net/float_formats.h"
#include "engine/net/param_layout.h"
#include "engine/net/plain_training.h"
#include "engine/run/race.h"
#include "engine/step/step_trace.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

TrainJob wideJob(const Dataset& data, Optimizer kind = Optimizer::adam) {
    TrainJob job = jobFor(data, {9, 6});
    job.shape.loss = data.classes > 0 ? Loss::crossEntropy : Loss::meanSquared;
    job.shape.widths.back() = outputsFor(data, job.shape.loss);
    job.shape.activation = Activation::tanh;
    job.settings.optimizer.kind = kind;
    job.settings.precision.format = OperandFormat::fp64;
    return job;
}

TrainJob inFloats(TrainJob job) {
    job.settings.precision = {};
    return job;
}

} // namespace

TEST_CASE("a step in fp64 is that of the plain loops in double, for every optimizer") {
    const Dataset data = classData();
    for (const Optimizer kind : allOptimizers) {
        CAPTURE(name(kind));
        const TrainJob job = wideJob(data, kind);
        const auto trainer = makeCpuTrainer(job, Rung::scalar, 1);
        CHECK(trainer->state().parameters == initialWeights(job.shape, job.settings.seed));
        const std::vector<LossPoint> losses = train(*trainer, 20);
        PlainNetwork<double> network(data, job.shape, initialWeights(job.shape, job.settings.seed));
        for (std::uint64_t step = 0; step < 20; ++step)
            CHECK(losses[step].loss == narrow(network.trainStep(job.settings, step)));
        const TrainerState state = trainer->state();
        CHECK(state.step == 20);
        REQUIRE(state.parameters.size() == network.parameters.size());
        for (std::size_t at = 0; at < state.parameters.size(); ++at)
            CHECK(state.parameters[at] == narrow(network.parameters[at]));
        CHECK(state.optimizerState.size() == job.settings.optimizer.stateArrays());
    }
}

TEST_CASE("what fp64 trains, evaluates and predicts is what fp32 does, up to rounding") {
    for (const Dataset& data : {classData(), pixelData(30, 4, 300), valueData()}) {
        CAPTURE(data.name);
        const TrainJob job = wideJob(data);
        const auto wide = makeCpuTrainer(job, Rung::scalar, 1);
        const auto floats = makeCpuTrainer(inFloats(job), Rung::scalar, 1);
        CHECK(wide->machine().kernels == "plain loops in fp64");
        const double distance = lossDistance(train(*wide, 60), train(*floats, 60));
        CHECK(distance < Agreement::floatTolerance);
        CHECK(distance > 0);
        for (const Split split : {Split::train, Split::test}) { // more rows than it takes at once, and fewer
            const Evaluation found = wide->evaluate(split);
            const Evaluation expected = floats->evaluate(split);
            CHECK(found.loss == doctest::Approx(expected.loss).epsilon(1e-4));
            CHECK(found.count == expected.count);
            CHECK(found.confusion.size() == expected.confusion.size());
            if (data.classes > 0) CHECK(std::abs(found.accuracy - expected.accuracy) < 0.02);
            const std::vector<float> outputs = wide->predict(split, 0, expected.count);
            const std::vector<float> others = floats->predict(split, 0, expected.count);
            REQUIRE(outputs.size() == others.size());
            for (std::size_t at = 0; at < outputs.size(); ++at)
                CHECK(outputs[at] == doctest::Approx(others[at]).epsilon(1e-3));
        }
        TrainedWeights weights;
        CHECK(wide->takeWeights(weights));
        CHECK(weights.parameters == wide->state().parameters);
    }
}

TEST_CASE("a rehearsal in fp64 leaves no trace, and settings change") {
    const Dataset data = classData();
    TrainJob job = wideJob(data, Optimizer::momentum);
    const auto rehearsed = makeCpuTrainer(job, Rung::scalar, 1);
    CHECK(rehearsed->rehearse(0.01, 0.05, [] { return true; }).steps > 0);
    const auto plain = makeCpuTrainer(job, Rung::scalar, 1);
    CHECK(lossDistance(train(*rehearsed, 10), train(*plain, 10)) == 0);
    CHECK(sameBits(rehearsed->state(), plain->state()));
    job.settings.optimizer.learningRate = 0.5;
    plain->setOptimizer(job.settings.optimizer);
    CHECK(lossDistance(train(*rehearsed, 10), train(*plain, 10)) > 0.01);
}

TEST_CASE("fp64 has room for updates that fp32 loses") {
    const Dataset data = classData();
    TrainJob job = wideJob(data, Optimizer::sgd);
    job.settings.optimizer.learningRate = 1e-10; // of a weight near 1/2, fp32 loses less than 3e-8
    const auto wide = makeCpuTrainer(job, Rung::scalar, 1);
    const double before = wide->evaluate(Split::train).loss;
    train(*wide, 200);
    CHECK(wide->evaluate(Split::train).loss < before);
}

TEST_CASE("a loss that is not finite ends training in fp64, too, and leaves the weights") {
    Dataset data = classData();
    data.train.values[3] = std::numeric_limits<float>::quiet_NaN();
    TrainJob job = wideJob(data);
    job.settings.shuffle = false;
    job.settings.batch = 4;
    const auto trainer = makeCpuTrainer(job, Rung::scalar, 1);
    trainer->run(5);
    CHECK_THROWS_AS(trainer->completedSteps(), NonFiniteError);
    CHECK(trainer->state().parameters == initialWeights(job.shape, job.settings.seed));
}

TEST_CASE("what cannot be done in fp64 is refused by name") {
    const Dataset data = classData();
    TrainJob job = wideJob(data);
    for (const Rung rung : {Rung::simd, Rung::threads, Rung::best})
        CHECK_THROWS_WITH_AS(makeCpuTrainer(job, rung, 1),
                             doctest::Contains("does not compute in fp64; --format fp64 is for cpu:scalar"),
                             std::invalid_argument);
    for (const std::string_view lane : knownLanes()) {
        const LaneSpec spec = laneSpecFromText(lane);
        if (spec.gpu) CHECK_THROWS_AS(requireFormat(job.settings.precision, spec), std::invalid_argument);
    }
    const auto trainer = makeCpuTrainer(job, Rung::scalar, 1);
    CHECK_THROWS_WITH_AS(trainer->traceStep({}), doctest::Contains("cannot be traced"),
                         std::invalid_argument);
    job.settings.memory.accumulate = 2;
    CHECK_THROWS_WITH_AS(makeCpuTrainer(job, Rung::scalar, 1), doctest::Contains("--accumulate"),
                         std::invalid_argument);
}
