// The losses: targets, loss terms, their gradients, and the scoring of predictions.
#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "engine/net/activation.h"
#include "engine/net/plain_ops.h"

namespace lockstep {

std::size_t lossTerms(Loss loss, std::size_t rows, std::size_t outputs) {
    return loss == Loss::crossEntropy ? rows : rows * outputs;
}

namespace plain {

namespace {

/// The target of output `output` of a row; `words` are the row's gathered target.
template <class T> T targetValue(std::uint32_t targetKind, const TargetWord* words, std::size_t output) {
    switch (targetKind) {
    case shared::targetSign: return words[0] == 1 ? T(1) : T(-1);
    case shared::targetBit: return words[0] == 1 ? T(1) : T(0);
    case shared::targetOneHot: return words[0] == output ? T(1) : T(0);
    case shared::targetValues: return T(std::bit_cast<float>(words[output]));
    default: throw std::logic_error("targets of an unknown kind");
    }
}

/// Softmax in two numbers, so that nothing overflows: exp(z_j) / sum_j exp(z_j) = exp(z_j - largest) / sum.
template <class T> struct Softmax {
    Softmax(const T* z, std::size_t outputs) : largest(*std::max_element(z, z + outputs)) {
        for (std::size_t j = 0; j < outputs; ++j) sum += std::exp(z[j] - largest);
    }
    T largest;
    T sum = 0;
};

/// One term of the elementwise losses, for output y (bce: logit) and target t.
template <class T> T lossTerm(Loss loss, T y, T t) {
    const T distance = std::abs(y - t);
    switch (loss) {
    case Loss::meanSquared: return distance * distance;
    case Loss::huber: return distance < T(1) ? T(0.5) * distance * distance : distance - T(0.5);
    case Loss::binaryCrossEntropy: return std::max(y, T(0)) - y * t + std::log1p(std::exp(-std::abs(y)));
    default: throw std::logic_error("not an elementwise loss");
    }
}

/// d lossTerm / d y.
template <class T> T lossTermDerivative(Loss loss, T y, T t) {
    switch (loss) {
    case Loss::meanSquared: return T(2) * (y - t);
    case Loss::huber: return std::clamp(y - t, T(-1), T(1));
    case Loss::binaryCrossEntropy: return activate(Activation::sigmoid, y) - t;
    default: throw std::logic_error("not an elementwise loss");
    }
}

/// The sum of one row's loss terms.
template <class T> T rowLoss(const LossShape& shape, const T* y, const TargetWord* target) {
    if (shape.loss == Loss::crossEntropy) {
        const Softmax<T> softmax(y, shape.outputs);
        return std::log(softmax.sum) + (softmax.largest - y[target[0]]);
    }
    T sum = 0;
    for (std::size_t j = 0; j < shape.outputs; ++j)
        sum += lossTerm(shape.loss, y[j], targetValue<T>(shape.targetKind, target, j));
    return sum;
}

/// Gradient of one row's loss terms with respect to its outputs, not yet scaled.
template <class T> void rowGradient(const LossShape& shape, const T* y, const TargetWord* target, T* dy) {
    if (shape.loss == Loss::crossEntropy) {
        const Softmax<T> softmax(y, shape.outputs);
        for (std::size_t j = 0; j < shape.outputs; ++j)
            dy[j] = std::exp(y[j] - softmax.largest) / softmax.sum - (j == target[0] ? T(1) : T(0));
    } else {
        for (std::size_t j = 0; j < shape.outputs; ++j)
            dy[j] = lossTermDerivative(shape.loss, y[j], targetValue<T>(shape.targetKind, target, j));
    }
}

} // namespace

template <class T>
double lossAndGradient(const LossShape& shape, const T* outputs, const T* saved, const TargetWord* targets,
                       T* dSums) {
    double loss = 0;
    for (std::size_t r = 0; r < shape.rows; ++r) {
        const T* y = outputs + r * shape.stride;
        const TargetWord* target = targets + r * shape.targetWidth;
        T* dz = dSums + r * shape.stride;
        loss += static_cast<double>(rowLoss(shape, y, target));
        rowGradient(shape, y, target, dz);
        for (std::size_t j = 0; j < shape.outputs; ++j)
            dz[j] *=
                T(shape.scale) * activationDerivative(shape.outputActivation, saved[r * shape.stride + j]);
        std::fill(dz + shape.outputs, dz + shape.stride, T(0));
    }
    return loss;
}

template <class T>
ScoreSum score(const LossShape& shape, std::size_t classes, const T* outputs, const TargetWord* targets,
               std::uint64_t* confusion) {
    ScoreSum sum;
    for (std::size_t r = 0; r < shape.rows; ++r) {
        const T* y = outputs + r * shape.stride;
        const TargetWord* target = targets + r * shape.targetWidth;
        sum.loss += static_cast<double>(rowLoss(shape, y, target));
        if (classes == 0) continue;
        const std::size_t answer = predictedClass(y, shape.outputs, shape.outputActivation);
        if (answer == target[0]) ++sum.correct;
        if (confusion != nullptr) ++confusion[target[0] * classes + answer];
    }
    return sum;
}

std::vector<double> probabilities(const NetShape& shape, const float* outputs) {
    if (shape.loss == Loss::binaryCrossEntropy && shape.outputs() == 1) {
        const double one = activate(Activation::sigmoid, static_cast<double>(outputs[0]));
        return {1 - one, one};
    }
    if (shape.loss != Loss::crossEntropy) return {};
    std::vector<double> result(outputs, outputs + shape.outputs());
    const Softmax<double> softmax(result.data(), result.size());
    for (double& value : result) value = std::exp(value - softmax.largest) / softmax.sum;
    return result;
}

template double lossAndGradient(const LossShape&, const float*, const float*, const TargetWord*, float*);
template double lossAndGradient(const LossShape&, const double*, const double*, const TargetWord*, double*);
template ScoreSum score(const LossShape&, std::size_t, const float*, const TargetWord*, std::uint64_t*);
template ScoreSum score(const LossShape&, std::size_t, const double*, const TargetWord*, std::uint64_t*);

} // namespace plain

} // namespace lockstep
