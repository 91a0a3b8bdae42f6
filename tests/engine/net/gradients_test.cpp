// Every operation's gradient, in double, against central finite differences: (L(x + h) - L(x - h)) / 2h.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "engine/net/activation.h"
#include "engine/net/param_layout.h"
#include "engine/net/plain_training.h"
#include "engine/net/random.h"

using namespace lockstep;

namespace {

/// `count` numbers in [-1, 1), different for every `stream`.
std::vector<double> numbers(std::size_t count, std::uint32_t stream) {
    std::vector<double> values(count);
    for (std::size_t k = 0; k < count; ++k)
        values[k] = 2 * uniform01(randomWords(1, RandomStream::test, k, stream).x) - 1;
    return values;
}

/// A matrix of such numbers with padded rows, the padding 0.
std::vector<double> matrix(std::size_t rows, std::size_t width, std::uint32_t stream) {
    const std::size_t stride = roundUpToFour(width);
    const std::vector<double> random = numbers(rows * width, stream);
    std::vector<double> values(rows * stride, 0.0);
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t i = 0; i < width; ++i) values[r * stride + i] = random[r * width + i];
    return values;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    return sum;
}

/// Checks `gradient` of `loss` with respect to `point`, which `loss` reads: along one random direction, which
/// meets every element at once, and at some elements by themselves. The step is small enough that no kink
/// (of ReLU, of Huber) lies inside it, and rounding, 1e-16 / h, still leaves nine digits.
void checkGradient(std::vector<double>& point, const std::vector<double>& gradient,
                   const std::function<double()>& loss) {
    REQUIRE(point.size() == gradient.size());
    const double h = 1e-6;
    const std::vector<double> start = point;
    const auto difference = [&](const std::vector<double>& direction) {
        for (std::size_t k = 0; k < point.size(); ++k) point[k] = start[k] + h * direction[k];
        const double above = loss();
        for (std::size_t k = 0; k < point.size(); ++k) point[k] = start[k] - h * direction[k];
        const double below = loss();
        point = start;
        return (above - below) / (2 * h);
    };
    const auto check = [&](const std::vector<double>& direction) {
        const double expected = difference(direction);
        const double found = dot(gradient, direction);
        CAPTURE(expected);
        CAPTURE(found);
        CHECK(std::abs(found - expected) < 2e-7 * std::max(1.0, std::abs(expected)));
    };
    check(numbers(point.size(), 99));
    const std::size_t elements = std::min<std::size_t>(point.size(), 12);
    for (std::size_t sample = 0; sample < elements; ++sample) {
        std::vector<double> direction(point.size(), 0.0);
        direction[sample * (point.size() - 1) / std::max<std::size_t>(elements - 1, 1)] = 1;
        check(direction);
    }
}

/// Values in labels or floats for `count` examples, targets a little beyond the outputs' usual range.
Dataset dataset(std::size_t inputs, std::size_t classes, std::size_t targetWidth, std::size_t count) {
    Dataset data;
    data.name = "test";
    data.inputs = inputs;
    data.classes = classes;
    data.targetWidth = targetWidth;
    data.train.count = count;
    for (double value : numbers(count * inputs, 1)) data.train.values.push_back(static_cast<float>(value));
    for (std::size_t e = 0; e < count && classes > 0; ++e)
        data.train.labels.push_back(randomWords(1, RandomStream::test, e, 2).x %
                                    static_cast<std::uint32_t>(classes));
    if (classes == 0)
        for (double value : numbers(count * targetWidth, 3))
            data.train.targets.push_back(static_cast<float>(2 * value));
    return data;
}

/// One dense layer, its loss the outputs' sum weighted by random numbers.
struct DenseCase {
    DenseCase(std::size_t rows, std::size_t inputs, std::size_t outputs, Activation function)
        : shape{rows, inputs, outputs, roundUpToFour(inputs), roundUpToFour(outputs)}, activation(function),
          x(matrix(rows, inputs, 4)), w(matrix(outputs, inputs, 5)), b(numbers(outputs, 6)),
          mix(matrix(rows, outputs, 7)), y(mix.size()), z(mix.size()) {}

    double loss() {
        plain::dense(shape, x.data(), w.data(), b.data(), activation, y.data(), z.data());
        return dot(mix, y);
    }

    std::vector<double> dSums() {
        loss();
        std::vector<double> dz(mix.size());
        for (std::size_t k = 0; k < dz.size(); ++k)
            dz[k] = mix[k] * activationDerivative(activation, derivativeNeedsSum(activation) ? z[k] : y[k]);
        return dz;
    }

    DenseShape shape;
    Activation activation;
    std::vector<double> x, w, b, mix, y, z;
};

void checkDense(DenseCase test) {
    CAPTURE(name(test.activation));
    CAPTURE(test.shape.rows);
    CAPTURE(test.shape.inputs);
    CAPTURE(test.shape.outputs);
    const std::vector<double> dz = test.dSums();
    std::vector<double> dw(test.w.size(), 7.0), db(test.b.size(), 7.0), dx(test.x.size(), 7.0);
    plain::denseBackwardWeights(test.shape, dz.data(), test.x.data(), 0, test.shape.outputs, dw.data(),
                                db.data());
    plain::denseBackwardInputs(test.shape, dz.data(), test.w.data(), Activation::identity, test.x.data(),
                               dx.data());
    const auto loss = [&] { return test.loss(); };
    checkGradient(test.b, db, loss);
    checkGradient(test.w, dw, loss);
    checkGradient(test.x, dx, loss);
}

struct LossCase {
    Loss loss;
    std::size_t classes, outputs;
    Activation outputActivation = Activation::identity;
};

/// Every loss with every kind of target and every output activation that NetShape allows.
std::vector<LossCase> lossCases() {
    std::vector<LossCase> cases;
    for (std::size_t classes : {2u, 7u, 33u, 127u}) cases.push_back({Loss::crossEntropy, classes, classes});
    std::vector<LossCase> elementwise;
    for (Loss loss : {Loss::meanSquared, Loss::huber})
        for (Activation output : allActivations) elementwise.push_back({loss, 0, 0, output});
    elementwise.push_back({Loss::binaryCrossEntropy, 0, 0});
    for (LossCase test : elementwise) {
        const std::pair<std::size_t, std::size_t> sizes[] = {{2, 1},   {2, 2}, {7, 7},
                                                             {33, 33}, {0, 1}, {0, 7}};
        for (const auto& [classes, outputs] : sizes)
            cases.push_back({test.loss, classes, outputs, test.outputActivation});
    }
    return cases;
}

NetShape netShape(const LossCase& test, std::vector<std::size_t> widths, Activation activation) {
    NetShape shape;
    widths.push_back(test.outputs);
    shape.widths = widths;
    shape.activation = activation;
    shape.outputActivation = test.outputActivation;
    shape.loss = test.loss;
    shape.validate();
    return shape;
}

void checkLoss(const LossCase& test, std::size_t rows) {
    CAPTURE(name(test.loss));
    CAPTURE(name(test.outputActivation));
    CAPTURE(test.classes);
    CAPTURE(test.outputs);
    CAPTURE(rows);
    Dataset data = dataset(3, test.classes, test.classes == 0 ? test.outputs : 1, rows);
    if (test.loss == Loss::binaryCrossEntropy) // probabilities
        for (float& target : data.train.targets) target = std::abs(target) / (1 + std::abs(target));
    const NetShape net = netShape(test, {3}, Activation::relu);
    const std::size_t stride = roundUpToFour(test.outputs);
    std::vector<TargetWord> targets(rows * data.targetWidth);
    std::vector<double> ignored(rows * 4);
    plain::gatherBatch(data, data.train, BatchOrder(rows, rows, 1, false), {0, 0, rows}, 0, rows, 4,
                       ignored.data(), targets.data());
    const double scale = 1.0 / static_cast<double>(lossTerms(test.loss, rows, test.outputs));
    const LossShape shape{
        rows, test.outputs, stride, data.targetWidth, test.loss, targetKind(data, net), test.outputActivation,
        scale};
    std::vector<double> z = matrix(rows, test.outputs, 8), y(z.size()), dz(z.size()), unused(z.size());
    for (double& value : z) value *= 3; // into the tails
    const auto evaluate = [&](std::vector<double>& gradient) {
        for (std::size_t k = 0; k < z.size(); ++k) y[k] = activate(test.outputActivation, z[k]);
        const bool fromSum = derivativeNeedsSum(test.outputActivation);
        return scale * plain::lossAndGradient(shape, y.data(), fromSum ? z.data() : y.data(), targets.data(),
                                              gradient.data());
    };
    evaluate(dz);
    checkGradient(z, dz, [&] { return evaluate(unused); });
}

void checkNetwork(const NetShape& shape, const Dataset& data, std::size_t batch, std::uint64_t step) {
    CAPTURE(shape.describeWidths());
    CAPTURE(name(shape.activation));
    CAPTURE(name(shape.loss));
    CAPTURE(name(shape.outputActivation));
    PlainNetwork<double> net(data, shape, initialWeights(shape, 1));
    const BatchOrder order(data.train.count, batch, 5, true);
    net.lossAndGradients(order, order.range(step));
    const std::vector<double> gradients = net.gradients;
    checkGradient(net.parameters, gradients, [&] { return net.lossAndGradients(order, order.range(step)); });
}

} // namespace

TEST_CASE("dense: weights, biases and inputs, every activation, awkward shapes") {
    const std::size_t shapes[][3] = {{1, 1, 1},    {1, 7, 33},   {7, 33, 1},  {33, 1, 7},
                                     {7, 127, 33}, {33, 7, 127}, {127, 33, 7}};
    for (Activation activation : allActivations)
        for (const auto& [rows, inputs, outputs] : shapes) checkDense({rows, inputs, outputs, activation});
}

TEST_CASE("dense_backward_inputs applies the derivative of the layer below") {
    for (Activation below : allActivations) {
        CAPTURE(name(below));
        DenseCase test(7, 33, 5, Activation::identity);
        std::vector<double> zBelow = test.x, dzBelow(test.x.size());
        const auto loss = [&] {
            for (std::size_t k = 0; k < zBelow.size(); ++k)
                if (k % test.shape.inputStride < test.shape.inputs) test.x[k] = activate(below, zBelow[k]);
            return test.loss();
        };
        loss();
        const std::vector<double>& saved = derivativeNeedsSum(below) ? zBelow : test.x;
        plain::denseBackwardInputs(test.shape, test.dSums().data(), test.w.data(), below, saved.data(),
                                   dzBelow.data());
        checkGradient(zBelow, dzBelow, loss);
    }
}

TEST_CASE("every loss, with every kind of target and every output activation") {
    for (const LossCase& test : lossCases())
        for (std::size_t rows : {1u, 7u, 33u}) checkLoss(test, rows);
}

TEST_CASE("cross-entropy and bce keep their gradients far out, where exponentials would overflow") {
    const TargetWord target[] = {1};
    for (double far : {100.0, 1000.0}) {
        const double logits[] = {far, -far, 0, 0};
        double dz[4];
        LossShape shape{1, 2, 4, 1, Loss::crossEntropy, shared::targetClassIndex, Activation::identity, 1};
        CHECK(plain::lossAndGradient(shape, logits, logits, target, dz) == doctest::Approx(2 * far));
        CHECK(dz[0] == doctest::Approx(1));
        CHECK(dz[1] == doctest::Approx(-1));
        shape.loss = Loss::binaryCrossEntropy;
        shape.targetKind = shared::targetOneHot;
        CHECK(plain::lossAndGradient(shape, logits, logits, target, dz) == doctest::Approx(2 * far));
        CHECK(dz[0] == doctest::Approx(1));
        CHECK(dz[1] == doctest::Approx(-1));
    }
}

TEST_CASE("whole networks: every activation with every loss") {
    const LossCase losses[] = {{Loss::crossEntropy, 3, 3},
                               {Loss::meanSquared, 2, 1, Activation::tanh},
                               {Loss::meanSquared, 0, 2},
                               {Loss::huber, 3, 3, Activation::gelu},
                               {Loss::binaryCrossEntropy, 2, 1}};
    for (Activation activation : allActivations)
        for (const LossCase& test : losses)
            checkNetwork(netShape(test, {7, 9, 5}, activation),
                         dataset(7, test.classes, test.classes == 0 ? test.outputs : 1, 12), 8, 0);
}

TEST_CASE("whole networks: awkward widths and depths") {
    const LossCase loss{Loss::crossEntropy, 7, 7};
    for (const std::vector<std::size_t>& widths : std::vector<std::vector<std::size_t>>{
             {1}, {33}, {1, 1}, {7, 1, 33}, {33, 127}, {127, 7, 7, 33, 1, 7}})
        checkNetwork(netShape(loss, widths, Activation::tanh), dataset(widths[0], 7, 1, 33), 33, 0);
}

TEST_CASE("the last, smaller batch is averaged over its own rows") {
    const LossCase cases[] = {{Loss::crossEntropy, 3, 3}, {Loss::meanSquared, 3, 3}};
    for (const LossCase& test : cases) {
        const NetShape shape = netShape(test, {5, 6}, Activation::tanh);
        const Dataset data = dataset(5, test.classes, 1, 10);
        checkNetwork(shape, data, 4, 2); // rows 8 and 9
        // Its mean is the mean of the losses of its two examples, each as a batch of one.
        PlainNetwork<double> net(data, shape, initialWeights(shape, 1));
        const BatchOrder order(10, 4, 5, true);
        const double last = net.lossAndGradients(order, order.range(2));
        const std::vector<double> gradients = net.gradients;
        const BatchRange first{0, 8, 1}, second{0, 9, 1};
        const double lossOfFirst = net.lossAndGradients(order, first);
        const std::vector<double> gradientsOfFirst = net.gradients;
        CHECK(last == doctest::Approx((lossOfFirst + net.lossAndGradients(order, second)) / 2));
        for (std::size_t k = 0; k < gradients.size(); ++k)
            REQUIRE(std::abs(gradients[k] - (gradientsOfFirst[k] + net.gradients[k]) / 2) < 1e-15);
    }
}
