// Whole training runs under the validation layers, which have to stay silent; and the control: with barriers
// switched off they have to complain, or they are blind.
#include <doctest/doctest.h>

#include <mutex>
#include <string>
#include <vector>

#include "engine/gpu/recorder.h"
#include "engine/run/make_trainer.h"
#include "engine/step/kernels.h"
#include "engine/step/shaders.h"
#include "engine/tune/kernel_trial.h"
#include "shaders/shared/params.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

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
void wholeRun(gpu::Device& device, Rung rung, const PrecisionSettings& precision = {},
              const MemorySettings& memory = {}) {
    const Dataset pixels = pixelData(49, 3, 400);
    const Dataset values = valueData();
    for (const Dataset* data : {&pixels, &values}) {
        TrainJob job = jobFor(*data, {33, 13});
        job.shape.activation = data == &pixels ? Activation::relu : Activation::gelu;
        job.shape.loss = data == &pixels ? Loss::crossEntropy : Loss::huber;
        job.settings.batch = data == &pixels ? 200 : 32; // more than one workgroup of losses, and one
        job.settings.precision = precision;
        job.settings.memory = memory;
        const auto trainer = makeGpuTrainer(job, rung, device);
        train(*trainer, 20);
        trainer->evaluate(Split::test);
        trainer->evaluate(Split::train);
        const TrainerState state = trainer->state();
        trainer->predict(Split::test, 0, 10);
        trainer->restore(state);
        train(*trainer, 20);
        makeGpuTrainer(job, rung, device)->run(20); // gone before its steps are done
    }
}

void checkSilent(gpu::DeviceOptions options, const std::vector<Rung>& rungs,
                 const PrecisionSettings& precision = {}, const MemorySettings& memory = {}) {
    Messages messages;
    options.validation = true;
    messages.attachTo(options);
    {
        gpu::Device device(options);
        for (const Rung rung : rungs) wholeRun(device, rung, precision, memory);
    }
    for (const gpu::ValidationMessage& message : messages.all) MESSAGE(message.id, ": ", message.text);
    CHECK(messages.all.empty());
}

} // namespace

TEST_CASE("core and synchronization validation are silent") {
    std::vector<Rung> rungs; // `matrix` is tested where a device has matrices (half_test)
    for (const RungRow& row : rungTable)
        if (row.gpu() && row.trains && row.rung != Rung::matrix) rungs.push_back(row.rung);
    CHECK(rungs.size() >= 12);
    checkSilent(testDeviceOptions(), rungs);
}

TEST_CASE("so they are where operands are rounded") {
    checkSilent(testDeviceOptions(), {Rung::tiled, Rung::fused}, {OperandFormat::fp8});
    checkSilent(
        testDeviceOptions(), {Rung::tiled, Rung::fused},
        {.format = OperandFormat::bf16, .masterWeights = false, .rounding = RoundingMode::stochastic});
}

TEST_CASE("so they are where copies to the host run beside kernels, and tensors share memory") {
    checkSilent(testDeviceOptions(), {Rung::tiled, Rung::fused}, {}, {.offload = Offload::both});
    checkSilent(testDeviceOptions(), {Rung::blocked}, {OperandFormat::bf16},
                {.recompute = 2, .accumulate = 3, .offload = Offload::activations});
}

TEST_CASE("so they are with staged memory and minimum limits") {
    gpu::DeviceOptions options = testDeviceOptions();
    options.forceStaging = true;
    options.minimumLimits = true;
    checkSilent(options, {Rung::blocked});
}

TEST_CASE("GPU-assisted validation finds no access out of bounds") {
    gpu::DeviceOptions options = testDeviceOptions();
    options.gpuAssisted = true;
    options.pushDescriptors = false; // layers of Vulkan 1.3.239 take pushed ones for uninitialised
    Messages messages;
    options.validation = true;
    messages.attachTo(options);
    {
        gpu::Device device(options);
        wholeRun(device, Rung::naive);
        // The other rungs' index arithmetic with small tiles: drivers take minutes over large ones with
        // checks in them.
        Kernels kernels(device);
        for (const Product product : {Product::forward, Product::backwardInputs, Product::backwardWeights})
            for (const ProductKernel& kernel :
                 {ProductKernel{Rung::blocked, 4, 2, 4, 4}, ProductKernel{Rung::tiled, 4, 4, 2, 2, 8},
                  ProductKernel{Rung::pipelined, 4, 4, 4, 4, 8}, ProductKernel{Rung::texel, 4, 2, 4, 4},
                  ProductKernel{Rung::subgroup, 8, 1, 4, 4, 0, 4}}) {
                ProductTrial trial(device, product, {33, 31, 13, 32, 16}, Activation::relu);
                CHECK(trial.measure(kernels.dense(product, kernel, Activation::relu), 0).verified());
                if (kernel.rung != Rung::tiled && kernel.rung != Rung::texel) continue;
                ProductKernel half = kernel;
                half.half = true;
                half.tileN = 4;
                ProductTrial halfTrial(device, product, {33, 31, 13, 32, 16}, Activation::gelu,
                                       scalarKernels(), true);
                CHECK(halfTrial.measure(kernels.dense(product, half, Activation::gelu), 0).verified());
            }
    }
    for (const gpu::ValidationMessage& message : messages.all) MESSAGE(message.id, ": ", message.text);
    CHECK(messages.all.empty());
}

TEST_CASE("control: without barriers, synchronization validation sees hazards") {
    Messages messages;
    gpu::DeviceOptions options = testDeviceOptions();
    options.validation = true;
    options.barriers = false;
    messages.attachTo(options);
    {
        gpu::Device device(options);
        wholeRun(device, Rung::naive);
    }
    std::size_t hazards = 0;
    for (const gpu::ValidationMessage& message : messages.all)
        hazards += message.id.find("SYNC-HAZARD") != std::string::npos ? 1 : 0;
    MESSAGE(hazards, " hazards reported");
    CHECK(hazards > 0);
}

TEST_CASE("control: an access out of bounds is seen") {
    Messages messages;
    gpu::DeviceOptions options = testDeviceOptions();
    options.validation = true;
    options.gpuAssisted = true;
    options.pushDescriptors = false;
    messages.attachTo(options);
    {
        gpu::Device device(options);
        const gpu::Kernel<shared::LossSumParams> kernel(device,
                                                        {"loss_sum", shaderWords("loss_sum"), {{0, 64}}});
        gpu::Buffer losses(device, 16, gpu::Memory::device, "losses");
        gpu::Buffer status(device, 16, gpu::Memory::device, "status");
        gpu::Buffer partials(device, 16, gpu::Memory::device, "partials");
        gpu::Recorder recorder(device);
        recorder.begin();
        // Reads 64 sums where there are four. (Layers of Vulkan 1.3.239 compare with the buffer's end, not
        // the view's.)
        const shared::LossSumParams params{64, 0, 0, 1.0f};
        recorder.dispatch(kernel, {1, 1, 1}, params, {losses.view(), status.view(), partials.view()});
        recorder.submit();
        recorder.finish();
    }
    std::size_t outside = 0;
    for (const gpu::ValidationMessage& message : messages.all)
        outside += message.text.find("out of bounds") != std::string::npos ? 1 : 0;
    MESSAGE(outside, " accesses reported");
    CHECK(outside > 0);
}
