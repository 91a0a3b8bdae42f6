// Times that can be compared: machines that have settled before the clock starts, races long enough for a
// clock, work that counts while the device is busy with it, and timestamps that cost the timed steps nothing.
#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "engine/run/lane.h"
#include "engine/run/make_trainer.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;
using namespace std::chrono_literals;

namespace {

const auto always = [] { return true; };

using Make = std::function<std::unique_ptr<Trainer>(const TrainJob&)>;

struct Machine {
    const char* lane;
    Make make;
};

std::vector<Machine> machines() {
    return {{"cpu:best", [](const TrainJob& job) { return makeCpuTrainer(job, "best", 2); }},
            {"gpu:blocked", [](const TrainJob& job) { return makeGpuTrainer(job, "blocked", testDevice()); }},
            {"gpu:half", [](const TrainJob& job) { return makeGpuTrainer(job, "half", testDevice()); }}};
}

LaneSnapshot endOf(const TrainJob& job, const Machine& machine, LaneOptions options) {
    options.finish.steps = 20;
    Lane lane(
        machine.lane, job, [&] { return machine.make(job); }, std::move(options));
    lane.start();
    REQUIRE(lane.waitFor(60s));
    CHECK(lane.snapshot().message.empty());
    return lane.snapshot();
}

} // namespace

TEST_CASE("a rehearsal leaves no trace: weights, losses and times are as before") {
    const Dataset data = classData();
    const TrainJob job = jobFor(data, {33, 13});
    for (const Machine& machine : machines()) {
        CAPTURE(machine.lane);
        const auto rehearsed = machine.make(job);
        const auto plain = machine.make(job);
        train(*rehearsed, 3);
        train(*plain, 3);
        const double before = rehearsed->trainingSeconds();
        const double deviceBefore = rehearsed->deviceSeconds();
        const Pace pace = rehearsed->rehearse(0.02, 0.1, always);
        CHECK(pace.steps > 0);
        CHECK(pace.seconds >= 0.02);
        CHECK(rehearsed->completedSteps() == 3);
        CHECK(rehearsed->trainingSeconds() == doctest::Approx(before));
        CHECK(rehearsed->deviceSeconds() == doctest::Approx(deviceBefore));
        std::vector<LossPoint> left;
        rehearsed->takeLosses(left);
        CHECK(left.empty());
        CHECK(lossDistance(train(*rehearsed, 5), train(*plain, 5)) == 0);
        CHECK(rehearsed->state().parameters == plain->state().parameters);
    }
}

TEST_CASE("a rehearsal ends when it is told to, in time, or when training fails") {
    const Dataset data = classData();
    TrainJob job = jobFor(data, {33, 13});
    const auto trainer = makeCpuTrainer(job, "best", 1);
    CHECK(trainer->rehearse(60, 60, [] { return false; }).steps == 0);
    const auto begin = std::chrono::steady_clock::now();
    trainer->rehearse(0.01, 0.05, always);
    CHECK(secondsSince(begin) < 2);

    job.settings.optimizer.kind = Optimizer::sgd;
    job.settings.optimizer.learningRate = 1e6;
    const auto diverges = makeCpuTrainer(job, "best", 1);
    CHECK(diverges->rehearse(60, 60, always).steps == 0);
    CHECK_NOTHROW(diverges->completedSteps()); // taken back, too
}

TEST_CASE("a lane settles before its first step, and is timed for long enough") {
    const Dataset data = classData();
    const TrainJob job = jobFor(data, {33, 13});
    for (const Machine& machine : machines()) {
        CAPTURE(machine.lane);
        const LaneSnapshot plain = endOf(job, machine, {});
        LaneOptions options;
        options.settleSeconds = 0.3;
        options.leastSeconds = 0.4;
        const LaneSnapshot compared = endOf(job, machine, options);
        CHECK(compared.runSteps == 20);
        CHECK(compared.loss == plain.loss);
        CHECK(compared.testLoss == plain.testLoss);
        CHECK(plain.extraSeconds == 0);
        CHECK(plain.rate() == doctest::Approx(static_cast<double>(plain.examples) / plain.trainingSeconds));
        CHECK(compared.timedSeconds() >= 0.4);
        CHECK(compared.trainingSeconds < 0.4);
        CHECK(compared.extraExamples > 0);
        CHECK(compared.warmUpSeconds > 0.2); // two looks at least
    }
}

TEST_CASE("what the device does between calls is training time, idling is not") {
    const Dataset data = pixelData(784, 10, 300);
    TrainJob job = jobFor(data, {256, 128});
    job.settings.batch = 128;
    const auto trainer = makeGpuTrainer(job, "naive", testDevice());
    train(*trainer, 2);
    const double before = trainer->trainingSeconds();
    const double deviceBefore = trainer->deviceSeconds();
    trainer->run(1); // returns while the device works
    const double inCall = trainer->trainingSeconds() - before;
    std::this_thread::sleep_for(1s);
    trainer->finish();
    const double whole = trainer->trainingSeconds() - before;
    const double device = trainer->deviceSeconds() - deviceBefore;
    CHECK(whole >= 0.8 * device);
    CHECK(whole <= inCall + device + 0.2);
    std::this_thread::sleep_for(100ms);
    trainer->finish();
    CHECK(trainer->trainingSeconds() - before < whole + 0.05);
}

TEST_CASE("steps whose times count carry no timestamps of their own") {
    const Dataset data = classData();
    const TrainJob job = jobFor(data, {33, 13});
    const auto timedCalls = [](const Trainer& trainer) {
        std::uint64_t calls = 0;
        for (const OperationTiming& operation : trainer.operations()) calls += operation.calls;
        return calls;
    };
    const auto trainer = makeGpuTrainer(job, "blocked", testDevice());
    train(*trainer, 1);
    CHECK(timedCalls(*trainer) > 0); // nobody compares: now and then
    const auto compared = makeGpuTrainer(job, "blocked", testDevice());
    compared->rehearse(0.05, 0.05, always);
    const std::uint64_t rehearsed = timedCalls(*compared);
    CHECK(rehearsed > 0);
    train(*compared, 500);
    CHECK(timedCalls(*compared) == rehearsed);
}
