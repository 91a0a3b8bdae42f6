// Operations that a dispatch takes together compute the same bits as one by one, in fewer dispatches.
#include <doctest/doctest.h>

#include <optional>

#include "engine/net/settings.h"
#include "engine/step/gpu_ops.h"
#include "engine/step/step_fusions.h"
#include "engine/tune/kernel_choice.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

struct Trained {
    std::vector<float> parameters, inputs, dSums;
    std::vector<float> losses;
    std::uint32_t failedStep = 0;
    std::size_t dispatches = 0; ///< of a step
    std::uint64_t barriers = 0; ///< of a step between others
};

/// `steps` steps of the job, with the kernels of `rung` and what `fusions` has; the first layer's forward
/// product, and all weight gradients, by another kernel where one is given.
Trained trainWith(const TrainJob& job, Rung rung, const std::vector<Operation>& fusions, std::uint64_t steps,
                  const std::optional<ProductKernel>& forward = {},
                  const std::optional<ProductKernel>& weights = {}) {
    gpu::Device& device = testDevice();
    Kernels kernels(device);
    StepKernels how =
        chooseKernels(device, kernels, rung, job.shape, job.settings.optimizer.kind, job.order().batch());
    how.layers.front().forward = forward.value_or(how.layers.front().forward);
    for (LayerKernels& layer : how.layers) layer.backwardWeights = weights.value_or(layer.backwardWeights);
    GpuArenas arenas(device, job, GpuMemory(device, job, rung, how));
    gpu::Recorder recorder(device);
    StepFusions fused(kernels, arenas, job.settings, how);
    GpuOps ops(recorder, arenas, kernels, job.settings, how, nullptr, &fused);
    for (const Operation fusion : fusions) {
        CAPTURE(name(fusion));
        REQUIRE(fused.possible(fusion));
        fused.set(fusion, true);
    }
    const StepPlan plan = fused.plan();
    recorder.begin();
    std::uint64_t before = 0;
    for (std::uint64_t step = 0; step < steps; ++step) {
        before = recorder.barriers();
        execute(ops, plan, stepSettings(job.settings, arenas.order, step));
    }
    recorder.submitAndTime();
    Trained result;
    result.barriers = recorder.barriers() - before;
    result.parameters = arenas.parameters.downloadValues<float>(arenas.layout.size());
    result.losses = arenas.losses.downloadValues<float>(steps);
    result.failedStep = arenas.status.downloadValues<std::uint32_t>(1).front();
    recorder.begin();
    recorder.traceDispatches(true);
    execute(ops, plan, stepSettings(job.settings, arenas.order, steps));
    recorder.submitAndTime();
    result.dispatches = recorder.takeTrace().size();
    const std::size_t rows = arenas.order.range(steps).rows;
    result.inputs = arenas.tensor(arenas.memory.step, {TensorKind::activations, 0}, rows * arenas.stride(0));
    result.dSums = arenas.tensor(arenas.memory.step, {TensorKind::dSums, 0}, rows * arenas.stride(1));
    return result;
}

void checkSame(const Trained& one, const Trained& other) {
    CHECK(one.losses == other.losses);
    CHECK(one.parameters == other.parameters);
    CHECK(one.inputs == other.inputs);
    CHECK(one.dSums == other.dSums);
    CHECK(one.failedStep == other.failedStep);
}

const std::vector<Operation> everything(std::begin(joinedOperations), std::end(joinedOperations));

} // namespace

TEST_CASE("a step of 784-256-128-10 has five dispatches and five barriers where it had ten and eight") {
    const Dataset data = pixelData(784, 10, 300);
    TrainJob job = jobFor(data, {256, 128});
    job.settings.batch = 2; // with more, a busy machine takes so long that dispatches are cut
    const Trained apart = trainWith(job, Rung::fused, {}, 3);
    CHECK(apart.dispatches == 10);
    CHECK(apart.barriers == 8);
    const Trained together = trainWith(job, Rung::fused, everything, 3);
    CHECK(together.dispatches == 5);
    CHECK(together.barriers == 5);
    checkSame(apart, together);
}

TEST_CASE(
    "each fusion alone, and all: the same bits for every loss, activation, optimizer and awkward batch") {
    const Dataset classes = classData();
    const Dataset pixels = pixelData(37, 5, 300);
    const Dataset values = valueData();
    struct Case {
        const Dataset* data;
        std::vector<std::size_t> hidden;
        Loss loss;
        Activation activation;
        Optimizer optimizer;
        std::size_t batch;
    };
    const Case cases[] = {
        {&classes, {33, 13}, Loss::crossEntropy, Activation::relu, Optimizer::adam, 10},
        {&classes, {5}, Loss::crossEntropy, Activation::gelu, Optimizer::sgd, 7},
        {&classes, {33, 13, 9}, Loss::binaryCrossEntropy, Activation::tanh, Optimizer::momentum, 64},
        {&values, {12, 65}, Loss::huber, Activation::silu, Optimizer::rmsprop, 33},
        {&values, {40}, Loss::meanSquared, Activation::sigmoid, Optimizer::adamw, 1},
        {&pixels, {70, 31}, Loss::crossEntropy, Activation::leakyRelu, Optimizer::adam, 300},
    };
    for (const Case& each : cases) {
        TrainJob job = jobFor(*each.data, each.hidden);
        job.shape.loss = each.loss;
        job.shape.activation = each.activation;
        job.settings.optimizer.kind = each.optimizer;
        job.settings.batch = each.batch;
        CAPTURE(name(each.loss));
        CAPTURE(name(each.activation));
        CAPTURE(each.batch);
        const Trained apart = trainWith(job, Rung::fused, {}, 5);
        std::vector<std::vector<Operation>> choices{everything};
        for (const Operation fusion : joinedOperations) choices.push_back({fusion});
        for (const std::vector<Operation>& choice : choices) {
            CAPTURE(name(choice.front()));
            CAPTURE(choice.size());
            checkSame(apart, trainWith(job, Rung::fused, choice, 5));
        }
    }
}

TEST_CASE("pipelined kernels, and those that share sums: the same bits fused or not, tiled or pipelined") {
    const Dataset data = pixelData(101, 5, 300);
    TrainJob job = jobFor(data, {33, 13});
    job.settings.batch = 37;
    for (const std::uint32_t slices : {1u, 4u}) {
        CAPTURE(slices);
        const ProductKernel tiled{Rung::tiled, 4, 4, 4, 4, 16, 0, false, slices};
        const ProductKernel pipelined{Rung::pipelined, 4, 4, 4, 4, 8, 0, false, slices};
        const Trained expected = trainWith(job, Rung::fused, {}, 5, tiled, tiled);
        checkSame(expected, trainWith(job, Rung::fused, {}, 5, pipelined, pipelined));
        checkSame(expected, trainWith(job, Rung::fused, {Operation::gatheredDense}, 5, pipelined, pipelined));
        if (slices == 1)
            checkSame(expected, trainWith(job, Rung::fused, everything, 5, pipelined, pipelined));
    }
}

TEST_CASE("a loss that is not finite stops the fused step, too, with the weights it had") {
    const Dataset data = classData();
    TrainJob job = jobFor(data, {33, 13});
    job.settings.optimizer.kind = Optimizer::sgd;
    job.settings.optimizer.learningRate = 1e6;
    const Trained apart = trainWith(job, Rung::fused, {}, 30);
    const Trained together = trainWith(job, Rung::fused, everything, 30);
    CHECK(apart.failedStep < 30);
    CHECK(together.failedStep == apart.failedStep);
    CHECK(together.parameters == apart.parameters);
}

TEST_CASE("what cannot be fused says so") {
    const Dataset data = classData();
    const TrainJob job = jobFor(data, {33, 13});
    gpu::Device& device = testDevice();
    Kernels kernels(device);
    std::deque<GpuArenas> arenas;
    const auto fusionsOf = [&](Rung rung) {
        const StepKernels how =
            chooseKernels(device, kernels, rung, job.shape, job.settings.optimizer.kind, 10);
        arenas.emplace_back(device, job, GpuMemory(device, job, rung, how));
        return StepFusions(kernels, arenas.back(), job.settings, how);
    };
    CHECK_FALSE(fusionsOf(Rung::blocked).possible(Operation::weightGradients)); // gradients are to be seen
    CHECK(fusionsOf(Rung::blocked).possible(Operation::lastLayer));
    StepFusions half = fusionsOf(Rung::half);
    for (const Operation fusion : joinedOperations) {
        CHECK_FALSE(half.possible(fusion));
        CHECK_THROWS_AS(half.set(fusion, true), std::logic_error);
        CHECK_NOTHROW(half.set(fusion, false));
    }
}
