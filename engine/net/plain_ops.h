// Every operation of a training step as plain loops that follow the formulas, in float and double, on one
// thread, never optimised. They document the operations, serve as the reference of all tests, and are the
// rung `cpu:scalar` (compiled without vectorisation).
//
// Matrices are row-major. `stride` is the distance in elements from one row to the next: at least the width,
// and a multiple of four for activations and weights. A function that writes a row also zeroes its padding up
// to the next multiple of four, or to the stride if that comes first. It leaves the rest of the stride alone,
// so that several threads can each write some columns of a matrix.
//
// Notation: X [rows][inputs] are a layer's inputs, W [outputs][inputs] its weights, b [outputs] its biases,
// z = X W^T + b its preactivations ("sums" in names), f its activation. dZ is the loss's gradient by z, etc.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/net/dataset.h"
#include "engine/net/net_shape.h"
#include "engine/net/settings.h"

namespace lockstep {

struct DenseShape {
    std::size_t rows = 0;
    std::size_t inputs = 0;
    std::size_t outputs = 0;
    std::size_t inputStride = 0;  ///< of X, of dX, of W and of dW
    std::size_t outputStride = 0; ///< of f(z), of z and of dZ
};

struct LossShape {
    std::size_t rows = 0;
    std::size_t outputs = 0;
    std::size_t stride = 0;
    std::size_t targetWidth = 1;
    Loss loss = Loss::crossEntropy;
    std::uint32_t targetKind = shared::targetClassIndex;
    Activation outputActivation = Activation::identity;
    double scale = 1; ///< of the gradient: 1 / number of terms in the whole batch's mean
};

/// The number of terms in the mean that the loss takes over a batch: rows, or rows * outputs.
std::size_t lossTerms(Loss loss, std::size_t rows, std::size_t outputs);

/// A gathered target in 32 bits: the class number or, when targetKind is targetValues, a float.
using TargetWord = std::uint32_t;

/// The totals of an evaluation.
struct ScoreSum {
    double loss = 0;           ///< sum of the terms, not yet divided
    std::uint64_t correct = 0; ///< rows whose class was predicted; 0 in regression
};

namespace plain {

/// Row r of `inputs` [rows][stride] and `targets` [rows][targetWidth] = the example at position batch.first +
/// r of the order, for rows [rowBegin, rowEnd) of the batch. Pixels become pixel * (1 / 255).
template <class T>
void gatherBatch(const Dataset& data, const Examples& examples, const BatchOrder& order,
                 const BatchRange& batch, std::size_t rowBegin, std::size_t rowEnd, std::size_t stride,
                 T* inputs, TargetWord* targets);

/// outputs = f(X W^T + b). `sums` (may be null) receives z, for activations whose derivative needs it.
template <class T>
void dense(const DenseShape& shape, const T* inputs, const T* weights, const T* bias, Activation activation,
           T* outputs, T* sums);

/// dZ of the output layer, and the sum (not the mean) of the batch's loss terms.
///   cross-entropy         loss = log(sum_j exp(z_j)) - z_c        dz_j = softmax(z)_j - [j = c]
///   mean squared error    loss = (y - t)^2                        dy = 2 (y - t)
///   Huber, delta 1        loss = (y - t)^2 / 2 if |y - t| < 1,    dy = clamp(y - t, -1, 1)
///                                else |y - t| - 1/2
///   binary cross-entropy  loss = max(z, 0) - z t                  dz = sigmoid(z) - t
///                                + log(1 + exp(-|z|))
/// each times `scale` and f'(z) for the output activation. `saved` is what activationDerivative takes.
template <class T>
double lossAndGradient(const LossShape& shape, const T* outputs, const T* saved, const TargetWord* targets,
                       T* dSums);

/// dZ of the layer below = (dZ W) * f'(z below), elementwise; `saved` [rows][inputStride] is what
/// activationDerivative takes.
template <class T>
void denseBackwardInputs(const DenseShape& shape, const T* dSums, const T* weights, Activation previous,
                         const T* saved, T* dPreviousSums);

/// dW[o][i] = sum_r dZ[r][o] X[r][i] and db[o] = sum_r dZ[r][o], for outputs [outputBegin, outputEnd).
template <class T>
void denseBackwardWeights(const DenseShape& shape, const T* dSums, const T* inputs, std::size_t outputBegin,
                          std::size_t outputEnd, T* dWeights, T* dBias);

/// One optimizer step on elements [begin, end) of the arena, with g = gradient + l2 w + l1 sign(w). The
/// formulas are in shaders/shared/optimizers.h; `state1` is their m and `state2` their v, null if unused.
template <class T>
void update(Optimizer optimizer, const shared::UpdateParams& params, std::size_t begin, std::size_t end,
            const T* gradients, T* weights, T* state1, T* state2);

/// The class that a row of `count` outputs predicts: that of the largest (the first among equals); with one
/// output and two classes, class 1 when the output is above 0, or above 0.5 after a sigmoid.
template <class T>
std::size_t predictedClass(const T* outputs, std::size_t count, Activation outputActivation) {
    if (count == 1) return outputs[0] > (outputActivation == Activation::sigmoid ? T(0.5) : T(0)) ? 1 : 0;
    return static_cast<std::size_t>(std::max_element(outputs, outputs + count) - outputs);
}

/// The probability of every class (cross-entropy: softmax; one output with bce: sigmoid) from a row of
/// outputs; empty for other losses, whose outputs are no probabilities.
std::vector<double> probabilities(const NetShape& shape, const float* outputs);

/// Returns the sum of the rows' loss terms and the number of correct predictions. Where `confusion` is not
/// null, adds one count per row at confusion[label * classes + prediction].
template <class T>
ScoreSum score(const LossShape& shape, std::size_t classes, const T* outputs, const TargetWord* targets,
               std::uint64_t* confusion);

} // namespace plain

} // namespace lockstep
