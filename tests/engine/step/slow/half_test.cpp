// Half precision: its numbers, its kernels against the plain twin, training with it, and the scale of the
// loss.
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/net/float_formats.h"
#include "engine/net/random.h"
#include "engine/run/checkpoint.h"
#include "engine/run/make_trainer.h"
#include "engine/run/race.h"
#include "engine/step/kernels.h"
#include "engine/step/step_trace.h"
#include "engine/tune/kernel_trial.h"
#include "engine/tune/product_candidates.h"
#include "tests/data_files.h"
#include "tests/sanitized.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

constexpr Product products[] = {Product::forward, Product::backwardInputs, Product::backwardWeights};
constexpr std::string_view half = "half";

DenseShape shapeOf(std::size_t rows, std::size_t inputs, std::size_t outputs) {
    return {rows, inputs, outputs, roundUpToFour(inputs), roundUpToFour(outputs)};
}

// Those that software would not choose, too.
std::vector<ProductKernel> smallKernels() {
    std::vector<ProductKernel> kernels{
        {Rung::tiled, 8, 4, 4, 4, 8}, {Rung::tiled, 8, 8, 2, 8, 16}, {Rung::texel, 8, 4, 4, 4}};
    for (ProductKernel& kernel : kernels) kernel.half = true;
    return kernels;
}

void checkAll(gpu::Device& device, Kernels& kernels, Product product, const DenseShape& shape,
              Activation activation, const std::vector<ProductKernel>& all) {
    ProductTrial trial(device, product, shape, activation, scalarKernels(), true);
    for (const ProductKernel& candidate : all) {
        const TrialResult result = trial.measure(kernels.dense(product, candidate, activation), 0);
        INFO(std::string(name(product)), " ", shape.rows, "x", shape.inputs, "x", shape.outputs, " ",
             std::string(name(activation)), " ", candidate.describe(), ": difference ",
             result.largestDifference, " of ", result.tolerance);
        CHECK(result.verified());
    }
}

std::vector<LossPoint> trainOnCpu(const TrainJob& job, std::uint64_t steps) {
    return train(*makeCpuTrainer(job, "scalar", 1), steps);
}

// Targets so large that gradients, 32,768 times as large, are beyond what a half can be.
Dataset steepData() {
    Dataset data = valueData();
    for (float& target : data.train.targets) target = 3000 + 1000 * target;
    return data;
}

} // namespace

TEST_CASE("every half is a float and comes back; between two halves the nearer one is taken") {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const float value = fromFloat16(static_cast<std::uint16_t>(bits));
        if (std::isnan(value))
            CHECK(std::isnan(fromFloat16(toFloat16(value))));
        else
            REQUIRE(toFloat16(value) == bits);
    }
    for (std::uint16_t below = 0; below < 0x7BFF; ++below) { // positive, up to the largest
        const float low = fromFloat16(below);
        const float high = fromFloat16(below + 1);
        const float middle = low + (high - low) / 2; // exact
        const std::uint16_t even = below % 2 == 0 ? below : below + 1;
        REQUIRE(toFloat16(middle) == even);
        REQUIRE(toFloat16(std::nextafter(middle, 0.0f)) == below);
        REQUIRE(toFloat16(std::nextafter(middle, high)) == below + 1);
        REQUIRE(toFloat16(-middle) == (even | 0x8000));
    }
    CHECK(fromFloat16(toFloat16(65519.99f)) == 65504.0f);
    CHECK(std::isinf(fromFloat16(toFloat16(65520.0f))));
    CHECK(std::isinf(fromFloat16(toFloat16(std::numeric_limits<float>::max()))));
    CHECK(toFloat16(std::numeric_limits<float>::denorm_min()) == 0);
}

TEST_CASE("kernels of half precision: awkward shapes") {
    Kernels kernels(testDevice());
    for (const Product product : products) {
        const DenseShape wide = shapeOf(127, 784, 256); // no tile is larger
        checkAll(testDevice(), kernels, product, wide, Activation::relu,
                 halfCandidates(testDevice(), product, wide));
        for (const std::size_t rows : {1, 7, 33, 127})
            for (const auto& [inputs, outputs] : {std::pair<std::size_t, std::size_t>{1, 1},
                                                  {7, 33},
                                                  {33, 7},
                                                  {127, 1},
                                                  {1, 127},
                                                  {784, 33},
                                                  {64, 64}})
                checkAll(testDevice(), kernels, product, shapeOf(rows, inputs, outputs), Activation::relu,
                         smallKernels());
    }
}

TEST_CASE("kernels of half precision: every activation, and the smallest limits that Vulkan allows") {
    gpu::DeviceOptions options = testDeviceOptions();
    options.minimumLimits = true;
    gpu::Device device(options);
    Kernels kernels(device);
    for (const Product product : {Product::forward, Product::backwardInputs})
        for (const Activation activation : allActivations)
            checkAll(device, kernels, product, shapeOf(33, 65, 31), activation, smallKernels());
}

TEST_CASE("cooperative matrices: right where the device has them, else refused with the reason") {
    const Dataset pixels = pixelData(784, 10, 300);
    TrainJob job = jobFor(pixels, {33, 13});
    job.settings.optimizer.kind = Optimizer::sgd;
    job.settings.optimizer.learningRate = 0.05;
    if (testDevice().limits().matrixTiles.tile().m == 0) {
        CHECK_THROWS_WITH(makeGpuTrainer(job, "matrix", testDevice()),
                          doctest::Contains("it needs cooperative matrices"));
        return;
    }
    Kernels kernels(testDevice());
    for (const Product product : products)
        for (const auto& [rows, inputs, outputs] : {std::array<std::size_t, 3>{1, 1, 1},
                                                    {7, 33, 13},
                                                    {33, 784, 33},
                                                    {127, 64, 64},
                                                    {300, 31, 10}}) {
            const DenseShape shape = shapeOf(rows, inputs, outputs);
            std::vector<ProductKernel> all = halfCandidates(testDevice(), product, shape);
            std::erase_if(all, [](const ProductKernel& kernel) { return kernel.rung != Rung::matrix; });
            CHECK(all.size() > 1);
            for (const Activation activation : {Activation::relu, Activation::gelu})
                checkAll(testDevice(), kernels, product, shape, activation, all);
        }
    const auto trainer = makeGpuTrainer(job, "matrix", testDevice());
    const std::vector<LossPoint> losses = train(*trainer, 20);
    CHECK(lossDistance(losses, trainOnCpu(job, 20)) < Agreement::halfTolerance);
    const auto again = makeGpuTrainer(job, "matrix", testDevice());
    train(*again, 20);
    CHECK(sameBits(trainer->state(), again->state()));
}

TEST_CASE("the batch is rounded to the nearest halves, on any device the same") {
    Dataset data = classData(5, 3, 40);
    for (std::size_t at = 0; at < data.train.values.size(); ++at)
        data.train.values[at] *= std::ldexp(1.0f, static_cast<int>(at % 37) - 24); // down to where halves end
    TrainJob job = jobFor(data, {8});
    job.settings.batch = 40;
    job.settings.shuffle = false;
    const StepTrace trace = makeGpuTrainer(job, half, testDevice())->traceStep({});
    const TracedTensor* inputs = trace.find({TensorKind::activations, 0});
    REQUIRE(inputs != nullptr);
    REQUIRE(inputs->values.size() == data.train.values.size());
    for (std::size_t at = 0; at < inputs->values.size(); ++at)
        CHECK(inputs->values[at] == fromFloat16(toFloat16(data.train.values[at])));
}

TEST_CASE("losses are those of floats, within the tolerance of half precision, and repeat to the bit") {
    const Dataset classes = classData();
    const Dataset pixels = pixelData(784, 10, 300);
    const Dataset values = valueData();
    struct Case {
        const Dataset* data;
        Activation activation;
        Loss loss;
        Optimizer optimizer;
        std::size_t batch;
    };
    double largest = 0; // of the first steps, relative
    int number = 0;
    for (const Case& each :
         {Case{&classes, Activation::relu, Loss::crossEntropy, Optimizer::sgd, 10},
          Case{&pixels, Activation::relu, Loss::crossEntropy, Optimizer::adam, 33},
          Case{&pixels, Activation::tanh, Loss::crossEntropy, Optimizer::sgd, 1},
          Case{&pixels, Activation::leakyRelu, Loss::binaryCrossEntropy, Optimizer::momentum, 300},
          Case{&values, Activation::gelu, Loss::huber, Optimizer::adamw, 33},
          Case{&values, Activation::silu, Loss::meanSquared, Optimizer::rmsprop, 10},
          Case{&classes, Activation::sigmoid, Loss::meanSquared, Optimizer::adam, 100},
          Case{&classes, Activation::elu, Loss::crossEntropy, Optimizer::sgd, 7}}) {
        if (sanitized && number++ % 4 != 0) continue;
        TrainJob job = jobFor(*each.data, {33, 13});
        job.shape.activation = each.activation;
        job.shape.loss = each.loss;
        job.settings.batch = each.batch;
        job.settings.optimizer.kind = each.optimizer;
        job.settings.optimizer.learningRate = each.optimizer == Optimizer::sgd ? 0.05 : 0.003;
        CAPTURE(name(each.activation));
        CAPTURE(name(each.loss));
        const auto trainer = makeGpuTrainer(job, half, testDevice());
        const std::vector<LossPoint> losses = train(*trainer, 50);
        const std::vector<LossPoint> reference = trainOnCpu(job, 50);
        CHECK(losses.back().loss < losses.front().loss);
        CHECK(lossDistance({losses.front()}, {reference.front()}) < 3e-3); // nothing but one step's rounding
        const auto first = [](const std::vector<LossPoint>& points) {
            return std::vector<LossPoint>(points.begin(), points.begin() + Agreement::decisiveSteps);
        };
        const double distance = lossDistance(first(losses), first(reference));
        CHECK(distance < Agreement::halfTolerance);
        CHECK(distance > 0); // else it would not be half precision
        largest = std::max(largest, distance);
        const auto again = makeGpuTrainer(job, half, testDevice());
        train(*again, 50);
        CHECK(sameBits(trainer->state(), again->state()));
        // The parameters are floats: evaluated like anybody else's.
        const auto other = makeGpuTrainer(job, "naive", testDevice());
        other->restore(trainer->state());
        CHECK(std::abs(other->evaluate(Split::test).loss - trainer->evaluate(Split::test).loss) < 1e-6);
    }
    MESSAGE("largest relative difference of the first losses from cpu:scalar's: ", largest);
}

TEST_CASE("a run that is taken up again goes on as it would have") {
    const Dataset data = classData();
    const TrainJob job = jobFor(data, {33, 13});
    const auto whole = makeGpuTrainer(job, half, testDevice());
    train(*whole, 60);
    const auto first = makeGpuTrainer(job, half, testDevice());
    train(*first, 25);
    const auto second = makeGpuTrainer(job, half, testDevice());
    second->restore(first->state());
    train(*second, 35);
    CHECK(sameBits(whole->state(), second->state()));
}

TEST_CASE(
    "a step whose gradients overflow changes nothing; the scale of the loss is halved until they do not") {
    const Dataset data = steepData();
    TrainJob job = jobFor(data, {9});
    job.shape.loss = Loss::meanSquared;
    job.shape.activation = Activation::identity;
    job.settings.batch = data.train.count; // every step sees everything
    job.settings.optimizer.kind = Optimizer::sgd;
    job.settings.optimizer.learningRate = 1e-4;
    const auto trainer = makeGpuTrainer(job, half, testDevice());
    const TrainerState before = trainer->state();
    std::vector<LossPoint> losses = train(*trainer, 1);
    CHECK(trainer->state().parameters == before.parameters);
    const auto more = train(*trainer, 19);
    losses.insert(losses.end(), more.begin(), more.end());
    const auto unchanged = static_cast<std::size_t>(
        std::ranges::count_if(losses, [&](const LossPoint& point) { return point.loss == losses[0].loss; }));
    CHECK(unchanged > 1);
    CHECK(unchanged < 15); // 2^15 can be halved fifteen times
    CHECK(losses.back().loss < losses.front().loss);
    for (const float parameter : trainer->state().parameters) REQUIRE(std::isfinite(parameter));
}

TEST_CASE("a run that was taken up again scales its loss as it would have, from a checkpoint, too") {
    const Dataset data = steepData();
    TrainJob job = jobFor(data, {9});
    job.shape.loss = Loss::meanSquared;
    job.settings.optimizer.kind = Optimizer::sgd;
    job.settings.optimizer.learningRate = 1e-7;
    const auto whole = makeGpuTrainer(job, half, testDevice());
    train(*whole, 40);
    const auto first = makeGpuTrainer(job, half, testDevice());
    train(*first, 25);
    CHECK(first->skippedSteps() > 2);
    const TemporaryFolder folder;
    saveCheckpoint(folder.path() / "run.safetensors", {.dataSpec = "steep",
                                                       .dataOptions = {},
                                                       .lane = "gpu:half",
                                                       .shape = job.shape,
                                                       .settings = job.settings,
                                                       .state = first->state()});
    const Checkpoint saved = loadCheckpoint(folder.path() / "run.safetensors");
    CHECK(saved.state.lossScaling == first->state().lossScaling);
    const auto second = makeGpuTrainer(job, half, testDevice());
    second->restore(saved.state);
    train(*second, 15);
    CHECK(sameBits(whole->state(), second->state()));
    CHECK(whole->skippedSteps() == second->skippedSteps());
}

TEST_CASE("gradients that overflow without any scale are scaled down") {
    Dataset data = valueData();
    for (float& target : data.train.targets) target = 2e5f;
    TrainJob job = jobFor(data, {});
    job.shape.loss = Loss::meanSquared;
    job.settings.batch = 1;
    job.settings.optimizer.kind = Optimizer::sgd;
    job.settings.optimizer.learningRate = 1e-3;
    const auto trainer = makeGpuTrainer(job, half, testDevice());
    const std::vector<LossPoint> losses = train(*trainer, 60);
    CHECK(trainer->state().lossScaling.scale < 1);
    CHECK(losses.back().loss < 0.99f * losses.front().loss);
}

TEST_CASE("numbers beyond 65504 end the run, and the place is named") {
    const auto place = [](float example, double initialScale) -> std::string {
        Dataset data = classData();
        data.train.values[3] = example;
        TrainJob job = jobFor(data, {9});
        job.settings.batch = data.train.count;
        job.settings.seed = 1;
        const auto trainer = makeGpuTrainer(job, half, testDevice());
        TrainerState state = trainer->state();
        for (float& parameter : state.parameters) parameter *= static_cast<float>(initialScale);
        trainer->restore(state);
        try {
            train(*trainer, 3);
        } catch (const NonFiniteError& error) {
            return error.what();
        }
        return "";
    };
    CHECK(place(60000, 1e-3).empty());
    CHECK(place(1e5f, 1e-3).find("(or exceeds the fp16 maximum, 65504) is the inputs of example 0") !=
          std::string::npos);
    CHECK(place(6e4f, 100).find("layer 1 (7 -> 9): its outputs") != std::string::npos);
    CHECK(place(1, 1e6).find("layer 1 (7 -> 9): its weights") != std::string::npos);
}
