// A lane whose device has other work, too: what it asks for at a time follows the device's own time, not the
// clock on the wall. Else it would ask for less because it waits its turn, and with less in each turn get
// ever less.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "engine/run/lane.h"
#include "engine/step/step_trace.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;
using namespace std::chrono_literals;

namespace {

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
    std::vector<float> predict(Split, std::size_t, std::size_t) override { return {}; }
    TrainerState state() override { return {}; }
    void restore(const TrainerState&) override {}
    void setOptimizer(const OptimizerSettings&) override {}
    double trainingSeconds() const override { return 0; }
    double deviceSeconds() const override { return static_cast<double>(completed_) * 1e-4; }
    double warmUpSeconds() const override { return 0; }
    std::vector<OperationTiming> operations() const override { return {}; }
    StepTrace traceStep(const TraceOptions&) override { return {}; }

  private:
    MachineInfo machine_;
    std::uint64_t completed_ = 0;
    std::atomic<std::uint64_t>& largest_;
};

} // namespace

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
