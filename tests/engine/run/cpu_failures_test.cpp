// What the processor's trainer does about losses that are no numbers, and jobs that make no sense.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engine/net/param_layout.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

TEST_CASE("a rate that is far too high stops every rung at the same step, with the weights it found") {
    const Dataset data = classData();
    for (const CpuRung& rung : cpuRungs) {
        CAPTURE(rung.name);
        TrainJob job = jobFor(data, {33});
        job.shape.loss = Loss::meanSquared;
        job.settings.optimizer.kind = Optimizer::sgd;
        job.settings.optimizer.learningRate = 1e3;
        const auto trainer = makeCpuTrainer(job, rung.name, rung.threads);
        trainer->run(1000);
        std::vector<LossPoint> losses;
        CHECK_THROWS_AS(trainer->takeLosses(losses), NonFiniteError);
        REQUIRE(!losses.empty());
        REQUIRE(losses.size() < 100);
        const TrainerState state = trainer->state();
        CHECK(state.step == losses.size());
        try {
            trainer->completedSteps();
            FAIL("the failed step was not reported");
        } catch (const NonFiniteError& error) {
            CHECK(error.step == losses.size());
            CHECK(std::string(error.what()).find("learning rate") != std::string::npos);
        }
        trainer->run(10); // frozen
        CHECK(sameBits(trainer->state(), state));
        trainer->restore({0, initialWeights(job.shape, job.settings.seed), {}, {}, {}});
        CHECK(train(*trainer, 1).front().loss == losses.front().loss);
    }
}

TEST_CASE("the place that is not finite is named") {
    Dataset data = classData();
    TrainJob job = jobFor(data, {33, 13});
    job.settings.shuffle = false;
    const ParamLayout layout(job.shape);
    const std::vector<float> good = initialWeights(job.shape, 5);
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();

    std::vector<float> weights = good;
    weights[layout.layer(1).weightOffset + 40] = nan;
    const auto found = [&](const std::vector<float>& parameters, const NonFinitePlace& place,
                           const std::string& words) {
        const NonFiniteError error = explainNonFinite(job, 0, parameters);
        CHECK(error.place == place);
        CHECK(std::string(error.what()).find("the loss is not finite; " + words) != std::string::npos);
    };
    const std::string first = "the first value that is not is ";
    found(weights, {TensorId{TensorKind::weights, 1}, 1, {}}, first + "layer 2 (33 -> 13): its weights; ");

    std::vector<float> bias = good;
    bias[layout.layer(2).biasOffset + 2] = std::numeric_limits<float>::infinity();
    found(bias, {TensorId{TensorKind::bias, 2}, 2, {}}, first + "layer 3 (13 -> 3): its biases; ");

    std::vector<float> large = good;
    for (std::size_t k = 0; k < layout.layer(0).weightCount(); ++k) large[k] *= 1e38f;
    found(large, {TensorId{TensorKind::activations, 1}, 0, {}}, first + "layer 1 (7 -> 33): its outputs; ");

    found(good, {}, "the learning rate"); // everything before the loss is finite

    data.train.values[17 * 7 + 3] = nan;
    const NonFiniteError error = explainNonFinite(job, 4, good); // the fifth step begins the second epoch
    CHECK(error.step == 4);
    CHECK(error.place == NonFinitePlace{TensorId{TensorKind::activations}, {}, 17});
    CHECK(std::string(error.what()).find("is the inputs of example 17; correct") != std::string::npos);
    for (const CpuRung& rung : cpuRungs) {
        const auto trainer = makeCpuTrainer(job, rung.name, rung.threads);
        trainer->run(1);
        CHECK_THROWS_WITH_AS(trainer->completedSteps(), doctest::Contains("example 17"), NonFiniteError);
        CHECK(trainer->state().parameters == initialWeights(job.shape, job.settings.seed));
    }
}

TEST_CASE("what does not fit together is refused with a reason") {
    const Dataset data = classData();
    TrainJob job = jobFor(data, {9});
    CHECK_THROWS_WITH_AS(makeCpuTrainer(job, "bset", 1), doctest::Contains("did you mean 'best'"),
                         std::invalid_argument);
    CHECK_THROWS_AS(makeCpuTrainer(TrainJob{}, "best", 1), std::invalid_argument);
    const auto trainer = makeCpuTrainer(job, "best", 1);
    TrainerState state = trainer->state();
    state.parameters.pop_back();
    CHECK_THROWS_AS(trainer->restore(state), std::invalid_argument);
    state = trainer->state();
    state.optimizerState.pop_back();
    CHECK_THROWS_AS(trainer->restore(state), std::invalid_argument);
    job.settings.batch = 0;
    CHECK_THROWS_WITH_AS(job.validate(), doctest::Contains("batch"), std::invalid_argument);
    job.settings.batch = 32;
    job.shape.widths.front() = 8;
    CHECK_THROWS_AS(job.validate(), std::invalid_argument);

    Dataset broken = classData();
    job = jobFor(broken, {9});
    broken.train.labels[3] = 7;
    CHECK_THROWS_WITH_AS(job.validate(), doctest::Contains("example 3"), std::invalid_argument);
    broken = classData();
    broken.test.values.pop_back();
    CHECK_THROWS_WITH_AS(job.validate(), doctest::Contains("test split"), std::invalid_argument);
}
