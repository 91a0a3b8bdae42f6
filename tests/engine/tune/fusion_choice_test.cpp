// Steps with and without a fusion are timed in turn: what is chosen does not depend on how fast the device
// was when the first of them was timed. Times are simulated here.
#include <doctest/doctest.h>

#include "engine/step/gpu_arenas.h"
#include "engine/tune/fusion_choice.h"
#include "engine/tune/kernel_choice.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

TEST_CASE("fusions that cost time stay off on a device that wakes up, and those that save it are on") {
    const Dataset data = classData();
    const TrainJob job = jobFor(data, {33, 13});
    gpu::Device& device = testDevice();
    Kernels kernels(device);
    const StepKernels how =
        chooseKernels(device, kernels, Rung::fused, job.shape, job.settings.optimizer.kind, 10);
    GpuArenas arenas(device, job, GpuMemory(device, job, Rung::fused, how));
    const auto isOn = [&](double withFusion, double slownessAtFirst) {
        StepFusions fusions(kernels, arenas, job.settings, how);
        REQUIRE(fusions.possible(Operation::lastLayer));
        Tuning tuning;
        double steps = 0;
        chooseFusions(
            fusions, nullptr, "",
            [&](std::uint64_t count) {
                const double slowness = std::max(1.0, slownessAtFirst - steps / 10); // at full speed soon
                steps += static_cast<double>(count);
                double milliseconds = slowness;
                for (const Operation fusion : joinedOperations)
                    if (fusions.on(fusion)) milliseconds *= withFusion;
                return milliseconds;
            },
            tuning);
        return fusions.on(Operation::lastLayer);
    };
    for (const double slowness : {1.0, 2.0, 4.0}) {
        CAPTURE(slowness);
        CHECK(isOn(0.9, slowness));
        CHECK_FALSE(isOn(1.1, slowness));
        CHECK_FALSE(isOn(3, slowness));
    }
}
