// What a host's own loop needs of a trainer: a budget of time, weights while the device works, and batches of
// its own.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "engine/net/param_layout.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;
using namespace std::chrono_literals;

namespace {

std::unique_ptr<Trainer> make(const TrainJob& job, bool gpu) {
    return gpu ? makeGpuTrainer(job, "blocked", testDevice()) : makeCpuTrainer(job, "simd", 1);
}

std::vector<float> weightsAfter(const TrainJob& job, bool gpu, std::uint64_t steps) {
    const auto trainer = make(job, gpu);
    trainer->run(steps);
    return trainer->state().parameters;
}

} // namespace

TEST_CASE("a budget of time gives steps that end within it, and the same result as steps") {
    const Dataset data = classData();
    const TrainJob job = jobFor(data, {9});
    for (const bool gpu : {false, true}) {
        CAPTURE(gpu);
        const auto trainer = make(job, gpu);
        std::uint64_t steps = 0;
        std::vector<double> times;
        for (int frame = 0; frame < 40; ++frame) {
            const auto start = std::chrono::steady_clock::now();
            steps += trainer->runFor(20ms);
            times.push_back(1e3 * secondsSince(start));
            CHECK(trainer->completedSteps() == steps); // nothing is in flight
        }
        std::ranges::sort(times);
        CHECK(times[times.size() / 2] < 22); // the machine may be busy with something else now and then
        CHECK(steps > 80);                   // not one a frame
        CHECK(trainer->runFor(0ms) == 1);
        CHECK(trainer->state().parameters == weightsAfter(job, gpu, steps + 1));
    }
}

TEST_CASE("a budget ends at a loss that is not finite") {
    const Dataset data = classData();
    TrainJob job = jobFor(data, {9});
    job.settings.optimizer.kind = Optimizer::sgd;
    job.settings.optimizer.learningRate = 1e6;
    for (const bool gpu : {false, true}) {
        CAPTURE(gpu);
        const auto trainer = make(job, gpu);
        trainer->runFor(10s);
        CHECK_THROWS_AS(trainer->completedSteps(), NonFiniteError);
        TrainedWeights weights;
        CHECK_THROWS_AS(trainer->takeWeights(weights), NonFiniteError);
    }
}

TEST_CASE("weights come while the device works, those of the step that they name") {
    const Dataset data = classData();
    const TrainJob job = jobFor(data, {9});
    for (const bool gpu : {false, true}) {
        CAPTURE(gpu);
        const auto trainer = make(job, gpu);
        TrainedWeights weights;
        REQUIRE(trainer->takeWeights(weights)); // nothing is in flight
        CHECK(weights.step == 0);
        std::vector<TrainedWeights> taken;
        std::size_t refused = 0;
        const auto end = std::chrono::steady_clock::now() + 60s;
        while (taken.size() < 4 && std::chrono::steady_clock::now() < end) {
            trainer->run(200);
            if (trainer->takeWeights(weights))
                taken.push_back(weights);
            else
                ++refused;
        }
        REQUIRE(taken.size() == 4);
        trainer->finish();
        const std::uint64_t done = trainer->completedSteps();
        if (!gpu) CHECK(refused == 0); // nothing is ever in flight
        std::uint64_t before = 0;
        for (const TrainedWeights& one : taken) {
            CAPTURE(one.step);
            CHECK(one.step > before);
            CHECK(one.step <= done);
            CHECK(one.parameters == weightsAfter(job, gpu, one.step));
            before = one.step;
        }
        TrainerState early = trainer->state();
        early.step = 0;
        early.parameters = initialWeights(job.shape, job.settings.seed);
        trainer->run(200);
        trainer->takeWeights(weights);
        trainer->run(200); // on a GPU it brings a copy along
        trainer->finish();
        trainer->restore(early);
        trainer->run(10);
        while (!trainer->takeWeights(weights)) trainer->run(1);
        CHECK(weights.step < done); // not that copy
        trainer->restore(early);
        REQUIRE(trainer->takeWeights(weights));
        CHECK(weights.step == 0);
        CHECK(weights.parameters == early.parameters);
    }
}

TEST_CASE("batches of the host's own train as a data set of them would") {
    for (const bool values : {false, true}) {
        const Dataset all = values ? valueData() : pixelData(6, 3, 96);
        CAPTURE(values);
        constexpr std::size_t batch = 32;
        TrainJob whole = jobFor(all, {9});
        if (values) whole.shape.loss = Loss::meanSquared;
        whole.settings.batch = batch;
        whole.settings.shuffle = false;
        for (const bool gpu : {false, true}) {
            CAPTURE(gpu);
            const std::vector<float> expected = weightsAfter(whole, gpu, 3);

            Dataset own = all;
            own.test = {};
            const auto put = [&](std::size_t first) {
                const auto rows = [first](const auto& from, auto& into, std::size_t width) {
                    into.assign(from.begin() + static_cast<std::ptrdiff_t>(first * width),
                                from.begin() + static_cast<std::ptrdiff_t>((first + batch) * width));
                };
                if (values) {
                    rows(all.train.values, own.train.values, own.inputs);
                    rows(all.train.targets, own.train.targets, own.targetWidth);
                } else {
                    rows(all.train.pixels, own.train.pixels, own.inputs);
                    rows(all.train.labels, own.train.labels, 1);
                }
            };
            own.train.count = batch;
            put(0);
            TrainJob job = whole;
            job.data = &own;
            const auto trainer = make(job, gpu);
            for (std::size_t step = 0; step < 3; ++step) {
                put(step * batch);
                trainer->reloadExamples(0, batch);
                trainer->run(1);
            }
            CHECK(trainer->state().parameters == expected);
            CHECK_THROWS_AS(trainer->reloadExamples(1, batch), std::invalid_argument);
            if (values) continue;
            own.train.labels[3] = 3;
            CHECK_THROWS_AS(trainer->reloadExamples(0, batch), std::invalid_argument);
        }
    }
}

TEST_CASE("some examples of the host's own are replaced among others") {
    Dataset data = classData();
    const TrainJob job = jobFor(data, {9});
    for (const bool gpu : {false, true}) {
        CAPTURE(gpu);
        const auto trainer = make(job, gpu);
        trainer->run(2);
        data.train.values[7 * 41] += 1;
        data.train.labels[41] = (data.train.labels[41] + 1) % 3;
        const TrainerState state = trainer->state();
        trainer->reloadExamples(41, 1);
        trainer->run(4); // an epoch: that example, too
        const auto other = make(job, gpu);
        other->restore(state);
        other->run(4);
        CHECK(sameBits(trainer->state(), other->state()));
    }
}
