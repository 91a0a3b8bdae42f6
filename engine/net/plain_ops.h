// The plain CPU twin of every operation of a training step: loops that say what the mathematics says, in
// float and double, one thread, nobody optimises them. They are the documentation, the oracle of all tests,
// and the rung `cpu:scalar` (this file's .cpp is compiled without vectorisation).
//
// Shapes: matrices are row-major; `stride` is the distance in elements from one row to the next, at least the
// width, and a multiple of four for activations and weights; padding is written as 0 wherever a function
// writes rows, up to the next multiple of four (or to the stride): what lies between that and the stride is
// not touched, so that a matrix can be written by several threads, each its own columns. Notation: X
// [rows][inputs] a layer's inputs, W [outputs][inputs] its weights, b [outputs], z = X W^T + b the sums, f
// the activation; dZ is the gradient of the loss with respect to z, and so on.
#pragma once

#include <cstddef>
#include <cstdint>

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

/// A gathered target is one 32-bit word: the class number, or the bits of a float when targetKind is
/// targetValues.
using TargetWord = std::uint32_t;

/// What an evaluation adds up.
struct ScoreSum {
    double loss = 0;           ///< sum of the terms, not yet divided
    std::uint64_t correct = 0; ///< rows whose class was found; 0 in regression
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
/// each times `scale`, and times f'(z) for the output activation. `saved` is what activationDerivative takes.
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
/// formulas are in shaders/shared/optimizers.h; `state1` is their m and `state2` their v, null where the
/// optimizer has none.
template <class T>
void update(Optimizer optimizer, const shared::UpdateParams& params, std::size_t begin, std::size_t end,
            const T* gradients, T* weights, T* state1, T* state2);

/// Adds the loss terms of the rows, the rows answered rightly, and, where `confusion` is not null, one count
/// per row at confusion[true class * classes + answered class]. The answer is the class of the largest output
/// (the first among equals); with one output and two classes, class 1 when the output is above 0 (above 0.5
/// behind a sigmoid).
template <class T>
ScoreSum score(const LossShape& shape, std::size_t classes, const T* outputs, const TargetWord* targets,
               std::uint64_t* confusion);

} // namespace plain

} // namespace lockstep
