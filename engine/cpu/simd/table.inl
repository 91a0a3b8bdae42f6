// All of `simd`, in the order in which it builds up. The including file has set LOCKSTEP_VECTOR_BYTES, the
// name of the tables and the instruction set, and has included the standard headers before it did.
#pragma once

// clang-format off
#include "engine/cpu/simd/vectors.inl"
#include "engine/cpu/simd/math.inl"
#include "engine/cpu/simd/product.inl"
#include "engine/cpu/simd/layers.inl"
#include "engine/cpu/simd/loss.inl"
#include "engine/cpu/simd/update.inl"
#include "engine/cpu/simd/gather.inl"
#include "engine/cpu/simd/small.inl"
#include "engine/cpu/simd/small_batch.inl"
#include "engine/cpu/simd/map.inl"
#include "engine/cpu/simd/population.inl"
#include "engine/cpu/simd/population_batch.inl"
#include "engine/cpu/simd/population_loss.inl"
// clang-format on

namespace lockstep {

constinit const VectorTables LOCKSTEP_TABLES{
    .simd = {.name = "simd",
             .gatherBatch = gatherBatch,
             .dense = dense,
             .lossAndGradient = lossAndGradient,
             .denseBackwardInputs = denseBackwardInputs,
             .denseBackwardWeights = denseBackwardWeights,
             .folds = true,
             .anyCut = true,
             .update = update,
             .score = plain::score<float>}, // a sum per example of an evaluation: not worth more
    .small = {.orderExamples = smallOrderExamples,
              .gatherBatch = smallGatherBatch,
              .dense = smallDense,
              .lossAndGradient = smallLossAndGradient,
              .denseBackwardInputs = smallBackwardInputs,
              .addWeightGradient = smallWeightGradient},
    .population = {.elements = elements,
                   .orderExamples = populationOrderExamples,
                   .gatherExamples = populationGatherExamples,
                   .dense = populationDense,
                   .lossAndGradient = populationLossAndGradient,
                   .settleLosses = populationSettleLosses,
                   .denseBackwardInputs = populationBackwardInputs,
                   .denseBackwardWeights = populationBackwardWeights,
                   .update = populationUpdate,
                   .score = populationScore},
    .map = {.elements = elements, .train = map::train},
    .finishDense = finishDense,
    .finishBackwardInputs = finishBackwardInputs,
    .sumColumns = sumColumns,
    .multiplyAdds = multiplyAdds,
    .roundFlops = 2 * roofChains * elements,
};

} // namespace lockstep
