// Lanes: finish lines, requests that never wait, failures that stay inside; and the parts they are made of.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "engine/data/data_source.h"
#include "engine/gpu/error.h"
#include "engine/run/lane.h"
#include "engine/step/lane_spec.h"
#include "tests/trainers_by_name.h"

using namespace lockstep;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::seconds patience{60};

/// 80 training examples of a circle in batches of 10: 8 steps per epoch.
struct Circle {
    Dataset data;
    TrainJob job;

    Circle() {
        DataOptions options;
        options.samples = 100;
        data = loadDataset("circle", options);
        job.data = &data;
        job.shape.widths = {2, 8, 2};
        job.settings.batch = 10;
        job.settings.optimizer.learningRate = 0.01;
    }

    Lane::MakeTrainer maker() const {
        return [job = job] { return makeCpuTrainer(job, "simd", 1); };
    }
};

FinishLine afterSteps(std::uint64_t steps) {
    FinishLine finish;
    finish.steps = steps;
    return finish;
}

LaneOptions withFinish(FinishLine finish) {
    LaneOptions options;
    options.finish = finish;
    return options;
}

/// Waits until `condition` holds; false when it does not within the patience.
template <class Condition> bool eventually(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

bool becomes(const Lane& lane, LaneStatus status) {
    return eventually([&] { return lane.snapshot().status == status; });
}

} // namespace

TEST_CASE("a lane stops exactly at its last step, evaluated there") {
    const Circle circle;
    Lane lane("cpu:simd", circle.job, circle.maker(), withFinish(afterSteps(100)));
    CHECK(lane.snapshot().status == LaneStatus::waiting);
    lane.start();
    REQUIRE(lane.waitFor(patience));
    const LaneSnapshot end = lane.snapshot();
    CHECK(end.status == LaneStatus::finished);
    CHECK(end.step == 100);
    CHECK(end.evaluatedStep == 100);
    CHECK(end.examples == 1000);
    CHECK(end.progress == 1.0);
    CHECK(end.trainingSeconds > 0);
    CHECK(std::isfinite(end.loss));
    REQUIRE(lane.evaluation());
    CHECK(lane.evaluation()->count == 20);
    CHECK(lane.telemetry().losses().size() == 100);
    CHECK(lane.machine().threads == 1);
    REQUIRE(lane.trainer() != nullptr);
    CHECK(lane.trainer()->state().step == 100);
}

TEST_CASE("epochs are evaluated as often as asked") {
    const Circle circle;
    FinishLine finish;
    finish.epochs = 6;
    LaneOptions options = withFinish(finish);
    options.evaluateEvery = 2;
    Lane lane("cpu:simd", circle.job, circle.maker(), options);
    lane.start();
    REQUIRE(lane.waitFor(patience));
    const auto epochs = lane.telemetry().epochs();
    REQUIRE(epochs.size() == 6);
    for (const EpochPoint& epoch : epochs) {
        CAPTURE(epoch.epoch);
        CHECK(std::isfinite(epoch.trainLoss));
        CHECK(std::isfinite(epoch.testLoss) == (epoch.epoch % 2 == 0));
    }
}

TEST_CASE("a lane of seconds, of accuracy and of loss") {
    const Circle circle;
    FinishLine finish;
    SUBCASE("seconds of training") {
        finish.seconds = 0.05;
        Lane lane("cpu:simd", circle.job, circle.maker(), withFinish(finish));
        lane.start();
        REQUIRE(lane.waitFor(patience));
        CHECK(lane.snapshot().trainingSeconds >= 0.05);
    }
    SUBCASE("accuracy, found between epochs' ends") {
        finish.accuracy = 0.9;
        finish.steps = 100000;
        Lane lane("cpu:simd", circle.job, circle.maker(), withFinish(finish));
        lane.start();
        REQUIRE(lane.waitFor(patience));
        CHECK(lane.snapshot().testAccuracy >= 0.9);
        CHECK(lane.snapshot().step < 100000);
    }
    SUBCASE("loss") {
        finish.loss = 0.3;
        finish.steps = 100000;
        Lane lane("cpu:simd", circle.job, circle.maker(), withFinish(finish));
        lane.start();
        REQUIRE(lane.waitFor(patience));
        CHECK(lane.snapshot().testLoss <= 0.3);
        CHECK(lane.snapshot().step < 100000);
    }
}

TEST_CASE("pause holds, step moves by as many steps, resume goes on, stop ends") {
    const Circle circle;
    LaneOptions options = withFinish(afterSteps(1'000'000'000));
    options.startPaused = true;
    options.evaluateEvery = 0;
    Lane lane("cpu:simd", circle.job, circle.maker(), options);
    lane.start();
    REQUIRE(becomes(lane, LaneStatus::ready));
    CHECK(lane.snapshot().step == 0);

    lane.step(13); // crosses an epoch's end
    REQUIRE(becomes(lane, LaneStatus::paused));
    CHECK(lane.snapshot().step == 13);
    std::this_thread::sleep_for(20ms);
    CHECK(lane.snapshot().step == 13);

    lane.resume();
    REQUIRE(eventually([&] { return lane.snapshot().step > 1000; }));
    lane.pause();
    REQUIRE(becomes(lane, LaneStatus::paused));
    const std::uint64_t held = lane.snapshot().step;
    std::this_thread::sleep_for(20ms);
    CHECK(lane.snapshot().step == held);

    lane.stop();
    REQUIRE(lane.waitFor(patience));
    CHECK(lane.snapshot().status == LaneStatus::stopped);
    CHECK(lane.snapshot().step == held);
}

TEST_CASE("a running lane follows a request soon, and requests return at once") {
    const Circle circle;
    LaneOptions options = withFinish(afterSteps(1'000'000'000));
    options.evaluateEvery = 0;
    Lane lane("cpu:simd", circle.job, circle.maker(), options);
    lane.start();
    REQUIRE(eventually([&] { return lane.snapshot().trainingSeconds > 0.3; })); // the pace has grown
    const auto asked = std::chrono::steady_clock::now();
    lane.pause();
    const auto returned = std::chrono::steady_clock::now();
    REQUIRE(becomes(lane, LaneStatus::paused));
    const auto followed = std::chrono::steady_clock::now();
    CHECK(returned - asked < 50ms);
    CHECK(followed - asked < 500ms); // 50 ms on an idle machine
}

TEST_CASE("a lane can be destroyed while it runs, and stopped before it started") {
    const Circle circle;
    {
        Lane lane("cpu:simd", circle.job, circle.maker(), withFinish(afterSteps(1'000'000'000)));
        lane.start();
        CHECK(eventually([&] { return lane.snapshot().step > 0; }));
    }
    Lane lane("cpu:simd", circle.job, circle.maker(), withFinish(afterSteps(10)));
    lane.stop();
    CHECK(lane.waitFor(0ms));
    CHECK(lane.snapshot().status == LaneStatus::stopped);
    CHECK(lane.trainer() == nullptr);
}

TEST_CASE("pausing changes nothing about the result") {
    const Circle circle;
    Lane through("cpu:simd", circle.job, circle.maker(), withFinish(afterSteps(200)));
    through.start();
    LaneOptions options = withFinish(afterSteps(200));
    options.startPaused = true;
    Lane halting("cpu:simd", circle.job, circle.maker(), options);
    halting.start();
    for (std::uint64_t done = 7; done < 200; done += 31) {
        halting.step(done == 7 ? 7 : 31);
        REQUIRE(eventually([&] { return halting.snapshot().step == done; }));
    }
    halting.resume();
    REQUIRE(through.waitFor(patience));
    REQUIRE(halting.waitFor(patience));
    CHECK(through.trainer()->state().parameters == halting.trainer()->state().parameters);
}

TEST_CASE("a resumed lane continues as if never stopped, and keeps its step count") {
    const Circle circle;
    Lane whole("cpu:simd", circle.job, circle.maker(), withFinish(afterSteps(90)));
    Lane first("cpu:simd", circle.job, circle.maker(), withFinish(afterSteps(50)));
    whole.start();
    first.start();
    REQUIRE(whole.waitFor(patience));
    REQUIRE(first.waitFor(patience));
    LaneOptions options = withFinish(afterSteps(90));
    options.start = first.trainer()->state();
    Lane second("cpu:simd", circle.job, circle.maker(), options);
    second.start();
    REQUIRE(second.waitFor(patience));
    CHECK(second.snapshot().step == 90);
    CHECK(second.snapshot().runSteps == 40);
    CHECK(second.telemetry().losses().front().step == 50);
    CHECK(second.trainer()->state().parameters == whole.trainer()->state().parameters);
    CHECK(second.trainer()->state().optimizerState == whole.trainer()->state().optimizerState);
}

TEST_CASE("a callback saves at the epochs asked for; its failure is the lane's") {
    const Circle circle;
    LaneOptions options = withFinish(afterSteps(40));
    std::vector<std::uint64_t> saved;
    options.saveEvery = 2;
    SUBCASE("saved") {
        options.save = [&saved](Trainer& trainer) { saved.push_back(trainer.state().step); };
        Lane lane("cpu:simd", circle.job, circle.maker(), options);
        lane.start();
        REQUIRE(lane.waitFor(patience));
        CHECK(saved == std::vector<std::uint64_t>{16, 32});
    }
    SUBCASE("failed") {
        options.save = [](Trainer&) { throw std::runtime_error("disk full"); };
        Lane lane("cpu:simd", circle.job, circle.maker(), options);
        lane.start();
        REQUIRE(lane.waitFor(patience));
        CHECK(lane.snapshot().status == LaneStatus::failed);
        CHECK(lane.snapshot().message == "disk full");
        CHECK(lane.snapshot().step == 16);
    }
}

TEST_CASE("a loss that is not finite fails the lane, with the losses before it and the reason") {
    Circle circle;
    circle.job.settings.optimizer.kind = Optimizer::sgd;
    circle.job.settings.optimizer.learningRate = 1e6;
    circle.job.shape.loss = Loss::meanSquared;
    circle.job.shape.widths = {2, 8, 1};
    Lane lane("cpu:simd", circle.job, circle.maker(), withFinish(afterSteps(10000)));
    lane.start();
    REQUIRE(lane.waitFor(patience));
    const LaneSnapshot end = lane.snapshot();
    CHECK(end.status == LaneStatus::failed);
    CHECK(end.message.find("layer") != std::string::npos);
    CHECK(end.step < 10000);
    const Telemetry telemetry = lane.telemetry();
    CHECK(telemetry.steps() == end.step);
    for (const LossPoint& point : telemetry.losses()) CHECK(std::isfinite(point.loss));
}

TEST_CASE("a trainer that cannot be made fails the lane") {
    const Circle circle;
    const auto run = [&circle](const Lane::MakeTrainer& make) {
        Lane lane("gpu:best", circle.job, make, withFinish(afterSteps(10)));
        lane.start();
        REQUIRE(lane.waitFor(patience));
        CHECK(lane.snapshot().status == LaneStatus::failed);
        return lane.snapshot().message;
    };
    CHECK(run([]() -> std::unique_ptr<Trainer> { throw std::runtime_error("no card"); }) == "no card");
    CHECK(run([]() -> std::unique_ptr<Trainer> { throw std::bad_alloc(); }).starts_with("out of memory"));
}

TEST_CASE("an exception of any type fails the lane, from its trainer, its callback and what is posted") {
    const Circle circle;
    const auto message = [](Lane& lane) {
        REQUIRE(lane.waitFor(patience));
        CHECK(lane.snapshot().status == LaneStatus::failed);
        return lane.snapshot().message;
    };
    const std::string unknown = "what makes the trainer, a callback or a posted action threw something that "
                                "is no std::exception; catch it "
                                "there to see what";
    LaneOptions options;
    SUBCASE("what makes the trainer") {
        Lane lane(
            "x", circle.job, [](const std::atomic<bool>*) -> std::unique_ptr<Trainer> { throw 1; }, options);
        lane.start();
        CHECK(message(lane) == unknown);
    }
    SUBCASE("what is posted") {
        Lane lane("x", circle.job, circle.maker(), options);
        lane.post([](Trainer&) { throw std::string("the host's own"); });
        lane.start();
        CHECK(message(lane) == unknown);
        CHECK(lane.pending() == 0);
    }
    SUBCASE("the callback") {
        options.saveEvery = 1;
        options.save = [](Trainer&) { throw 1.5; };
        Lane lane("x", circle.job, circle.maker(), options);
        lane.start();
        CHECK(message(lane) == unknown);
        CHECK(lane.snapshot().step == 8);
    }
}

TEST_CASE("without a finish line a lane trains until it is stopped") {
    const Circle circle;
    Lane lane("x", circle.job, circle.maker(), {});
    lane.start();
    REQUIRE(eventually([&] { return lane.snapshot().step > 1000; }));
    CHECK(lane.snapshot().status == LaneStatus::running);
    CHECK(lane.snapshot().progress == 0);
    CHECK(std::isfinite(lane.snapshot().testLoss)); // evaluated every epoch
    lane.stop();
    REQUIRE(lane.waitFor(patience));
    CHECK(lane.snapshot().status == LaneStatus::stopped);
}

TEST_CASE("invalid finish lines are rejected") {
    const Circle circle;
    const auto refused = [&circle](const FinishLine& finish, const Dataset& data) {
        TrainJob job = circle.job;
        job.data = &data;
        CHECK_THROWS_AS(Lane("x", job, circle.maker(), withFinish(finish)), std::invalid_argument);
    };
    FinishLine finish;
    finish.accuracy = 1.5;
    refused(finish, circle.data);
    finish.accuracy = -0.5;
    refused(finish, circle.data);
    finish.accuracy = 0.5;
    Dataset untested = circle.data;
    untested.test = Examples();
    refused(finish, untested);
    finish = FinishLine();
    finish.seconds = std::numeric_limits<double>::quiet_NaN();
    refused(finish, circle.data);
}

TEST_CASE("finish lines in words, in steps and as progress") {
    const BatchOrder order(80, 10, 1, true);
    FinishLine finish;
    finish.epochs = 1;
    CHECK(finish.text() == "1 epoch");
    CHECK(finish.lastStep(order) == 8);
    finish.steps = 5;
    CHECK(finish.lastStep(order) == 5);
    finish.accuracy = 0.85;
    CHECK(finish.text() == "85 % test accuracy or 1 epoch or 5 steps");
    CHECK(finish.progress(order, 1, 0) == doctest::Approx(0.2));
    finish.seconds = 2;
    CHECK(finish.progress(order, 1, 1.5) == doctest::Approx(0.75));
    finish = FinishLine();
    finish.epochs = std::numeric_limits<std::uint64_t>::max(); // more steps than can be counted
    CHECK(finish.lastStep(order) == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("lanes are named MACHINE:RUNG@DEVICE") {
    for (std::string_view lane : knownLanes()) CHECK(laneSpecFromText(lane).text() == lane);
    CHECK(laneSpecFromText("gpu") == laneSpecFromText("gpu:best"));
    CHECK(laneSpecFromText("cpu") == laneSpecFromText("cpu:best"));
    const LaneSpec spec = laneSpecFromText("gpu:tiled@GeForce RTX 4070");
    CHECK(spec.gpu);
    CHECK(spec.rung == Rung::tiled);
    CHECK(spec.device == "GeForce RTX 4070");
    CHECK(spec.text() == "gpu:tiled@GeForce RTX 4070");
    CHECK(handicap(laneSpecFromText("cpu:scalar")) == "one thread, no SIMD");
    CHECK(handicap(laneSpecFromText("cpu:threads")) == "no SIMD");
    CHECK(handicap(laneSpecFromText("gpu:naive")).empty());
    CHECK(handicap(laneSpecFromText("cpu:bf16")) == "half precision");
}

TEST_CASE("wrong lanes name the nearest right one") {
    const auto messageOf = [](std::string_view text) -> std::string {
        try {
            laneSpecFromText(text);
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
        return "accepted";
    };
    CHECK(messageOf("gpu:bets").find("did you mean 'gpu:best'") != std::string::npos);
    CHECK(messageOf("cpu:tiled").find("gpu:tiled") != std::string::npos);
    CHECK(messageOf("").find("known: cpu:scalar") != std::string::npos);
    CHECK(messageOf("gpu:best@").find("no device") != std::string::npos);
    CHECK(messageOf("cpu:best@0").find("CPU lane") != std::string::npos);
}

TEST_CASE("a lane that is stopped while its trainer is made gives it up") {
    const Circle circle;
    std::atomic<bool> begun = false;
    const auto make = [&begun](const std::atomic<bool>* cancelled) -> std::unique_ptr<Trainer> {
        for (begun = true;; std::this_thread::sleep_for(1ms)) gpu::throwIfSet(cancelled);
    };
    Lane lane("gpu:best", circle.job, make, withFinish(afterSteps(10)));
    lane.start();
    REQUIRE(eventually([&] { return begun.load(); }));
    CHECK(lane.snapshot().status == LaneStatus::preparing);
    lane.stop();
    REQUIRE(lane.waitFor(patience));
    CHECK(lane.snapshot().status == LaneStatus::stopped);
    CHECK(lane.snapshot().message.empty());
    CHECK(lane.trainer() == nullptr);
}
