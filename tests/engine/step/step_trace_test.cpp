// A traced step is a step like any other, told in order: the same bits as run(1), times that fit, and tensors
// that satisfy the formulas they stand for.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "engine/net/param_layout.h"
#include "engine/run/make_trainer.h"
#include "engine/step/step_trace.h"
#include "tests/sanitized.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

std::vector<std::unique_ptr<Trainer>> trainersFor(const TrainJob& job) {
    std::vector<std::unique_ptr<Trainer>> trainers;
    for (const CpuRung& rung : cpuRungs) trainers.push_back(makeCpuTrainer(job, rung.name, rung.threads));
    for (const char* rung :
         {"one", "naive-strided", "naive", "tiled", "pipelined", "blocked", "texel", "subgroup"}) {
        // On the host, rungs differ by whether they work in pieces, and read texels.
        if (sanitized && rung != std::string_view("one") && rung != std::string_view("texel")) continue;
        trainers.push_back(makeGpuTrainer(job, rung, testDevice()));
    }
    return trainers;
}

std::vector<LossPoint> lossesOf(Trainer& trainer) {
    std::vector<LossPoint> losses;
    trainer.finish();
    trainer.takeLosses(losses);
    return losses;
}

std::string called(const Trainer& trainer) {
    return trainer.machine().device + ", " + trainer.machine().kernels;
}

std::size_t count(const StepTrace& trace, std::string_view operation) {
    return static_cast<std::size_t>(std::ranges::count(trace.operations, operation, &TracedOperation::name));
}

/// The largest |A[l + 1] - relu(A[l] W^T + b)| of a layer.
double forwardError(const StepTrace& trace, std::size_t layer, bool relu) {
    const TracedTensor& in = *trace.find({TensorKind::activations, layer});
    const TracedTensor& out = *trace.find({TensorKind::activations, layer + 1});
    const TracedTensor& weights = *trace.find({TensorKind::weights, layer});
    const TracedTensor& bias = *trace.find({TensorKind::bias, layer});
    double largest = 0;
    for (std::size_t row = 0; row < out.rows; ++row)
        for (std::size_t o = 0; o < out.columns; ++o) {
            double sum = static_cast<double>(bias.values[o]);
            for (std::size_t i = 0; i < in.columns; ++i)
                sum += static_cast<double>(in.values[row * in.columns + i]) *
                       static_cast<double>(weights.values[o * in.columns + i]);
            if (relu) sum = std::max(sum, 0.0);
            largest =
                std::max(largest, std::abs(sum - static_cast<double>(out.values[row * out.columns + o])));
        }
    return largest;
}

} // namespace

TEST_CASE("a traced step trains to the same bits as an untraced one") {
    const Dataset data = classData();
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::adam}) {
        TrainJob job = largeJob(data);
        job.settings.optimizer.kind = optimizer;
        const auto plain = trainersFor(job);
        const auto traced = trainersFor(job);
        for (std::size_t i = 0; i < plain.size(); ++i) {
            CAPTURE(called(*plain[i]));
            plain[i]->run(3);
            const StepTrace first = traced[i]->traceStep({});
            traced[i]->run(1);
            traced[i]->finish();
            const StepTrace third = traced[i]->traceStep({.tensors = false});
            CHECK(sameBits(plain[i]->state(), traced[i]->state()));
            CHECK(first.step == 0);
            CHECK(third.step == 2);
            std::vector<LossPoint> expected;
            std::vector<LossPoint> losses;
            plain[i]->finish();
            plain[i]->takeLosses(expected);
            traced[i]->takeLosses(losses);
            REQUIRE(losses.size() == 3);
            CHECK(lossDistance(losses, expected) == 0);
            CHECK(first.loss == losses[0].loss);
            CHECK(third.loss == losses[2].loss);
            CHECK(third.tensors.empty());
        }
    }
}

TEST_CASE("operations come in the order of the recipe, with times that fit into the step") {
    const Dataset data = classData();
    TrainJob job = largeJob(data);
    const std::size_t layers = job.shape.layers();
    for (const auto& trainer : trainersFor(job)) {
        CAPTURE(called(*trainer));
        const StepTrace trace = trainer->traceStep({.tensors = false});
        CHECK(count(trace, "gather_batch") == 1);
        CHECK(count(trace, "dense") == layers);
        CHECK(count(trace, "loss_and_gradient") >= 1);
        CHECK(count(trace, "dense_backward_inputs") == layers - 1);
        CHECK(count(trace, "dense_backward_weights") == layers);
        CHECK(count(trace, "update") == 1); // adam is never folded
        CHECK(trace.operations.front().name() == "gather_batch");
        CHECK(trace.operations.back().name() == "update");
        CHECK(trace.operations[2].layer == 1);
        CHECK(trace.operations.back().flops > 0);
        REQUIRE(trace.timed);
        double end = 0;
        for (const TracedOperation& operation : trace.operations) {
            CAPTURE(operation.name());
            CHECK(operation.beginMs >= 0);
            CHECK(operation.endMs > operation.beginMs);
            if (operation.barrierBefore || !trace.machine.gpu) CHECK(operation.beginMs >= end);
            end = std::max(end, operation.endMs);
            CHECK(!operation.shapes.empty());
            CHECK(operation.source.empty() == !trace.machine.gpu);
        }
        CHECK(end <= trace.totalMs * 1.0001);
        CHECK(trace.totalMs <= trace.wallMs * 1.05);
    }
}

TEST_CASE("barriers are noted where they were needed") {
    const Dataset data = classData();
    const StepTrace gpu =
        makeGpuTrainer(largeJob(data), "naive", testDevice())->traceStep({.tensors = false});
    // Every layer reads what the one before wrote.
    CHECK_FALSE(gpu.operations[0].barrierBefore);
    for (std::size_t i = 1; i <= 4; ++i) CHECK(gpu.operations[i].barrierBefore);
    // dZ[0] is computed from dZ[1].
    for (std::size_t i = 5; i <= 6; ++i) {
        REQUIRE(gpu.operations[i].name() == "dense_backward_inputs");
        CHECK(gpu.operations[i].barrierBefore);
    }
    // dW[2] and dW[1] need dZ[2] and dZ[1], which are there by now; only dW[0] waits for dZ[0].
    for (std::size_t i = 7; i <= 9; ++i) {
        REQUIRE(gpu.operations[i].name() == "dense_backward_weights");
        CHECK(gpu.operations[i].barrierBefore == (i == 9));
    }

    for (const std::size_t threads : {1, 2}) {
        const StepTrace cpu = makeCpuTrainer(largeJob(data), "best", threads)->traceStep({.tensors = false});
        std::size_t barriers = 0;
        for (const TracedOperation& operation : cpu.operations) barriers += operation.barrierBefore ? 1 : 0;
        CHECK(barriers == (threads > 1 ? 1 : 0)); // before the weight gradients
    }
}

TEST_CASE("tensors satisfy the formulas, and are the same on every machine") {
    const Dataset data = classData(); // widths that are no multiples of four, so that there is padding
    TrainJob job = jobFor(data, {33, 13});
    const StepTrace reference = makeCpuTrainer(job, "scalar", 1)->traceStep({});
    for (const auto& trainer : trainersFor(job)) {
        CAPTURE(called(*trainer));
        const StepTrace trace = trainer->traceStep({});
        for (std::size_t layer = 0; layer < job.shape.layers(); ++layer)
            CHECK(forwardError(trace, layer, layer + 1 < job.shape.layers()) < 1e-4);
        CHECK(trace.tensors.size() == reference.tensors.size());
        for (const auto& [id, expected] : reference.tensors) {
            const std::string called = name(id);
            CAPTURE(called);
            const TracedTensor* tensor = trace.find(id);
            REQUIRE(tensor != nullptr);
            CHECK(tensor->rows == expected.rows);
            CHECK(tensor->columns == expected.columns);
            CHECK(tensor->keptRows() == expected.rows);
            REQUIRE(tensor->values.size() == expected.values.size());
            double largest = 0;
            for (std::size_t i = 0; i < expected.values.size(); ++i)
                largest =
                    std::max(largest, std::abs(static_cast<double>(tensor->values[i] - expected.values[i])));
            // Adam's first step divides gradients by their own size: rounding near 0 is magnified there.
            CHECK(largest < (id.updated ? 2e-3 : 1e-4));
        }
        CHECK(trace.find({TensorKind::weights, 0})->values !=
              trace.find({TensorKind::weights, 0, true})->values);
        CHECK(trace.find({TensorKind::targets})->values[0] < static_cast<float>(data.classes));
    }
}

TEST_CASE("a folded update has no gradients to show, and says so") {
    const Dataset data = classData();
    TrainJob job = jobFor(data, {33});
    job.settings.optimizer.kind = Optimizer::sgd;
    const StepTrace folded = makeCpuTrainer(job, "best", 1)->traceStep({});
    const StepTrace plain = makeCpuTrainer(job, "scalar", 1)->traceStep({});
    CHECK(count(folded, "update") == 0);
    CHECK(folded.find({TensorKind::dWeights, 0}) == nullptr);
    CHECK(folded.operations.back().shapes.find("fused in") != std::string::npos);
    CHECK(count(plain, "update") == 1);
    const std::vector<float>& a = folded.find({TensorKind::weights, 0, true})->values;
    const std::vector<float>& b = plain.find({TensorKind::weights, 0, true})->values;
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == doctest::Approx(b[i]).epsilon(1e-4));
}

TEST_CASE("half precision: tensors are traced as floats, gradients without the scale of the loss") {
    const Dataset data = classData();
    for (const Activation activation : {Activation::relu, Activation::gelu}) {
        TrainJob job = jobFor(data, {33, 13});
        job.shape.activation = activation;
        const StepTrace plain = makeGpuTrainer(job, "naive", testDevice())->traceStep({});
        const StepTrace half = makeGpuTrainer(job, "half", testDevice())->traceStep({});
        CHECK(half.half);
        CHECK_FALSE(plain.half);
        REQUIRE(count(half, "update") == 2);
        CHECK(half.operations.end()[-2].source == "loss_scale");
        CHECK(half.operations.back().source == "update_half");
        CHECK(half.tensors.size() == plain.tensors.size());
        for (const auto& [tensorId, tensor] : plain.tensors) {
            const TensorId id = tensorId;
            CAPTURE(name(id));
            const TracedTensor* other = half.find(id);
            REQUIRE(other != nullptr);
            REQUIRE(other->values.size() == tensor.values.size());
            float largest = 0;
            for (const float value : tensor.values) largest = std::max(largest, std::abs(value));
            for (std::size_t i = 0; i < tensor.values.size(); ++i)
                if (!id.updated) CHECK(std::abs(other->values[i] - tensor.values[i]) <= 0.02f * largest);
        }
    }
}

TEST_CASE("what a graphics card folds or does as a whole is traced as that, to the same bits") {
    const Dataset data = classData();
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adamw})
        for (const char* rung : {"fused", "whole-step", "best"}) {
            CAPTURE(rung);
            CAPTURE(name(optimizer));
            TrainJob job = jobFor(data, {33, 13});
            job.settings.optimizer.kind = optimizer;
            const auto plain = makeGpuTrainer(job, "naive", testDevice());
            const auto traced = makeGpuTrainer(job, rung, testDevice());
            plain->run(2);
            traced->run(1);
            traced->finish();
            const StepTrace trace = traced->traceStep({});
            CHECK(sameBits(plain->state(), traced->state()));
            CHECK(trace.loss == lossesOf(*plain).back().loss);
            CHECK(count(trace, "update") == (std::string_view(rung) == "best" ? count(trace, "update") : 0));
            if (std::string_view(rung) == "fused") CHECK(count(trace, "dense_backward_weights") == 3);
            if (std::string_view(rung) == "whole-step") CHECK(trace.operations.size() == 1);
            const TrainerState state = traced->state();
            for (std::size_t layer = 0; layer < 3; ++layer) {
                const TracedTensor* updated = trace.find({TensorKind::weights, layer, true});
                REQUIRE(updated != nullptr);
                const LayerLayout place = ParamLayout(job.shape).layer(layer);
                CHECK(updated->values[0] == state.parameters[place.weightOffset]);
                if (optimizer == Optimizer::adamw)
                    CHECK(trace.find({TensorKind::biasState2, layer, true}) != nullptr);
            }
        }
}

TEST_CASE("large tensors are cut to their first rows, at least one") {
    const Dataset data = classData();
    const TrainJob job = jobFor(data, {33});
    for (const auto& trainer : trainersFor(job)) {
        const StepTrace trace = trainer->traceStep({.mostValues = 70});
        const TracedTensor& hidden = *trace.find({TensorKind::activations, 1});
        CHECK(hidden.rows == 32);
        CHECK(hidden.keptRows() == 2);
        CHECK(trainer->traceStep({.mostValues = 1}).find({TensorKind::activations, 1})->keptRows() == 1);
    }
}

TEST_CASE("sums are kept where the derivative needs them; values as targets") {
    const Dataset data = valueData();
    TrainJob job = jobFor(data, {9});
    job.shape.activation = Activation::gelu;
    job.shape.loss = Loss::meanSquared;
    const auto cpu = makeCpuTrainer(job, "scalar", 1)->traceStep({});
    const auto gpu = makeGpuTrainer(job, "blocked", testDevice())->traceStep({});
    for (const StepTrace* trace : {&cpu, &gpu}) {
        CHECK(trace->find({TensorKind::sums, 0}) != nullptr);
        CHECK(trace->find({TensorKind::targets})->columns == 2);
    }
    CHECK(cpu.find({TensorKind::targets})->values == gpu.find({TensorKind::targets})->values);
    CHECK(cpu.loss == doctest::Approx(gpu.loss).epsilon(1e-5));
}

TEST_CASE("a loss that is not finite is an error with its step") {
    const Dataset data = classData();
    const TrainJob job = jobFor(data, {33});
    for (const auto& trainer : trainersFor(job)) {
        CAPTURE(called(*trainer));
        TrainerState state = trainer->state();
        state.parameters[0] = std::numeric_limits<float>::quiet_NaN();
        trainer->restore(state);
        CHECK_THROWS_AS(trainer->traceStep({}), NonFiniteError);
        CHECK_THROWS_AS(trainer->traceStep({}), NonFiniteError);
    }
}
