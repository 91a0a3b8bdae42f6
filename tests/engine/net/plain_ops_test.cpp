// Checks the plain loops against numbers worked out by hand: batches, products, losses, scores, optimizers,
// padding. (Gradients: gradients_test.cpp. Whole training runs: reference_test.cpp.)
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/net/activation.h"
#include "engine/net/fused.h"
#include "engine/net/plain_ops.h"
#include "shaders/shared/lab.h"

using namespace lockstep;
using doctest::Approx;

namespace {

constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

Dataset pixelData() {
    Dataset data;
    data.name = "pixels";
    data.inputs = 3;
    data.classes = 3;
    data.train.count = 4;
    data.train.pixels = {0, 51, 255, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    data.train.labels = {2, 0, 1, 2};
    return data;
}

Dataset valueData() {
    Dataset data;
    data.name = "values";
    data.inputs = 1;
    data.targetWidth = 2;
    data.train.count = 2;
    data.train.values = {0.5f, -3.0f};
    data.train.targets = {1.0f, 2.0f, 3.0f, 4.5f};
    return data;
}

/// Loss and gradient of one row with up to four outputs.
struct RowLoss {
    double loss = 0;
    std::array<double, 4> gradient{9, 9, 9, 9};
};

RowLoss rowLoss(Loss loss, std::uint32_t targetKind, std::vector<double> outputs,
                std::vector<TargetWord> target, double scale = 1) {
    const std::size_t count = outputs.size();
    outputs.resize(4, notANumber); // padding is not read
    const LossShape shape{1, count, 4, target.size(), loss, targetKind, Activation::identity, scale};
    RowLoss result;
    result.loss =
        plain::lossAndGradient(shape, outputs.data(), outputs.data(), target.data(), result.gradient.data());
    return result;
}

TargetWord bits(float value) { return std::bit_cast<TargetWord>(value); }

/// Weight and states after each of two steps with gradients 1 and then -2, from weight 3.
struct Updated {
    double weight = 3, state1 = 0, state2 = 0;
};

Updated updated(Optimizer optimizer, const shared::UpdateParams& params, int steps) {
    Updated result;
    const double gradients[] = {1, -2};
    for (int step = 0; step < steps; ++step)
        plain::update(optimizer, params, 0, 1, &gradients[step], &result.weight, &result.state1,
                      &result.state2);
    return result;
}

shared::UpdateParams params(float learningRate) {
    shared::UpdateParams result{};
    result.learningRate = learningRate;
    result.secondScale = 1;
    result.weightKeep = 1;
    return result;
}

} // namespace

TEST_CASE("gatherBatch scales pixels, clears padding and leaves other rows alone") {
    const Dataset data = pixelData();
    const BatchOrder order(4, 3, 1, false);
    std::vector<double> inputs(12, 7.0);
    std::vector<TargetWord> targets(3, 9);
    plain::gatherBatch(data, data.train, order, order.range(0), 0, 2, 4, inputs.data(), targets.data());
    const std::vector<double> expected = {0,         51 / 255.0, 1, 0, 1 / 255.0, 2 / 255.0,
                                          3 / 255.0, 0,          7, 7, 7,         7};
    for (std::size_t k = 0; k < 12; ++k) CHECK(inputs[k] == Approx(expected[k]).epsilon(1e-15));
    CHECK(targets == std::vector<TargetWord>{2, 0, 9});

    plain::gatherBatch(data, data.train, order, order.range(1), 0, 1, 4, inputs.data(), targets.data());
    CHECK(inputs[0] == Approx(7 / 255.0));
    CHECK(targets[0] == 2);
}

TEST_CASE("gatherBatch follows the shuffled order") {
    const Dataset data = pixelData();
    const BatchOrder order(4, 4, 3, true);
    std::vector<float> inputs(16);
    std::vector<TargetWord> targets(4);
    for (std::uint64_t step = 0; step < 5; ++step) {
        plain::gatherBatch(data, data.train, order, order.range(step), 0, 4, 4, inputs.data(),
                           targets.data());
        for (std::size_t r = 0; r < 4; ++r) {
            const std::size_t example = order.example(step, r);
            CHECK(targets[r] == data.train.labels[example]);
            CHECK(inputs[r * 4 + 1] == static_cast<float>(data.train.pixels[example * 3 + 1]) * (1.0f / 255));
        }
    }
}

TEST_CASE("gatherBatch passes values and wide targets on") {
    const Dataset data = valueData();
    std::vector<float> inputs(8, 7.0f);
    std::vector<TargetWord> targets(4);
    plain::gatherBatch(data, data.train, BatchOrder(2, 2, 1, false), {0, 0, 2}, 0, 2, 4, inputs.data(),
                       targets.data());
    CHECK(inputs == std::vector<float>{0.5f, 0, 0, 0, -3, 0, 0, 0});
    CHECK(targets == std::vector<TargetWord>{bits(1), bits(2), bits(3), bits(4.5f)});
}

TEST_CASE("dense and its backward pass, by hand, with padding neither read nor left dirty") {
    // X = [1 2 3], W = [[1 0 -1], [2 1 1]], b = [0.5, -10]: z = [-1.5, -3]; leaky ReLU.
    const DenseShape shape{1, 3, 2, 4, 4};
    const std::vector<double> x = {1, 2, 3, notANumber}, w = {1, 0, -1, notANumber, 2, 1, 1, notANumber},
                              b = {0.5, -10};
    std::vector<double> y(4, 7.0), z(4, 7.0);
    plain::dense(shape, x.data(), w.data(), b.data(), Activation::leakyRelu, y.data(), z.data());
    CHECK(z == std::vector<double>{-1.5, -3, 0, 0});
    CHECK(y == std::vector<double>{-0.015, -0.03, 0, 0});
    plain::dense<double>(shape, x.data(), w.data(), b.data(), Activation::identity, y.data(), nullptr);
    CHECK(y == std::vector<double>{-1.5, -3, 0, 0});

    const std::vector<double> dz = {2, -1, notANumber, notANumber}, below = {1, 0, 5, notANumber};
    std::vector<double> dx(4, 7.0), dw(8, 7.0), db(2, 7.0);
    plain::denseBackwardInputs(shape, dz.data(), w.data(), Activation::relu, below.data(), dx.data());
    CHECK(dx == std::vector<double>{0, 0, -3, 0}); // dZ W = [0 -1 -3], ReLU's derivative [1 0 1]
    plain::denseBackwardWeights(shape, dz.data(), x.data(), 0, 2, dw.data(), db.data());
    CHECK(dw == std::vector<double>{2, 4, 6, 0, -1, -2, -3, 0});
    CHECK(db == std::vector<double>{2, -1});
}

TEST_CASE("weight gradients of a range of outputs leave the others alone") {
    const DenseShape shape{1, 1, 3, 4, 4};
    const std::vector<double> x = {2, 0, 0, 0}, dz = {1, 2, 3, 0};
    std::vector<double> dw(12, 7.0), db(3, 7.0);
    plain::denseBackwardWeights(shape, dz.data(), x.data(), 1, 2, dw.data(), db.data());
    CHECK(dw == std::vector<double>{7, 7, 7, 7, 4, 0, 0, 0, 7, 7, 7, 7});
    CHECK(db == std::vector<double>{7, 2, 7});
}

TEST_CASE("activations at known points") {
    CHECK(activate(Activation::elu, -1.0) == Approx(std::exp(-1.0) - 1));
    CHECK(activate(Activation::gelu, 1.0) == Approx(0.8413447460685429));
    CHECK(activate(Activation::gelu, -1.0) == Approx(-0.15865525393145707));
    CHECK(activate(Activation::silu, 1.0) == Approx(0.7310585786300049));
    CHECK(activate(Activation::sigmoid, 0.0) == 0.5);
    CHECK(activate(Activation::leakyRelu, -2.0) == Approx(-0.02));
    CHECK(activate(Activation::relu, -2.0) == 0);
    for (const Activation activation : allActivations) // a NaN is passed on, never hidden
        CHECK(std::isnan(activate(activation, notANumber)));
}

TEST_CASE("losses and gradients by hand") {
    const double third = 1.0 / 3;
    const RowLoss uniform = rowLoss(Loss::crossEntropy, shared::targetClassIndex, {5, 5, 5}, {1});
    CHECK(uniform.loss == Approx(std::log(3.0)));
    CHECK(uniform.gradient[0] == Approx(third));
    CHECK(uniform.gradient[1] == Approx(third - 1));
    CHECK(uniform.gradient[3] == 0);

    const RowLoss squares = rowLoss(Loss::meanSquared, shared::targetValues, {1, 2}, {bits(3), bits(1)}, 0.5);
    CHECK(squares.loss == 4 + 1);
    CHECK(squares.gradient == std::array<double, 4>{-2, 1, 0, 0});

    const RowLoss huber = rowLoss(Loss::huber, shared::targetOneHot, {0.5, 3, -4}, {1});
    CHECK(huber.loss == Approx(0.125 + 1.5 + 3.5));
    CHECK(huber.gradient == std::array<double, 4>{0.5, 1, -1, 0});

    const RowLoss one = rowLoss(Loss::binaryCrossEntropy, shared::targetBit, {0.0}, {1});
    CHECK(one.loss == Approx(std::log(2.0)));
    CHECK(one.gradient == std::array<double, 4>{-0.5, 0, 0, 0});

    CHECK(rowLoss(Loss::meanSquared, shared::targetSign, {0.5}, {0}).loss == 2.25);
    CHECK(rowLoss(Loss::meanSquared, shared::targetSign, {0.5}, {1}).loss == 0.25);
    CHECK(rowLoss(Loss::meanSquared, shared::targetBit, {0.5}, {0}).loss == 0.25);
}

TEST_CASE("a NaN in the outputs reaches the loss") {
    CHECK(std::isnan(rowLoss(Loss::crossEntropy, shared::targetClassIndex, {1, notANumber, 2}, {0}).loss));
    CHECK(std::isnan(rowLoss(Loss::meanSquared, shared::targetOneHot, {1, notANumber, 2}, {0}).loss));
    CHECK(std::isnan(rowLoss(Loss::huber, shared::targetOneHot, {1, notANumber, 2}, {0}).loss));
    CHECK(std::isnan(rowLoss(Loss::binaryCrossEntropy, shared::targetBit, {notANumber}, {0}).loss));
}

TEST_CASE("the mean is over rows in cross-entropy, over rows and outputs elsewhere") {
    CHECK(lossTerms(Loss::crossEntropy, 7, 10) == 7);
    CHECK(lossTerms(Loss::meanSquared, 7, 10) == 70);
    CHECK(lossTerms(Loss::huber, 7, 10) == 70);
    CHECK(lossTerms(Loss::binaryCrossEntropy, 7, 1) == 7);
}

TEST_CASE("score counts hits, the first among equals, and the confusion of the rest") {
    const std::vector<float> outputs = {1, 3, 2, 0, 5, 5, 0, 0, 0, 0, 1, 0};
    const std::vector<TargetWord> targets = {1, 1, 2};
    std::vector<std::uint64_t> confusion(9, 0);
    const LossShape shape{3, 3, 4, 1, Loss::crossEntropy, shared::targetClassIndex, Activation::identity, 1};
    const ScoreSum sum = plain::score(shape, 3, outputs.data(), targets.data(), confusion.data());
    CHECK(sum.correct == 2);
    CHECK(confusion == std::vector<std::uint64_t>{0, 0, 0, 1, 1, 0, 0, 0, 1});
    std::vector<float> gradient(12);
    CHECK(sum.loss == Approx(plain::lossAndGradient(shape, outputs.data(), outputs.data(), targets.data(),
                                                    gradient.data())));
    CHECK(plain::score<float>(shape, 3, outputs.data(), targets.data(), nullptr).correct == 2);
}

TEST_CASE("with one output the answer is on which side of the middle it lies") {
    const std::vector<float> outputs = {0.4f, 0, 0, 0, 0.6f, 0, 0, 0, -0.1f, 0, 0, 0};
    const std::vector<TargetWord> targets = {1, 1, 0};
    LossShape shape{3, 1, 4, 1, Loss::meanSquared, shared::targetSign, Activation::tanh, 1};
    CHECK(plain::score<float>(shape, 2, outputs.data(), targets.data(), nullptr).correct == 3);
    shape.outputActivation = Activation::sigmoid;
    shape.targetKind = shared::targetBit;
    CHECK(plain::score<float>(shape, 2, outputs.data(), targets.data(), nullptr).correct == 2);
}

TEST_CASE("nothing can be hit in regression") {
    const std::vector<float> outputs = {1, 0, 0, 0};
    const std::vector<TargetWord> targets = {bits(3)};
    const LossShape shape{1, 1, 4, 1, Loss::meanSquared, shared::targetValues, Activation::identity, 1};
    const ScoreSum sum = plain::score<float>(shape, 0, outputs.data(), targets.data(), nullptr);
    CHECK(sum.correct == 0);
    CHECK(sum.loss == 4);
}

TEST_CASE("optimizers by hand, two steps each") {
    CHECK(updated(Optimizer::sgd, params(0.5f), 2).weight == 3 - 0.5 + 1);

    shared::UpdateParams momentum = params(0.5f);
    momentum.momentum = 0.5f; // m = 1, then 0.5 - 2
    CHECK(updated(Optimizer::momentum, momentum, 2).weight == 3 - 0.5 + 0.75);
    CHECK(updated(Optimizer::momentum, momentum, 2).state1 == -1.5);
    momentum.nesterov = 1; // steps 1 + 0.5 * 1, then -2 + 0.5 * -1.5
    CHECK(updated(Optimizer::momentum, momentum, 2).weight == 3 - 0.5 * 1.5 + 0.5 * 2.75);

    shared::UpdateParams rmsprop = params(0.5f);
    rmsprop.secondDecay = 0.75f; // v = 0.25: step 0.5 * 1 / (0.5 + 0.5)
    rmsprop.epsilon = 0.5f;
    CHECK(updated(Optimizer::rmsprop, rmsprop, 1).weight == 2.5);
    CHECK(updated(Optimizer::rmsprop, rmsprop, 2).state1 == 0.75 * 0.25 + 0.25 * 4);

    shared::UpdateParams adam = params(2.0f); // 1 / (1 - 0.5) in the rate
    adam.momentum = 0.5f;
    adam.secondDecay = 0.75f;
    adam.secondScale = 2; // 1 / sqrt(1 - 0.75)
    CHECK(updated(Optimizer::adam, adam, 1).weight == 3 - 2 * 0.5 / (0.5 * 2));
    CHECK(updated(Optimizer::adam, adam, 2).state1 == 0.25 - 1);
    CHECK(updated(Optimizer::adam, adam, 2).state2 == 0.75 * 0.25 + 0.25 * 4);
    adam.weightKeep = 0.5f; // decoupled decay comes first
    CHECK(updated(Optimizer::adamw, adam, 1).weight == 1.5 - 1);
}

TEST_CASE("regularisation joins the gradient; the sign of 0 is 0") {
    shared::UpdateParams update = params(1.0f);
    update.l2 = 0.5f;
    update.l1 = 0.25f;
    const std::vector<double> gradients(3, 0.0);
    std::vector<double> weights = {2, -2, 0};
    plain::update<double>(Optimizer::sgd, update, 0, 3, gradients.data(), weights.data(), nullptr, nullptr);
    CHECK(weights == std::vector<double>{2 - 1 - 0.25, -2 + 1 + 0.25, 0});
}

TEST_CASE("an update touches its range only, and keeps padding 0") {
    shared::UpdateParams update = params(1.0f);
    update.epsilon = 1e-8f;
    const std::vector<double> gradients = {1, 1, 1, 0};
    std::vector<double> weights = {5, 5, 5, 0}, m(4, 0.0), v(4, 0.0);
    plain::update(Optimizer::adam, update, 1, 4, gradients.data(), weights.data(), m.data(), v.data());
    CHECK(weights[0] == 5);
    CHECK(weights[1] != 5);
    CHECK(weights[3] == 0);
    CHECK(m[0] == 0);
}

TEST_CASE("a fused multiply-add rounds once, also where a sum in double would look like a tie") {
    const auto power = [](int exponent) { return std::ldexp(1.0f, exponent); };
    const float a = 1 + power(-12); // its square is 1 + 2^-11 and half a unit in the last place
    CHECK(fused(a, a, 0) == 1 + power(-11));
    CHECK(fused(a, a, power(-60)) == 1 + power(-11) + power(-23));
    CHECK(fused(a, a, -power(-60)) == 1 + power(-11));
    CHECK(fused(-a, a, -power(-60)) == -1 - power(-11) - power(-23));
    CHECK(std::isnan(fused(INFINITY, 0, 1)));
    CHECK(fused(3e38f, 10, -INFINITY) == -INFINITY);
    if (std::fma(a, a, power(-60)) != fused(a, a, power(-60))) return; // this C library's is no measure
    std::uint32_t state = 1;
    for (int i = 0; i < 1'000'000; ++i) {
        float operands[3];
        for (float& operand : operands) {
            state = shared::xorshift(state);
            operand = std::bit_cast<float>(state);
        }
        const float expected = std::fma(operands[0], operands[1], operands[2]);
        const float found = fused(operands[0], operands[1], operands[2]);
        if (std::isnan(expected) && std::isnan(found)) continue;
        REQUIRE(std::bit_cast<std::uint32_t>(found) == std::bit_cast<std::uint32_t>(expected));
    }
}
