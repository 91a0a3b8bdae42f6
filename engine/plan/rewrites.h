// Rewrites of a training step's plan. Each has a file of its own with what it changes and why the results are
// what they are. `can...` tells whether the plan allows it; whether a device has the kernel for it is for the
// backend to say. step_plan_test shows what they make of the recipe, and compares what the plain
// backend computes; step_fusions_test shows that the bits of joined operations stay the same.
#pragma once

#include <span>

#include "engine/plan/plan.h"

namespace lockstep {

// These make the same results with fewer operations, and throw std::logic_error where `can...` says no.

/// The update of each layer becomes a part of its weight gradients (rewrite_fold_update.cpp). In place.
bool canFoldUpdate(const StepPlan& plan);
void foldUpdate(StepPlan& plan);

/// The batch is gathered by the first layer's forward product (rewrite_gather.cpp). In place.
bool canJoinGather(const StepPlan& plan);
void joinGather(StepPlan& plan);

/// The last layer's forward product, the loss, and the gradient for the layer below become one operation
/// (rewrite_last_layer.cpp). In place.
bool canJoinLastLayer(const StepPlan& plan);
void joinLastLayer(StepPlan& plan);

/// All weight gradients into which the update is folded become one operation (rewrite_weight_gradients.cpp).
/// In place.
bool canJoinWeightGradients(const StepPlan& plan);
void joinWeightGradients(StepPlan& plan);

/// All operations become one (rewrite_whole_step.cpp).
StepPlan wholeStepPlan(const NetShape& net);

// These put the same operations in another order, or repeat them, so that a step needs less at once. They
// take the recipe, rewritten by each other or not; joined operations stay where they are.

/// The weight gradients of a layer come straight after its input gradients (rewrite_early_gradients.cpp). In
/// place.
void gradientsEarly(StepPlan& plan);

/// A layer's forward product is repeated where the backward pass first asks for what it computed
/// (rewrite_recompute.cpp). In place. Of several layers, the highest first.
void recomputeForward(StepPlan& plan, const NetShape& net, std::size_t layer);

/// What the backward pass needs of a layer is copied to the host's memory and back (rewrite_offload.cpp),
/// where that lowers the most that a step needs at once. In place, after recomputeForward(). Throws
/// std::logic_error for a plan whose operations are joined, except for updates that are folded.
void offloadActivations(StepPlan& plan, const NetShape& net);

/// All that `memory` asks for, layer by layer and piece by piece (rewrite_save_memory.cpp), of one rank's
/// share of the batch. In place. Throws as offloadActivations() and microBatches().
void saveMemory(StepPlan& plan, const NetShape& net, const MemorySettings& memory,
                const RankShare& share = {});

/// The batch is taken in so many pieces, one after the other, and their gradients are added up
/// (rewrite_micro_batches.cpp). In place. Throws std::invalid_argument for none, and for a plan that stores
/// no gradients.
void microBatches(StepPlan& plan, std::size_t pieces);

// This changes what products read, and with it the results.

/// Products read their operands in a number format (rewrite_round.cpp). In place, after all other rewrites.
/// Throws std::logic_error for a plan whose operations are joined, except for updates that are folded.
void roundOperands(StepPlan& plan, const NetShape& net, const PrecisionSettings& precision);

// These leave out a part of the step, or let several devices share it.

/// These layers keep their parameters (rewrite_freeze.cpp). In place. Throws std::invalid_argument when no
/// layer is left to train.
void freeze(StepPlan& plan, std::span<const std::size_t> layers);

/// Each layer's gradients are exchanged between ranks before its update reads them (rewrite_exchange.cpp). In
/// place.
///   soon   an exchange is waited for when the next one has begun: where gradients are shared out, so that
///          only two layers' are whole
void exchangeGradients(StepPlan& plan, bool soon = false);

/// A rank takes its share of the batch, in so many pieces, and exchanges gradients
/// (rewrite_share_batch.cpp). In place. Throws as microBatches().
void shareBatch(StepPlan& plan, const NetShape& net, const RankShare& share, std::size_t pieces);

} // namespace lockstep
