// Whole training runs under the validation layers, which have to stay silent; and the control: with barriers
// switched off they have to complain, or they are blind.
#include <doctest/doctest.h>

#include <mutex>
#include <string>
#include <vector>

#include "engine/train/gpu_trainer.h"
#include "tests/test_device.h"
#include "tests/trainer_fixtures.h"

using namespace lockstep;

namespace {

struct Messages {
    std::mutex mutex;
    std::vector<gpu::ValidationMessage> all;

    void attachTo(gpu::DeviceOptions& options) {
        options.messages = [this](const gpu::ValidationMessage& message) {
            const std::lock_guard lock(mutex);
            all.push_back(message);
        };
    }
};

// Training with evaluation, prediction and a restore: everything that is ever dispatched.
void wholeRun(gpu::Device& device, std::string_view rung) {
    const Dataset pixels = pixelData(49, 3, 400);
    const Dataset values = valueData();
    for (const Dataset* data : {&pixels, &values}) {
        TrainJob job = jobFor(*data, {33, 13});
        job.shape.activation = data == &pixels ? Activation::relu : Activation::gelu;
        job.shape.loss = data == &pixels ? Loss::crossEntropy : Loss::huber;
        job.settings.batch = data == &pixels ? 200 : 32; // more than one workgroup of losses, and one
        const auto trainer = makeGpuTrainer(job, rung, device);
        train(*trainer, 20);
        trainer->evaluate(Split::test);
        trainer->evaluate(Split::train);
        const TrainerState state = trainer->state();
        trainer->predict(Split::test, 0, 10);
        trainer->restore(state);
        train(*trainer, 20);
    }
}

void checkSilent(gpu::DeviceOptions options) {
    Messages messages;
    options.validation = true;
    messages.attachTo(options);
    {
        gpu::Device device(options);
        for (const std::string_view rung : {"naive", "tiled", "blocked", "best"}) wholeRun(device, rung);
    }
    for (const gpu::ValidationMessage& message : messages.all) MESSAGE(message.id, ": ", message.text);
    CHECK(messages.all.empty());
}

} // namespace

TEST_CASE("core and synchronization validation are silent") { checkSilent(testDeviceOptions()); }

TEST_CASE("so they are with staged memory and minimum limits") {
    gpu::DeviceOptions options = testDeviceOptions();
    options.forceStaging = true;
    options.minimumLimits = true;
    checkSilent(options);
}

TEST_CASE("GPU-assisted validation finds no access out of bounds") {
    gpu::DeviceOptions options = testDeviceOptions();
    options.gpuAssisted = true;
    checkSilent(options);
}

TEST_CASE("control: without barriers, synchronization validation sees hazards") {
    Messages messages;
    gpu::DeviceOptions options = testDeviceOptions();
    options.validation = true;
    options.barriers = false;
    messages.attachTo(options);
    {
        gpu::Device device(options);
        wholeRun(device, "naive");
    }
    std::size_t hazards = 0;
    for (const gpu::ValidationMessage& message : messages.all)
        hazards += message.id.find("SYNC-HAZARD") != std::string::npos ? 1 : 0;
    MESSAGE(hazards, " hazards reported");
    CHECK(hazards > 0);
}
