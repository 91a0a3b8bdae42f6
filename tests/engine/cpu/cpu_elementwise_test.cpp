// Checks losses, optimizers and the gathering of batches of every rung and instruction set against the plain
// loops.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/cpu/thread_team.h"
#include "tests/cpu_tables.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

struct LossCase {
    Loss loss;
    std::uint32_t targetKind;
    Activation outputActivation;
};
constexpr LossCase lossCases[] = {
    {Loss::crossEntropy, shared::targetClassIndex, Activation::identity},
    {Loss::meanSquared, shared::targetOneHot, Activation::identity},
    {Loss::meanSquared, shared::targetOneHot, Activation::tanh},
    {Loss::meanSquared, shared::targetSign, Activation::tanh},
    {Loss::meanSquared, shared::targetValues, Activation::gelu},
    {Loss::huber, shared::targetValues, Activation::identity},
    {Loss::huber, shared::targetBit, Activation::sigmoid},
    {Loss::binaryCrossEntropy, shared::targetOneHot, Activation::identity},
    {Loss::binaryCrossEntropy, shared::targetBit, Activation::identity},
    {Loss::binaryCrossEntropy, shared::targetValues, Activation::identity},
};

std::vector<TargetWord> targetsFor(const LossShape& shape) {
    std::vector<TargetWord> targets(shape.rows * shape.targetWidth);
    for (std::size_t k = 0; k < targets.size(); ++k) {
        const std::uint32_t word = randomWords(9, RandomStream::data, k).x;
        if (shape.targetKind == shared::targetValues)
            targets[k] = std::bit_cast<TargetWord>(static_cast<float>(uniform01(word)));
        else if (shape.targetKind == shared::targetSign || shape.targetKind == shared::targetBit)
            targets[k] = word % 2;
        else
            targets[k] = word % static_cast<std::uint32_t>(shape.outputs);
    }
    return targets;
}

} // namespace

TEST_CASE("losses and their gradients match the plain twin for every kind of target") {
    for (const LossCase& kind : lossCases)
        for (const std::size_t outputs : {1, 2, 3, 4, 10, 16, 33, 127})
            for (const std::size_t rows : {1, 7, 33}) {
                LossShape shape;
                shape.rows = rows;
                shape.outputs = outputs;
                shape.stride = roundUpToFour(outputs);
                shape.targetWidth = kind.targetKind == shared::targetValues ? outputs : 1;
                shape.loss = kind.loss;
                shape.targetKind = kind.targetKind;
                shape.outputActivation = kind.outputActivation;
                shape.scale = 1.0 / static_cast<double>(rows);
                const auto y = numbers(rows, outputs, shape.stride, 1, 4);
                const auto saved = numbers(rows, outputs, shape.stride, 2);
                const auto targets = targetsFor(shape);
                std::vector<double> expected(y.size());
                const double loss = plain::lossAndGradient<double>(
                    shape, doubles(y).data(), doubles(saved).data(), targets.data(), expected.data());
                for (const Table& table : tables()) {
                    CAPTURE(table.name);
                    CAPTURE(name(kind.loss));
                    CAPTURE(kind.targetKind);
                    CAPTURE(outputs);
                    std::vector<float> found(y.size() + 1, notANumber);
                    found.back() = canary;
                    const double foundLoss = table.kernels->lossAndGradient(shape, y.data(), saved.data(),
                                                                            targets.data(), found.data());
                    CHECK(found.back() == canary);
                    found.pop_back();
                    CHECK(foundLoss == doctest::Approx(loss).epsilon(2e-6));
                    CHECK(distance(found, expected) < 4e-6);
                }
            }
}

TEST_CASE("losses survive large outputs, and show what is not finite") {
    LossShape shape;
    shape.rows = 1;
    shape.outputs = 10;
    shape.stride = 12;
    const TargetWord target = 3;
    for (const Loss loss : {Loss::crossEntropy, Loss::binaryCrossEntropy, Loss::meanSquared, Loss::huber})
        for (const Table& table : tables()) {
            CAPTURE(table.name);
            CAPTURE(name(loss));
            shape.loss = loss;
            shape.targetKind = loss == Loss::crossEntropy ? shared::targetClassIndex : shared::targetOneHot;
            std::vector<float> y(12);
            std::vector<float> dz(12);
            y[0] = 1000;
            y[3] = -1000;
            const double large =
                table.kernels->lossAndGradient(shape, y.data(), y.data(), &target, dz.data());
            CHECK(large > 1000);
            CHECK(std::isfinite(large));
            CHECK(std::ranges::all_of(dz, [](float value) { return std::isfinite(value); }));
            y[7] = notANumber;
            CHECK(!std::isfinite(
                table.kernels->lossAndGradient(shape, y.data(), y.data(), &target, dz.data())));
            y[7] = std::numeric_limits<float>::infinity();
            CHECK(!std::isfinite(
                table.kernels->lossAndGradient(shape, y.data(), y.data(), &target, dz.data())));
        }
}

TEST_CASE("optimizers match the plain twin on any range of the arena") {
    constexpr std::size_t size = 1027;
    const auto gradients = numbers(1, size, size, 1);
    const auto weights = numbers(1, size, size, 2);
    const auto m = numbers(1, size, size, 3);
    auto v = numbers(1, size, size, 4);
    for (float& value : v) value = std::abs(value); // a mean of squares
    shared::UpdateParams params{};
    params.learningRate = 0.1f;
    params.momentum = 0.9f;
    params.secondDecay = 0.99f;
    params.epsilon = 1e-8f;
    params.secondScale = 1.5f;
    params.weightKeep = 0.98f;
    for (const Optimizer optimizer : allOptimizers)
        for (const bool regularised : {false, true})
            for (const Share range : {Share{0, size}, Share{3, 1000}, Share{16, 17}, Share{5, 5}})
                for (const Table& table : tables()) {
                    CAPTURE(table.name);
                    CAPTURE(name(optimizer));
                    params.l1 = regularised ? 0.25f : 0;
                    params.l2 = regularised ? 0.5f : 0;
                    params.nesterov = regularised && optimizer == Optimizer::momentum ? 1 : 0;
                    auto expectedWeights = doubles(weights);
                    const bool rootOfFirst =
                        infoOf(optimizer).states == 1 && infoOf(optimizer).has(usesEpsilon);
                    auto expected1 = doubles(rootOfFirst ? v : m);
                    auto expected2 = doubles(v);
                    auto foundWeights = weights;
                    auto found1 = rootOfFirst ? v : m;
                    auto found2 = v;
                    plain::update<double>(optimizer, params, range.begin, range.end,
                                          doubles(gradients).data(), expectedWeights.data(), expected1.data(),
                                          expected2.data());
                    table.kernels->update(optimizer, params, range.begin, range.end, gradients.data(),
                                          foundWeights.data(), found1.data(), found2.data());
                    CHECK(distance(foundWeights, expectedWeights) < 2e-5);
                    CHECK(distance(found1, expected1) < 1e-6);
                    CHECK(distance(found2, expected2) < 1e-6);
                }
}

TEST_CASE("gathered batches are bit-identical to the plain loops'") {
    for (const std::size_t inputs : {1, 7, 33, 127, 784})
        for (const bool pixels : {false, true})
            for (const bool values : {false, true}) {
                Dataset data;
                data.inputs = inputs;
                data.classes = values ? 0 : 5;
                data.targetWidth = values ? 3 : 1;
                data.train.count = 201;
                for (std::size_t k = 0; k < data.train.count * inputs; ++k) {
                    const std::uint32_t word = randomWords(1, RandomStream::data, k).x;
                    if (pixels)
                        data.train.pixels.push_back(static_cast<std::uint8_t>(word));
                    else
                        data.train.values.push_back(static_cast<float>(uniform01(word)));
                }
                for (std::size_t k = 0; k < data.train.count; ++k) {
                    if (!values) data.train.labels.push_back(static_cast<std::uint32_t>(k % 5));
                    for (std::size_t j = 0; values && j < 3; ++j)
                        data.train.targets.push_back(static_cast<float>(k) + static_cast<float>(j) / 4);
                }
                const std::size_t stride = roundUpToFour(inputs);
                for (const bool shuffle : {false, true})
                    for (const Table& table : tables()) {
                        CAPTURE(table.name);
                        CAPTURE(inputs);
                        const BatchOrder order(data.train.count, 64, 3, shuffle);
                        const BatchRange range = order.range(7); // 9 rows: the last of the second epoch
                        REQUIRE(range.rows == 9);
                        std::vector<float> expected(range.rows * stride, canary);
                        std::vector<float> found(expected.size(), canary);
                        std::vector<TargetWord> expectedTargets(range.rows * data.targetWidth, 77);
                        std::vector<TargetWord> foundTargets(expectedTargets.size(), 77);
                        plain::gatherBatch<float>(data, data.train, order, range, 2, 8, stride,
                                                  expected.data(), expectedTargets.data());
                        table.kernels->gatherBatch(data, data.train, order, range, 2, 8, stride, found.data(),
                                                   foundTargets.data());
                        CHECK(found == expected);
                        CHECK(foundTargets == expectedTargets);
                        CHECK(found.front() == canary);
                    }
            }
}
