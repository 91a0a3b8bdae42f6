// The rungs for small networks, above all whole steps in one dispatch: the same losses as the processor's
// however the batch and the steps are cut, and a reason where a network does not fit.
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/run/make_trainer.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

std::vector<LossPoint> trainOnCpu(const TrainJob& job, std::uint64_t steps) {
    return train(*makeCpuTrainer(job, "scalar", 1), steps);
}

} // namespace

TEST_CASE("rungs for small networks agree likewise, to the last bit with the others") {
    const Dataset pixels = pixelData(20, 10, 300);
    const Dataset values = valueData();
    for (const Dataset* data : {&pixels, &values})
        for (const std::size_t batch : {1, 33})
            for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::rmsprop, Optimizer::adamw}) {
                CAPTURE(data->name);
                CAPTURE(batch);
                CAPTURE(name(optimizer));
                TrainJob job = jobFor(*data, {9, 5});
                job.shape.activation = data == &values ? Activation::gelu : Activation::tanh;
                job.shape.loss = data == &values ? Loss::huber : Loss::crossEntropy;
                job.settings.batch = batch;
                job.settings.optimizer.kind = optimizer;
                job.settings.optimizer.l1 = 0.001;
                const auto reference = trainOnCpu(job, 30);
                const auto other = makeGpuTrainer(job, "naive", testDevice());
                train(*other, 30);
                for (const std::string_view rung : {"one", "naive-strided", "whole-step"}) {
                    CAPTURE(rung);
                    const auto trainer = makeGpuTrainer(job, rung, testDevice());
                    CHECK(lossDistance(train(*trainer, 30), reference) < 1e-4);
                    CHECK(sameBits(trainer->state(), other->state()));
                }
            }
}

TEST_CASE("whole steps: a batch in several chunks, a network of one layer, many steps across epochs") {
    const Dataset data = classData(7, 3, 400);
    for (const std::size_t batch : {1, 200, 400})
        for (const std::vector<std::size_t>& hidden :
             {std::vector<std::size_t>{}, std::vector<std::size_t>{60, 40}}) {
            CAPTURE(batch);
            TrainJob job = jobFor(data, hidden);
            job.settings.batch = batch;
            job.shape.activation = Activation::silu;
            const auto trainer = makeGpuTrainer(job, "whole-step", testDevice());
            CHECK(lossDistance(train(*trainer, 150), trainOnCpu(job, 150)) < 1e-4);
            const auto again = makeGpuTrainer(job, "whole-step", testDevice());
            train(*again, 70); // other dispatches, the same steps
            train(*again, 80);
            CHECK(sameBits(trainer->state(), again->state()));
        }
}

TEST_CASE("a resumed run of best keeps its choice, whatever another trainer has chosen") {
    const Dataset data = classData(5, 3, 100);
    const TrainJob job = jobFor(data, {9, 5});
    const auto chosen = [](const Trainer& trainer) {
        return trainer.machine().kernels.starts_with("whole-step");
    };
    const auto choose = [](Trainer& trainer, std::optional<bool> whole) {
        TrainerState state = trainer.state();
        REQUIRE(state.wholeSteps.has_value());
        state.wholeSteps = whole;
        trainer.restore(state);
    };
    for (const bool whole : {false, true}) {
        CAPTURE(whole);
        const auto first = makeGpuTrainer(job, "best", testDevice());
        choose(*first, whole);
        CHECK(chosen(*first) == whole);
        train(*first, 20);
        const TrainerState saved = first->state();
        CHECK(saved.wholeSteps == whole);
        train(*first, 30);

        const auto second = makeGpuTrainer(job, "best", testDevice());
        choose(*second, !whole); // as if it had measured that the other way is faster
        CHECK(chosen(*second) == !whole);
        second->restore(saved);
        CHECK(chosen(*second) == whole);
        const std::uint64_t cold = testDevice().counters().coldDispatches;
        train(*second, 30);
        CHECK(testDevice().counters().coldDispatches == cold); // restore() has warmed it up
        CHECK(sameBits(first->state(), second->state()));

        choose(*second, std::nullopt); // a state from before the choice was recorded
        CHECK(chosen(*second) == whole);
    }
    CHECK(makeGpuTrainer(job, "naive", testDevice())->state().wholeSteps == std::nullopt);
}

TEST_CASE("whole steps say what does not fit into shared memory") {
    const Dataset data = pixelData(784, 10, 100);
    try {
        makeGpuTrainer(jobFor(data, {33}), "whole-step", testDevice());
        FAIL("26,245 parameters fit into no shared memory");
    } catch (const std::runtime_error& error) {
        CHECK(std::string(error.what()).find("shared memory holds") != std::string::npos);
        CHECK(std::string(error.what()).find("26245") != std::string::npos);
    }
    const Dataset deep = classData();
    CHECK_THROWS_AS(makeGpuTrainer(jobFor(deep, std::vector<std::size_t>(8, 4)), "whole-step", testDevice()),
                    std::runtime_error);
}

TEST_CASE("whole steps stop at the first loss that is not finite, with the parameters as it found them") {
    const Dataset data = classData();
    TrainJob job = jobFor(data, {9});
    job.settings.optimizer.kind = Optimizer::sgd;
    job.settings.optimizer.learningRate = 1e6;
    const auto whole = makeGpuTrainer(job, "whole-step", testDevice());
    const auto apart = makeGpuTrainer(job, "naive", testDevice());
    std::uint64_t failed[2] = {0, 1};
    std::size_t at = 0;
    for (Trainer* trainer : {whole.get(), apart.get()}) try {
            train(*trainer, 50);
            FAIL("such a rate ends in infinity");
        } catch (const NonFiniteError& error) {
            failed[at++] = error.step;
        }
    CHECK(failed[0] == failed[1]);
}
