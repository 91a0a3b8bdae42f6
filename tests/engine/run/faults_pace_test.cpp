// No submission holds a device for longer than 100 ms, however slow it is: timestamps say here that
// everything takes 50 times as long.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "engine/gpu/dispatch_pace.h"
#include "engine/run/make_trainer.h"
#include "engine/step/kernels.h"
#include "engine/step/step_trace.h"
#include "engine/tune/kernel_trial.h"
#include "engine/tune/product_candidates.h"
#include "tests/faults/provoke.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

// Milliseconds of the device's longest submission since the last call.
double longest(gpu::Device& device) {
    return static_cast<double>(device.counters().longestNanoseconds.exchange(0)) * 1e-6;
}

} // namespace

TEST_CASE("a dispatch is cut into blocks that cover every workgroup once") {
    for (const gpu::WorkItems& groups : {gpu::WorkItems{1, 1, 1}, {5, 1, 1}, {3, 4, 1}, {2, 3, 4}, {1, 7, 2}})
        for (const double most : {0.0, 1.0, 2.5, 3.0, 7.0, 12.0, 1e30}) {
            std::set<std::uint64_t> seen;
            std::uint64_t done = 0;
            while (done < gpu::total(groups)) {
                const auto [first, count] = gpu::nextGroups(groups, done, most);
                CHECK(static_cast<double>(gpu::total(count)) <= std::max(most, 1.0));
                for (std::uint32_t z = first.z; z < first.z + count.z; ++z)
                    for (std::uint32_t y = first.y; y < first.y + count.y; ++y)
                        for (std::uint32_t x = first.x; x < first.x + count.x; ++x)
                            seen.insert((std::uint64_t{z} * groups.y + y) * groups.x + x);
                done += gpu::total(count);
            }
            CHECK(seen.size() == gpu::total(groups));
            CHECK(done == gpu::total(groups));
            CHECK(*seen.rbegin() == gpu::total(groups) - 1);
        }
}

TEST_CASE("big products of slow kernels reach a slow device in pieces, and their results are right") {
    const Faults slow("slow-clock:50");
    gpu::Device device{gpu::DeviceOptions{}};
    Kernels kernels(device);
    const DenseShape shape{128, 784, 256, 784, 256};
    for (const Product product : {Product::forward, Product::backwardInputs, Product::backwardWeights}) {
        ProductTrial trial(device, product, shape, Activation::identity);
        for (const Rung rung : {Rung::naive, Rung::naiveStrided}) {
            const DenseKernel kernel =
                kernels.dense(product, kernelOfRung(device, rung, product, shape), Activation::identity);
            trial.measure(kernel, 0); // compiles
            longest(device);
            const std::uint64_t before = device.counters().submissions;
            const TrialResult result = trial.measure(kernel, 0);
            CAPTURE(name(product));
            CAPTURE(name(rung));
            CHECK(result.verified());
            // Without pieces there are three submissions: checked, timed, copied. Other programs may
            // interrupt a piece, here for 50 times as long.
            const auto pieces = static_cast<double>(device.counters().submissions - before) / 2;
            CHECK(result.milliseconds > 200);
            CHECK(result.milliseconds / pieces < 100);
            CHECK(longest(device) < 0.7 * result.milliseconds);
        }
    }
}

TEST_CASE("what takes far longer than the fastest so far is given up") {
    const Faults slow("slow-clock:50");
    gpu::Device device{gpu::DeviceOptions{}};
    Kernels kernels(device);
    const DenseShape shape{128, 784, 256, 784, 256};
    ProductTrial trial(device, Product::forward, shape, Activation::identity);
    const DenseKernel naive = kernels.dense(
        Product::forward, kernelOfRung(device, Rung::naive, Product::forward, shape), Activation::identity);
    const TrialResult result = trial.measure(naive, 2, 5);
    CHECK(result.hopeless);
    CHECK_FALSE(result.verified());
    CHECK(trial.measure(naive, 0).verified()); // nothing of it is left
}

TEST_CASE("training steps whose products take too long go out in pieces, and learn the same") {
    const Dataset data = pixelData(784, 10, 300);
    TrainJob job = jobFor(data, {256, 128});
    job.settings.batch = 128;
    const auto reference = train(*makeCpuTrainer(job, "scalar", 1), 4);
    const Faults slow("slow-clock:200");
    gpu::Device device{gpu::DeviceOptions{}};
    const auto trainer = makeGpuTrainer(job, "naive", device);
    const std::uint64_t before = device.counters().submissions;
    CHECK(lossDistance(train(*trainer, 4), reference) < 1e-4);
    const auto submissions = static_cast<double>(device.counters().submissions - before);
    CHECK(1e3 * trainer->deviceSeconds() > 4 * 200);
    CHECK(1e3 * trainer->deviceSeconds() / submissions < 100);
    const StepTrace trace = trainer->traceStep({});
    CHECK_FALSE(trace.oneSubmission);
    // So does an evaluation: its products are known to be as much work.
    const double trained = trainer->deviceSeconds();
    const std::uint64_t untilNow = device.counters().submissions;
    trainer->evaluate(Split::train);
    CHECK(trainer->deviceSeconds() == trained);
    CHECK(device.counters().submissions - untilNow > 40); // uncut 18, three chunks of six
}

TEST_CASE("what a coarse clock cannot see is too short for it") {
    const Dataset data = classData();
    const TrainJob job = jobFor(data, {33, 13});
    const auto traceWith = [&](const std::string& clock) {
        const Faults faults(clock);
        gpu::Device device{gpu::DeviceOptions{}};
        return makeGpuTrainer(job, "blocked", device)->traceStep({});
    };
    const StepTrace coarse = traceWith("coarse-clock:1000000000"); // a second
    CHECK(coarse.clockStepMs >= 1000);                             // infinite: all of it within a second
    CHECK(std::ranges::any_of(coarse.operations, [&](const auto& each) { return coarse.tooShort(each); }));
    for (const TracedOperation& operation : coarse.operations) CHECK(operation.milliseconds() <= 1000);
    const StepTrace some = traceWith("coarse-clock:1000");
    CHECK(some.clockStepMs >= 1e-3);
    CHECK(std::ranges::any_of(some.operations, [&](const auto& each) { return !some.tooShort(each); }));
    const StepTrace fine = traceWith("");
    CHECK(fine.clockStepMs > 0);
    CHECK(fine.clockStepMs < 1e-3);
    for (const TracedOperation& operation : fine.operations) CHECK_FALSE(fine.tooShort(operation));
}
