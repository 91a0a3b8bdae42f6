// Actions posted to a lane: run on its thread between steps, where they may look at the trainer, change it or
// put it back to an earlier state; and optimizer settings that change in mid-run.
#include <doctest/doctest.h>

#include <cmath>
#include <thread>

#include "engine/data/data_source.h"
#include "engine/run/lane.h"
#include "engine/run/make_trainer.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::seconds patience{60};

/// 100 training examples in batches of 32: 4 steps per epoch.
struct Setting {
    Dataset data = classData();
    TrainJob job = jobFor(data, {9});

    Lane::MakeTrainer cpu() const {
        return [job = job] { return makeCpuTrainer(job, "simd", 1); };
    }
    Lane::MakeTrainer gpu() const {
        return [job = job] { return makeGpuTrainer(job, "blocked", testDevice()); };
    }
};

LaneOptions endless(bool paused) {
    LaneOptions options;
    options.startPaused = paused;
    return options;
}

template <class Condition> bool eventually(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

/// Makes `steps` steps and waits until they are done.
bool makeSteps(Lane& lane, std::uint64_t steps) {
    const std::uint64_t target = lane.snapshot().step + steps;
    lane.step(steps);
    return eventually([&] {
        const LaneSnapshot view = lane.snapshot();
        return view.step == target && view.status == LaneStatus::paused;
    });
}

} // namespace

TEST_CASE("actions run once, in order, on the lane's thread, with all steps done") {
    const Setting setting;
    for (const bool gpu : {false, true}) {
        CAPTURE(gpu);
        Lane lane("lane", setting.job, gpu ? setting.gpu() : setting.cpu(), endless(false));
        std::vector<int> order;
        std::thread::id thread;
        lane.post([&](Trainer& trainer) { // before the start: when the trainer is ready
            CHECK(trainer.completedSteps() == 0);
            thread = std::this_thread::get_id();
            order.push_back(0);
        });
        CHECK_FALSE(lane.waitForPosted(5ms));
        CHECK(lane.pending() == 1);
        lane.start();
        REQUIRE(eventually([&] { return lane.snapshot().trainingSeconds > 0.1; }));
        for (int number = 1; number < 20; ++number)
            lane.post([&, number](Trainer& trainer) {
                CHECK(std::this_thread::get_id() == thread);
                CHECK(trainer.state().step == trainer.completedSteps());
                order.push_back(number);
            });
        REQUIRE(lane.waitForPosted(patience));
        CHECK(lane.pending() == 0);
        REQUIRE(order.size() == 20);
        CHECK(std::ranges::is_sorted(order));
        CHECK(thread != std::this_thread::get_id());
        CHECK(lane.snapshot().status == LaneStatus::running);
    }
}

TEST_CASE("looking changes nothing about the result") {
    const Setting setting;
    LaneOptions options = endless(false);
    options.finish.steps = 3000;
    Lane watched("lane", setting.job, setting.cpu(), options);
    watched.start();
    while (!watched.snapshot().over()) {
        watched.post([](Trainer& trainer) { trainer.state(); });
        std::this_thread::sleep_for(1ms);
    }
    const auto alone = makeCpuTrainer(setting.job, "simd", 1);
    train(*alone, 3000);
    CHECK(sameBits(watched.trainer()->state(), alone->state()));
    CHECK(watched.telemetry().steps() == 3000);
    CHECK(watched.pending() == 0);
}

TEST_CASE("a running lane runs an action soon, a held one at once and stays held") {
    const Setting setting;
    Lane lane("lane", setting.job, setting.cpu(), endless(true));
    lane.start();
    REQUIRE(eventually([&] { return lane.snapshot().status == LaneStatus::ready; }));
    lane.post([](Trainer&) {});
    CHECK(lane.waitForPosted(500ms));
    CHECK(lane.snapshot().status == LaneStatus::ready);
    REQUIRE(makeSteps(lane, 3));
    lane.post([](Trainer&) {});
    CHECK(lane.waitForPosted(500ms));
    CHECK(lane.snapshot().status == LaneStatus::paused);
    CHECK(lane.snapshot().step == 3);
    lane.resume();
    REQUIRE(eventually([&] { return lane.snapshot().trainingSeconds > 0.3; })); // the pace has grown
    lane.post([](Trainer&) {});
    CHECK(lane.waitForPosted(500ms)); // 50 ms on an idle machine
}

TEST_CASE("where an action restores an earlier state the lane goes on from there, as if it had never left") {
    const Setting setting;
    for (const bool gpu : {false, true}) {
        CAPTURE(gpu);
        Lane lane("lane", setting.job, gpu ? setting.gpu() : setting.cpu(), endless(true));
        lane.start();
        TrainerState kept;
        REQUIRE(makeSteps(lane, 10));
        lane.post([&](Trainer& trainer) { kept = trainer.state(); });
        REQUIRE(makeSteps(lane, 27));
        const std::vector<LossPoint> before = lane.telemetry().losses();
        REQUIRE(before.size() == 37);
        CHECK(lane.telemetry().epochs().size() == 9);
        CHECK(lane.snapshot().evaluatedStep == 36);
        TrainerState end;
        lane.post([&](Trainer& trainer) { end = trainer.state(); });

        lane.post([&](Trainer& trainer) { trainer.restore(kept); });
        REQUIRE(lane.waitForPosted(patience));
        const LaneSnapshot view = lane.snapshot();
        CHECK(view.status == LaneStatus::paused);
        CHECK(view.step == 10);
        CHECK(view.runSteps == 37); // that work was done
        CHECK(std::isfinite(view.loss));
        CHECK(std::isnan(view.testLoss)); // it belonged to step 36
        CHECK_FALSE(lane.evaluation());
        const Telemetry cut = lane.telemetry();
        REQUIRE(cut.losses().size() == 10);
        CHECK(cut.losses().back().step == 9);
        CHECK(cut.opening().size() == 10);
        CHECK(cut.epochs().size() == 2);

        REQUIRE(makeSteps(lane, 27));
        const Telemetry again = lane.telemetry();
        REQUIRE(again.losses().size() == 37);
        for (std::size_t i = 0; i < 37; ++i) {
            CHECK(again.losses()[i].step == before[i].step);
            CHECK(again.losses()[i].loss == before[i].loss);
        }
        CHECK(again.opening().size() == 37);
        REQUIRE(again.epochs().size() == 9);
        CHECK(std::isnan(again.epochs()[2].trainLoss)); // not seen whole: steps 8 and 9 came before
        CHECK(std::isfinite(again.epochs()[3].trainLoss));
        CHECK(again.steps() == 64);
        lane.post([&](Trainer& trainer) { CHECK(sameBits(trainer.state(), end)); });
        REQUIRE(lane.waitForPosted(patience));
    }
}

TEST_CASE("weights edited in place: the step stays, the losses stay, the next one knows") {
    const Setting setting;
    Lane lane("lane", setting.job, setting.cpu(), endless(true));
    lane.start();
    REQUIRE(makeSteps(lane, 8));
    lane.post([](Trainer& trainer) {
        TrainerState state = trainer.state();
        for (float& weight : state.parameters) weight = 0;
        trainer.restore(state);
    });
    REQUIRE(lane.waitForPosted(patience));
    CHECK(lane.snapshot().step == 8);
    CHECK(lane.telemetry().losses().size() == 8);
    REQUIRE(makeSteps(lane, 1));
    CHECK(lane.telemetry().losses().back().loss ==
          doctest::Approx(std::log(3.0))); // three classes, none preferred
}

TEST_CASE("a running lane follows a later state too, even beyond its finish line") {
    const Setting setting;
    const auto ahead = makeCpuTrainer(setting.job, "simd", 1);
    train(*ahead, 500);
    const TrainerState state = ahead->state();
    LaneOptions options = endless(true);
    SUBCASE("within the line") { options.finish.steps = 700; }
    SUBCASE("beyond it") { options.finish.steps = 300; }
    const std::uint64_t end = std::max<std::uint64_t>(options.finish.steps, 500);
    Lane lane("lane", setting.job, setting.cpu(), options);
    lane.start();
    lane.post([&](Trainer& trainer) { trainer.restore(state); }); // before the resume, so before any step
    lane.resume();
    REQUIRE(lane.waitFor(patience));
    CHECK(lane.snapshot().status == LaneStatus::finished);
    CHECK(lane.snapshot().step == end);
    CHECK(lane.snapshot().evaluatedStep == end);
    CHECK(lane.snapshot().runSteps == end - 500);
    CHECK(lane.telemetry().steps() == end - 500);
}

TEST_CASE("an action's exception fails the lane; what has not run by the end is dropped") {
    const Setting setting;
    Lane lane("lane", setting.job, setting.cpu(), endless(true));
    bool ran = false;
    lane.post([](Trainer&) { throw std::runtime_error("no such neuron"); });
    lane.post([&](Trainer&) { ran = true; });
    lane.start();
    REQUIRE(lane.waitFor(patience));
    CHECK(lane.snapshot().status == LaneStatus::failed);
    CHECK(lane.snapshot().message == "no such neuron");
    lane.post([&](Trainer&) { ran = true; });
    CHECK(lane.waitForPosted(0ms));
    CHECK(lane.pending() == 0);

    Lane never("lane", setting.job, setting.cpu(), endless(true));
    never.post([&](Trainer&) { ran = true; });
    never.stop();
    CHECK(never.waitForPosted(0ms));
    CHECK_FALSE(ran);
}

TEST_CASE("a question's answer comes back, or what kept it from coming") {
    const Setting setting;
    Lane lane("lane", setting.job, setting.cpu(), endless(true));
    std::future<std::uint64_t> step = lane.ask([](Trainer& trainer) {
        trainer.run(2);
        trainer.finish();
        return trainer.completedSteps();
    });
    std::future<void> done = lane.ask([](Trainer&) {});
    lane.start();
    CHECK(step.get() == 2);
    done.get();
    CHECK(eventually([&] { return lane.snapshot().status == LaneStatus::ready; }));
    std::future<int> refused = lane.ask([](Trainer&) -> int { throw std::runtime_error("no such neuron"); });
    CHECK_THROWS_WITH_AS(refused.get(), "no such neuron", std::runtime_error);
    REQUIRE(lane.waitFor(patience));
    CHECK(lane.snapshot().message == "no such neuron");
    CHECK_THROWS_AS(lane.ask([](Trainer&) {}).get(), std::future_error);
}

TEST_CASE("telemetry that is moved keeps what came before") {
    Telemetry telemetry(BatchOrder(100, 10, 1, true), 0, 16);
    std::vector<LossPoint> points;
    for (std::uint64_t step = 0; step < 95; ++step) points.push_back({step, static_cast<float>(step), 0});
    telemetry.addLosses(points);
    CHECK(telemetry.stride() == 8);
    telemetry.moveTo(40);
    REQUIRE(telemetry.losses().size() == 5);
    CHECK(telemetry.losses().back().step == 32);
    CHECK(telemetry.epochs().size() == 4);
    CHECK(telemetry.opening().size() == 40);
    CHECK(telemetry.runningLoss() > 15);
    CHECK(telemetry.runningLoss() < 33);
    telemetry.moveTo(60); // forward: a gap, which the opening does not bridge
    const LossPoint next{60, 1.0f, 0};
    telemetry.addLosses({&next, 1});
    CHECK(telemetry.opening().size() == 40);
    telemetry.moveTo(0);
    CHECK(telemetry.losses().empty());
    CHECK(telemetry.epochs().empty());
    CHECK(std::isnan(telemetry.runningLoss()));
}

TEST_CASE("settings changed in mid-run give what a trainer made with them gives") {
    const Dataset data = classData();
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adam})
        for (const bool gpu : {false, true})
            for (const double l1 : {0.0, 0.001}) { // with it, an update cannot be folded into the gradient
                CAPTURE(name(optimizer));
                CAPTURE(gpu);
                CAPTURE(l1);
                TrainJob job = jobFor(data, {33});
                job.settings.optimizer.kind = optimizer;
                const auto make = [&](const TrainJob& of) {
                    return gpu ? makeGpuTrainer(of, "blocked", testDevice()) : makeCpuTrainer(of, "best", 1);
                };
                const auto changed = make(job);
                train(*changed, 20);
                TrainJob other = job;
                other.settings.optimizer.learningRate = 0.02;
                other.settings.optimizer.l1 = l1;
                other.settings.optimizer.weightDecay = 0.01;
                const auto reference = make(other);
                reference->restore(changed->state());
                changed->setOptimizer(other.settings.optimizer);
                CHECK(changed->machine().kernels == reference->machine().kernels);
                train(*reference, 20);
                train(*changed, 20);
                CHECK(sameBits(changed->state(), reference->state()));
                changed->setOptimizer(job.settings.optimizer); // and back
                const auto back = make(job);
                back->restore(reference->state());
                train(*back, 5);
                train(*changed, 5);
                CHECK(sameBits(changed->state(), back->state()));
            }
}

TEST_CASE("another kind of optimizer, and settings that make no sense, are refused and change nothing") {
    const Dataset data = classData();
    const TrainJob job = jobFor(data, {9});
    for (const bool gpu : {false, true}) {
        const auto trainer =
            gpu ? makeGpuTrainer(job, "blocked", testDevice()) : makeCpuTrainer(job, "simd", 1);
        OptimizerSettings next = job.settings.optimizer;
        next.kind = Optimizer::sgd;
        CHECK_THROWS_AS(trainer->setOptimizer(next), std::invalid_argument);
        next.kind = Optimizer::adamw; // as many arrays, but they mean something else
        CHECK_THROWS_AS(trainer->setOptimizer(next), std::invalid_argument);
        next = job.settings.optimizer;
        next.learningRate = -1;
        CHECK_THROWS_AS(trainer->setOptimizer(next), std::invalid_argument);
        const auto reference =
            gpu ? makeGpuTrainer(job, "blocked", testDevice()) : makeCpuTrainer(job, "simd", 1);
        train(*trainer, 5);
        train(*reference, 5);
        CHECK(sameBits(trainer->state(), reference->state()));
    }
}
