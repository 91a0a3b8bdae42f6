// Rewrites of a training step's plan: the same results by fewer operations. Each has a file of its own with
// what it changes and why the results stay what they are. `can...` tells whether the plan allows it; whether
// a device has the kernel for it is for the backend to say. tests/step_plan_test.cpp shows what they make of
// the recipe, and tests/step_fusions_test.cpp that the bits of joined ones stay the same.
#pragma once

#include "engine/plan/plan.h"

namespace lockstep {

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

} // namespace lockstep
