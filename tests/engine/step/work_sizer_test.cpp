// How much work is asked for next: it starts small, at most doubles, keeps to its target, and never keeps a
// window waiting.
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "engine/grid/grid_pace.h"
#include "engine/run/lane.h"
#include "engine/step/step_trace.h"
#include "engine/step/work_sizer.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;
using namespace std::chrono_literals;

namespace {

WorkSizer submissions(bool software) { return WorkSizer({submissionMilliseconds(software)}); }

/// So many pieces of work, whose units take `milliseconds` each. Returns the time of the longest.
double work(WorkSizer& sizer, int pieces, double milliseconds) {
    double longest = 0;
    for (int i = 0; i < pieces; ++i) {
        const double took = sizer.size() * milliseconds;
        longest = std::max(longest, took);
        sizer.add(sizer.size(), took);
    }
    return longest;
}

/// Every request waits for a frame of somebody else, however small it is; the steps themselves take 0.1 ms.
class DeviceBesideAWindow final : public Trainer {
  public:
    explicit DeviceBesideAWindow(std::atomic<std::uint64_t>& largest) : largest_(largest) {}

    const MachineInfo& machine() const override { return machine_; }
    void run(std::uint64_t steps) override {
        std::this_thread::sleep_for(5ms);
        completed_ += steps;
        if (steps > largest_) largest_ = steps;
    }
    void finish() override {}
    std::uint64_t completedSteps() override { return completed_; }
    void takeLosses(std::vector<LossPoint>&) override {}
    Evaluation evaluate(Split) override { return {}; }
    std::uint64_t runFor(std::chrono::duration<double, std::milli>) override { return 0; }
    std::vector<float> predict(Split, std::size_t, std::size_t) override { return {}; }
    std::vector<float> predict(std::span<const float>) override { return {}; }
    bool takeWeights(TrainedWeights&) override { return false; }
    void reloadExamples(std::size_t, std::size_t) override {}
    TrainerState state() override { return {}; }
    void restore(const TrainerState&) override {}
    void setOptimizer(const OptimizerSettings&) override {}
    Pace rehearse(double, double, const std::function<bool()>&) override { return {}; }
    double trainingSeconds() const override { return 0; }
    double deviceSeconds() const override { return static_cast<double>(completed_) * 1e-4; }
    double warmUpSeconds() const override { return 0; }
    std::vector<OperationTiming> operations() const override { return {}; }
    std::vector<MemoryUse> predictedMemory() const override { return {}; }
    std::vector<MemoryUse> memory() const override { return {}; }
    StepTrace traceStep(const TraceOptions&) override { return {}; }

  private:
    MachineInfo machine_;
    std::uint64_t completed_ = 0;
    std::atomic<std::uint64_t>& largest_;
};

} // namespace

TEST_CASE("submissions begin with one step, at most double, and aim at a few milliseconds") {
    for (const bool software : {false, true}) {
        WorkSizer size = submissions(software);
        CHECK(size.units() == 1);
        CHECK(size.splitsUnits()); // not known yet
        work(size, 1, 0.1);
        CHECK(size.units() == 2);
        CHECK_FALSE(size.splitsUnits());
        CHECK(work(size, 50, 0.1) <= (software ? 8.0 : 4.0) + 1e-9);
        CHECK(size.units() == (software ? 80 : 40));
    }
}

TEST_CASE("units that became slower make the next pieces short again") {
    WorkSizer size = submissions(true);
    work(size, 20, 0.01);
    const double before = size.size();
    work(size, 6, 1.0);
    CHECK(size.size() < before / 50);
    CHECK(size.size() * 1.0 <= 9);
}

TEST_CASE("a unit that takes too long is split, and no piece exceeds its limit") {
    WorkSizer slow = submissions(true);
    work(slow, 3, 10);
    CHECK_FALSE(slow.splitsUnits());
    work(slow, 5, 20);
    CHECK(slow.units() == 1);
    CHECK(slow.splitsUnits());
    WorkSizer fast = submissions(false);
    work(fast, 50, 1e-6);
    CHECK(fast.units() == 1024);
    WorkSizer limited({4, 0.3});
    work(limited, 50, 1e-6);
    CHECK(limited.units() == 1); // never none
}

TEST_CASE("profiled steps, which are slower, do not count once others were measured") {
    WorkSizer size = submissions(true);
    size.addProfiled(1, 5);
    CHECK(size.millisecondsPerUnit() == 5); // better than nothing
    work(size, 20, 1);
    const double known = size.millisecondsPerUnit();
    size.addProfiled(1, 50);
    CHECK(size.millisecondsPerUnit() == known);
}

TEST_CASE("what fits into a time follows from the measured speed") {
    WorkSizer size = submissions(true);
    CHECK(size.fitting(8) == 0); // not known yet
    work(size, 20, 6.0);
    CHECK(size.fitting(24) == doctest::Approx(4));
}

TEST_CASE("running totals settle at the target, and do not count what is left out") {
    WorkSizer request({20, 1 << 20});
    request.skipTo(0, 0);
    double clock = 0;
    double done = 0;
    for (int i = 0; i < 40; ++i) { // a machine of 10,000 steps per second
        const double before = request.size();
        done += request.size();
        clock += 0.1 * request.size();
        request.addTotals(done, clock);
        CHECK(request.size() <= before * 2);
        clock += 500; // an evaluation
        request.skipTo(done, clock);
    }
    CHECK(request.size() >= 199);
    CHECK(request.size() <= 201);
    for (int i = 0; i < 40; ++i) { // which becomes a hundred times slower
        done += request.size();
        clock += 10 * request.size();
        request.addTotals(done, clock);
    }
    CHECK(request.size() <= 3);
}

TEST_CASE("nothing grows while nothing is known to be done") {
    WorkSizer request({20, 1 << 20});
    request.skipTo(5, 1000);
    for (int i = 1; i < 10; ++i) request.addTotals(5, 1000 + 1e-3 * i);
    CHECK(request.units() == 1);
}

TEST_CASE("a steady size moves by factors of two, and only when it is off by as much") {
    WorkSizer budget({4, 1e14, 2e8, true});
    for (int i = 0; i < 20; ++i) budget.add(1e8, 0.1); // 4e9 in the target
    CHECK(budget.size() >= 1.9e9);
    CHECK(budget.size() <= 4.1e9);
    const double before = budget.size();
    budget.add(1e8, 0.15); // somewhat slower: no reason to change
    CHECK(budget.size() == before);
    for (int i = 0; i < 20; ++i) budget.add(1e8, 10);
    CHECK(budget.size() < 1e8);
    WorkSizer slice({1, 1 << 20, 1, true});
    work(slice, 200, 1e-6);
    CHECK(slice.units() > 1 << 18);
    CHECK(slice.units() <= 1 << 20);
    work(slice, 200, 50);
    CHECK(slice.units() == 1);
}

TEST_CASE("a GPU begins with one step of a few networks, and comes to its aim by doubling") {
    PopulationPace pace(false, 4096, 100, 1e12);
    CHECK(pace.next().steps == 1);
    CHECK(pace.next().networks == 100);
    std::uint32_t last = 100;
    for (int submission = 0; submission < 40; ++submission) {
        const PopulationSlice slice = pace.next();
        CHECK(slice.networks * slice.steps <= 2 * last);
        last = slice.networks * slice.steps;
        pace.add(slice, 1e-5 * slice.networks * slice.steps); // 4 ms are 400,000 network-steps
    }
    CHECK(pace.next().networks == 4096);
    CHECK(pace.next().steps >= 50);
    CHECK(pace.next().steps <= 100);
}

TEST_CASE("where a step of all takes too long, networks take turns") {
    PopulationPace pace(true, 1000, 1000, 1e12);
    for (int submission = 0; submission < 20; ++submission) {
        const PopulationSlice slice = pace.next();
        pace.add(slice, 0.1 * slice.networks * slice.steps); // all together: 100 ms
    }
    CHECK(pace.next().steps == 1);
    CHECK(pace.next().networks <= 80);
    CHECK(pace.next().networks >= 40);
}

TEST_CASE("what there is no room for is never asked for") {
    PopulationPace pace(false, 4096, 3000, 3200);
    for (int submission = 0; submission < 40; ++submission) {
        const PopulationSlice slice = pace.next();
        CHECK(slice.networks * slice.steps <= 3200);
        CHECK(slice.networks * slice.steps >= 1);
        pace.add(slice, 1e-6);
    }
}

TEST_CASE("where a step takes as long for few networks as for all, all go together") {
    for (const double step : {6.0, 10.0, 20.0}) {
        CAPTURE(step);
        PopulationPace pace(false, 4096, 231, 1e12);
        for (int submission = 0; submission < 40; ++submission) {
            pace.add(pace.next(), step * pace.next().steps);
            CHECK(pace.next().networks >= 231);
        }
        CHECK(pace.next().networks == 4096);
        CHECK(pace.next().steps == 1);
    }
}

TEST_CASE("where a step of all takes too long on a GPU, as many go together as take milliseconds") {
    PopulationPace pace(false, 65536, 1000, 1e12);
    for (int submission = 0; submission < 40; ++submission)
        pace.add(pace.next(), 1 + 0.001 * pace.next().networks * pace.next().steps); // all: 66 ms
    CHECK(pace.next().steps == 1);
    CHECK(pace.next().networks >= 4000);
    CHECK(pace.next().networks <= 8000);
}

TEST_CASE("a GPU that was busy with something else is given its networks back") {
    PopulationPace pace(false, 4096, 231, 1e12);
    const auto submissions = [&pace](int count, double perNetworkStep) {
        for (int submission = 0; submission < count; ++submission)
            pace.add(pace.next(), 1 + perNetworkStep * pace.next().networks * pace.next().steps);
    };
    submissions(20, 5); // a second for the first networks
    CHECK(pace.next().networks <= 10);
    submissions(20, 0.04);
    CHECK(pace.next().networks >= 231);
    submissions(30, 0.0005);
    CHECK(pace.next().networks == 4096);
}

TEST_CASE("networks that diverged do not make a step seem quick") {
    MapCost cost;
    CHECK(std::isinf(cost.steps(1024, 50)));
    CHECK(std::isinf(cost.networks(200, 50)));
    cost.add(1024, 1024, 0.1); // the first step, which all make
    CHECK(cost.steps(1024, 50) == doctest::Approx(500));
    CHECK(cost.steps(2048, 50) == doctest::Approx(250));
    CHECK(cost.steps(64, 50) == doctest::Approx(500)); // fewer may take as long
    CHECK(cost.networks(200, 50) == doctest::Approx(2560));
    for (int batch = 0; batch < 100; ++batch) cost.add(65536, 0, 0.01);        // all diverge at once
    for (int batch = 0; batch < 100; ++batch) cost.add(65536, 65536 * 0.1, 1); // most do
    CHECK(cost.steps(1024, 50) == doctest::Approx(500));
    cost.add(65536, 65536 * 100.0, 80); // many train, and the device was not full before
    CHECK(cost.steps(65536, 50) == doctest::Approx(62.5));
    CHECK(cost.steps(1024, 50) == doctest::Approx(62.5));
    CHECK(cost.networks(200, 50) == doctest::Approx(20480));
    cost.add(65536, 65536 * 100.0, 800); // something else kept the device busy
    CHECK(cost.steps(65536, 50) == doctest::Approx(62.5));
}

TEST_CASE("a lane that shares its device asks for as much work at a time as one that has it alone") {
    const Dataset data = classData();
    std::atomic<std::uint64_t> largest{0};
    LaneOptions options;
    options.finish.steps = 20000; // 100 requests of 200 steps, which are 20 ms of the device
    options.evaluateEvery = 0;
    Lane lane(
        "lane", jobFor(data, {9}), [&] { return std::make_unique<DeviceBesideAWindow>(largest); }, options);
    lane.start();
    CHECK(lane.waitFor(60s));
    CHECK(lane.snapshot().status == LaneStatus::finished);
    CHECK(largest >= 190);
    CHECK(largest <= 210);
}
