// Losses and their gradients, a row at a time, a vector of outputs at once. Formulas: net/plain_ops.h.
#pragma once

namespace lockstep {
namespace {

/// Elements from `count` on take `filler`.
LOCKSTEP_INLINE Floats fillBehind(Floats value, std::size_t count, float filler) {
    return elementNumbers() < static_cast<std::int32_t>(count) ? value : splat(filler);
}

LOCKSTEP_INLINE std::size_t elementsLeft(std::size_t column, std::size_t columns) {
    return columns - column < elements ? columns - column : elements;
}

/// dz = softmax(z) - onehot(c), unscaled; returns the row's loss, log(sum_j exp(z_j)) - z_c.
inline float crossEntropyRow(const float* z, std::size_t outputs, std::size_t target, float scale,
                             float* dz) {
    Floats largest = splat(z[0]);
    for (std::size_t j = 0; j < outputs; j += elements) {
        const std::size_t count = elementsLeft(j, outputs);
        largest = larger(fillBehind(loadFirst(z + j, count), count, z[0]), largest);
    }
    const float top = largestElement(largest);
    Floats sums{};
    for (std::size_t j = 0; j < outputs; j += elements) {
        const std::size_t count = elementsLeft(j, outputs);
        const Floats e = fillBehind(exponential(loadFirst(z + j, count) - top), count, 0);
        storeFirst(dz + j, e, count);
        sums += e;
    }
    const float sum = sumOfElements(sums);
    const float factor = scale / sum;
    for (std::size_t j = 0; j < outputs; j += elements) {
        const std::size_t count = elementsLeft(j, outputs);
        storeFirst(dz + j, loadFirst(dz + j, count) * factor, count);
    }
    dz[target] -= scale;
    return __builtin_logf(sum) + (top - z[target]); // in this order: near 0 for a correct prediction
}

/// The targets of outputs [first, first + count) of a row.
LOCKSTEP_INLINE Floats targetElements(std::uint32_t kind, const TargetWord* words, std::size_t first,
                                      std::size_t count) {
    switch (kind) {
    case shared::targetSign: return splat(words[0] == 1 ? 1.0f : -1.0f);
    case shared::targetBit: return splat(words[0] == 1 ? 1.0f : 0.0f);
    case shared::targetOneHot: {
        const std::int32_t hot = static_cast<std::int32_t>(words[0]) - static_cast<std::int32_t>(first);
        return elementNumbers() == hot ? splat(1.0f) : Floats{};
    }
    case shared::targetValues: return loadFirst(reinterpret_cast<const float*>(words + first), count);
    default: __builtin_unreachable(); // one comparison less for every vector
    }
}

/// Terms and gradients of the elementwise losses. The loss is a template parameter, so that loops do not
/// choose.
template <Loss loss> LOCKSTEP_INLINE Floats lossTermElements(Floats y, Floats t) {
    const Floats distance = absolute(y - t);
    if constexpr (loss == Loss::meanSquared) return distance * distance;
    if constexpr (loss == Loss::huber) return distance < 1.0f ? 0.5f * distance * distance : distance - 0.5f;
    return larger(y, Floats{}) - y * t + logOnePlus(exponential(-absolute(y)));
}

template <Loss loss> LOCKSTEP_INLINE Floats lossDerivativeElements(Floats y, Floats t) {
    const Floats difference = y - t;
    if constexpr (loss == Loss::meanSquared) return 2.0f * difference;
    if constexpr (loss == Loss::huber) return atLeast(atMost(difference, 1.0f), -1.0f);
    return sigmoid(y) - t;
}

template <Loss loss>
double elementwiseLoss(const LossShape& shape, const float* outputs, const TargetWord* targets,
                       float* dSums) {
    const auto scale = static_cast<float>(shape.scale);
    double total = 0;
    for (std::size_t row = 0; row < shape.rows; ++row) {
        const float* y = outputs + row * shape.stride;
        float* dz = dSums + row * shape.stride;
        Floats sums{};
        for (std::size_t j = 0; j < shape.outputs; j += elements) {
            const std::size_t count = elementsLeft(j, shape.outputs);
            const Floats value = loadFirst(y + j, count);
            const Floats target =
                targetElements(shape.targetKind, targets + row * shape.targetWidth, j, count);
            sums += fillBehind(lossTermElements<loss>(value, target), count, 0);
            storeFirst(dz + j, scale * lossDerivativeElements<loss>(value, target), count);
        }
        total += static_cast<double>(sumOfElements(sums));
    }
    return total;
}

inline double crossEntropyLoss(const LossShape& shape, const float* outputs, const TargetWord* targets,
                               float* dSums) {
    double total = 0;
    for (std::size_t row = 0; row < shape.rows; ++row)
        total +=
            static_cast<double>(crossEntropyRow(outputs + row * shape.stride, shape.outputs, targets[row],
                                                static_cast<float>(shape.scale), dSums + row * shape.stride));
    return total;
}

using LossFunction = double (*)(const LossShape&, const float*, const TargetWord*, float*);

/// In the order of Loss.
constexpr LossFunction lossFunctions[] = {crossEntropyLoss, elementwiseLoss<Loss::meanSquared>,
                                          elementwiseLoss<Loss::huber>,
                                          elementwiseLoss<Loss::binaryCrossEntropy>};

inline double lossAndGradient(const LossShape& shape, const float* outputs, const float* saved,
                              const TargetWord* targets, float* dSums) {
    // A vector per row pays off from a few outputs on.
    if (shape.outputs < 4) return plain::lossAndGradient(shape, outputs, saved, targets, dSums);
    const double total = lossFunctions[static_cast<std::size_t>(shape.loss)](shape, outputs, targets, dSums);
    withActivation<DeriveBlock>(shape.outputActivation, shape.rows, shape.outputs, shape.stride, saved,
                                dSums);
    clearPaddingOfRows(dSums, shape.rows, shape.outputs, shape.stride);
    return total;
}

} // namespace
} // namespace lockstep
