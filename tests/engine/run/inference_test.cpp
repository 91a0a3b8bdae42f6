// Inference without a data set: outputs are a trainer's predictions, on every rung, for any number of rows.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "engine/net/activation.h"
#include "engine/net/param_layout.h"
#include "engine/run/inference.h"
#include "tests/sanitized.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

/// So many rows of the network's inputs: those of the data set's training split.
std::vector<float> rowsOf(const Dataset& data, std::size_t rows) {
    return inputsOf(data, Split::train, 0, rows);
}

/// The largest difference, relative to numbers above 1.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
    REQUIRE(a.size() == b.size());
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])) /
                                        std::max(1.0, std::abs(static_cast<double>(b[i]))));
    return largest;
}

std::unique_ptr<Inference> on(std::string_view lane, const NetShape& shape,
                              const std::vector<float>& weights) {
    return makeInference(shape, weights, laneSpecFromText(lane), {.threads = 2}, &testDevice());
}

/// Kernels add in other orders, and with or without fused multiply-adds.
constexpr double rounding = 4e-6;

/// The forward pass by its formulas, in double: A[l + 1] = f(A[l] W^T + b).
std::vector<float> byFormulas(const NetShape& shape, const std::vector<float>& weights,
                              const std::vector<float>& inputs) {
    const ParamLayout layout(shape);
    std::vector<float> outputs;
    for (std::size_t row = 0; row < inputs.size() / shape.inputs(); ++row) {
        std::vector<double> values(inputs.begin() + static_cast<std::ptrdiff_t>(row * shape.inputs()),
                                   inputs.begin() + static_cast<std::ptrdiff_t>((row + 1) * shape.inputs()));
        for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
            const LayerLayout& place = layout.layer(layer);
            std::vector<double> above;
            for (std::size_t o = 0; o < place.outputs; ++o) {
                double z = weights[place.biasOffset + o];
                for (std::size_t i = 0; i < place.inputs; ++i)
                    z += values[i] * weights[place.weightOffset + o * place.rowStride + i];
                above.push_back(activate(shape.activationOf(layer), z));
            }
            values = above;
        }
        for (const double value : values) outputs.push_back(static_cast<float>(value));
    }
    return outputs;
}

/// Compares with the predictions of the plain loops, after some steps.
void requireSame(const TrainJob& job, const std::vector<std::string_view>& lanes) {
    const auto trainer = makeCpuTrainer(job, "scalar", 1);
    train(*trainer, 5);
    const std::vector<float> weights = trainer->state().parameters;
    for (const std::string_view lane : lanes) {
        CAPTURE(lane);
        const auto network = on(lane, job.shape, weights);
        for (const std::size_t rows : {1, 3, 1000}) {
            CAPTURE(rows);
            const std::vector<float> expected = byFormulas(job.shape, weights, rowsOf(*job.data, rows));
            CHECK(distance(network->outputs(rowsOf(*job.data, rows)), expected) < rounding);
        }
    }
}

const std::vector<std::string_view> cpuLanes{"cpu:scalar", "cpu:simd", "cpu:threads", "cpu:best"};
// On the host, many rungs are the same code.
const std::vector<std::string_view> gpuLanes =
    sanitized
        ? std::vector<std::string_view>{"gpu:one", "gpu:texel", "gpu:half", "gpu:whole-step"}
        : std::vector<std::string_view>{"gpu:one",     "gpu:naive",      "gpu:tiled",    "gpu:pipelined",
                                        "gpu:blocked", "gpu:texel",      "gpu:subgroup", "gpu:fused",
                                        "gpu:half",    "gpu:whole-step", "gpu:best"};

} // namespace

TEST_CASE("all rungs, for several shapes") {
    const Dataset data = classData(33, 5, 1000);
    for (const std::vector<std::size_t>& hidden :
         {std::vector<std::size_t>{}, std::vector<std::size_t>{7}, std::vector<std::size_t>{127, 64, 1}}) {
        CAPTURE(hidden.size());
        const TrainJob job = jobFor(data, hidden);
        requireSame(job, cpuLanes);
        requireSame(job, gpuLanes);
    }
}

TEST_CASE("the same numbers as a trainer on the same lane") {
    const Dataset data = classData(33, 5, 1000);
    const TrainJob job = jobFor(data, {127, 64});
    std::vector<std::string_view> lanes = cpuLanes;
    lanes.insert(lanes.end(), gpuLanes.begin(), gpuLanes.end());
    for (const std::string_view lane : lanes) {
        if (lane == "gpu:whole-step") continue; // for smaller networks
        CAPTURE(lane);
        const auto trainer = makeTrainer(job, laneSpecFromText(lane), {.threads = 2}, &testDevice());
        trainer->run(3);
        const auto network = on(lane, job.shape, trainer->state().parameters);
        CHECK(distance(network->outputs(rowsOf(data, 1000)), trainer->predict(Split::train, 0, 1000)) < 1e-6);
    }
}

TEST_CASE("every activation, hidden and after the last layer") {
    Dataset data = classData(7, 3, 1000);
    TrainJob job = jobFor(data, {17, 9});
    job.shape.loss = Loss::meanSquared;
#define ROW(number, id, ...) Activation::id,
    for (const Activation activation : {LOCKSTEP_ACTIVATIONS(ROW)}) {
#undef ROW
        CAPTURE(name(activation));
        job.shape.activation = job.shape.outputActivation = activation;
        requireSame(job, {"cpu:simd", "cpu:best", "gpu:tiled", "gpu:best"});
    }
}

TEST_CASE("several chunks, in order, and rows of pixels") {
    const Dataset data = pixelData(50, 4, 3000);
    const TrainJob job = jobFor(data, {40});
    const std::vector<float> weights = initialWeights(job.shape, 3);
    const std::vector<float> rows = rowsOf(data, 3000);
    const auto plain = on("cpu:scalar", job.shape, weights);
    for (const std::string_view lane : {"cpu:best", "gpu:best"}) {
        CAPTURE(lane);
        const auto network = on(lane, job.shape, weights);
        const std::vector<float> all = network->outputs(rows);
        CHECK(distance(all, plain->outputs(rows)) < rounding);
        const std::vector<float> last = network->outputs(std::span(rows).last(50));
        CHECK(std::ranges::equal(last, std::span(all).last(4)));
    }
}

TEST_CASE("other weights, and what is refused") {
    const Dataset data = classData(7, 3, 100);
    const TrainJob job = jobFor(data, {8});
    const std::vector<float> rows = rowsOf(data, 10);
    const std::vector<float> first = initialWeights(job.shape, 1);
    const std::vector<float> second = initialWeights(job.shape, 2);
    for (const std::string_view lane : {"cpu:best", "gpu:best"}) {
        CAPTURE(lane);
        const auto network = on(lane, job.shape, first);
        const std::vector<float> before = network->outputs(rows);
        network->setParameters(second);
        CHECK(network->outputs(rows) == on(lane, job.shape, second)->outputs(rows));
        CHECK(network->outputs(rows) != before);
        CHECK(network->outputs({}).empty());
        CHECK_THROWS_AS(network->outputs(std::span(rows).first(8)), std::invalid_argument);
        CHECK_THROWS_AS(network->setParameters(std::span(first).first(4)), std::invalid_argument);
        CHECK_FALSE(network->machine().device.empty());
        CHECK(network->machine().gpu == lane.starts_with("gpu"));
    }
    CHECK_THROWS_AS(makeInference(job.shape, first, laneSpecFromText("gpu:best")), std::invalid_argument);
    CHECK_THROWS_AS(makeInference({.widths = {3}}, first), std::invalid_argument);
}

TEST_CASE("a trainer predicts for rows of the host's, with its current weights") {
    const Dataset data = classData(7, 3, 100);
    const TrainJob job = jobFor(data, {9});
    const std::vector<float> rows = rowsOf(data, 100);
    for (const bool gpu : {false, true}) {
        CAPTURE(gpu);
        const auto trainer = gpu ? makeGpuTrainer(job, "best", testDevice()) : makeCpuTrainer(job, "best", 2);
        for (int round = 0; round < 3; ++round) {
            trainer->run(10);
            const std::vector<float> found = trainer->predict(rows);
            CHECK(found == trainer->predict(Split::train, 0, 100));
            CHECK(distance(found, on("cpu:scalar", job.shape, trainer->state().parameters)->outputs(rows)) <
                  rounding);
        }
        CHECK_THROWS_AS(trainer->predict(std::span(rows).first(8)), std::invalid_argument);
    }
}
