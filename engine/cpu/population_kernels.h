// Kernels for many small networks of one shape, side by side: every weight, gradient and activation is a
// vector with one element per network. No network waits for another, and none depends on
// its neighbours.
//
// Arrays are of such vectors: [n] below means n vectors, those of an array contiguous. X
// [rows][inputs], Z and Y [rows][outputs]; a layer's parameters lie in one piece, W [outputs][inputs], then b
// [outputs]; so do its gradients and states. Formulas: net/plain_ops.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cpu/cpu_info.h"
#include "engine/net/dataset.h"
#include "engine/net/plain_ops.h"
#include "engine/net/settings.h"

namespace lockstep {

struct PopulationShape {
    std::size_t rows = 0; ///< examples of a batch, or of a part of it
    std::size_t inputs = 0;
    std::size_t outputs = 0;
};

/// The order of examples in an epoch, a key per network.
struct PopulationKeys {
    alignas(64) std::uint32_t k0[mostElements];
    alignas(64) std::uint32_t k1[mostElements];
    alignas(64) std::uint32_t k2[mostElements];
    alignas(64) std::uint32_t k3[mostElements];
};

/// Positions [first, first + rows) of an order. Where the networks are `alike`, all of them have the keys and
/// the data of the first one, and example numbers are [rows] numbers, not vectors.
struct PopulationBatch {
    std::size_t first = 0;
    std::size_t rows = 0;
    bool shuffled = false;
    bool alike = false;
};

/// Where each network's examples lie.
struct PopulationData {
    const void* values[mostElements];  ///< floats, [count][inputs]
    const void* targets[mostElements]; ///< words, [count][targetWidth]
    std::size_t inputs = 0;
    std::size_t targetWidth = 1;
};

/// The optimizer's numbers in one step (UpdateParams): the first four for each network, the others in
/// `common`.
struct PopulationRates {
    alignas(64) float learningRate[mostElements];
    alignas(64) float momentum[mostElements];
    alignas(64) float l2[mostElements];
    alignas(64) float weightKeep[mostElements];
    shared::UpdateParams common; ///< without the four above
};

/// Numbers of the networks of a vector that steps read and write.
struct PopulationLosses {
    alignas(64) double sum[mostElements];          ///< of the batch's terms so far
    alignas(64) float mean[mostElements];          ///< of the last batch that was finite
    alignas(64) std::int32_t learns[mostElements]; ///< -1; 0 once a batch's loss was not finite
};

/// None of these throws.
struct CpuPopulationKernels {
    std::size_t elements; ///< of a vector: networks side by side

    /// The batch's example numbers [rows].
    void (*orderExamples)(const PopulationBatch& batch, std::size_t count, const PopulationKeys& keys,
                          std::uint32_t* examples);
    /// X [rows][inputs] and targets [rows][targetWidth] of these examples.
    void (*gatherExamples)(const PopulationData& data, std::size_t rows, bool alike,
                           const std::uint32_t* examples, float* inputs, TargetWord* targets);
    /// Y = f(X W^T + b); `sums` (may be null) receives what f was applied to.
    void (*dense)(const PopulationShape& shape, const float* inputs, const float* parameters,
                  Activation activation, float* outputs, float* sums);
    /// dZ of the last layer [rows][outputs]; adds the terms to losses.sum. Targets [rows][targetWidth].
    void (*lossAndGradient)(const LossShape& shape, const float* outputs, const float* saved,
                            const TargetWord* targets, float* dSums, PopulationLosses& losses);
    /// Divides the sums into means and clears them. A network whose mean is not finite stops learning, and
    /// keeps its last mean. Returns whether one has just stopped.
    bool (*settleLosses)(std::size_t terms, PopulationLosses& losses);
    /// dZ of the layer below [rows][inputs] = (dZ W) * f'(saved).
    void (*denseBackwardInputs)(const PopulationShape& shape, const float* dSums, const float* parameters,
                                Activation previous, const float* saved, float* dPreviousSums);
    /// dW = dZ^T X and db; added to what is there where `add`.
    void (*denseBackwardWeights)(const PopulationShape& shape, const float* dSums, const float* inputs,
                                 bool add, float* gradients);
    /// One optimizer step on `count` parameters of the networks that learn.
    void (*update)(Optimizer optimizer, const PopulationRates& rates, const PopulationLosses& losses,
                   std::size_t count, const float* gradients, float* parameters, float* state1,
                   float* state2);
    /// Adds the terms and the rows answered rightly; `correct` [elements] stays where there are no classes.
    void (*score)(const LossShape& shape, std::size_t classes, const float* outputs,
                  const TargetWord* targets, double* losses, std::uint64_t* correct);
};

} // namespace lockstep
