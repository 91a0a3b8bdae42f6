// A training step as a value: its operations in order. trainStep() (step.cpp) writes the recipe into a plan,
// rewrites (rewrites.h) change it, and backends (engine/step/ops.h) carry it out.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/plan/operation.h"

namespace lockstep {

struct StepPlan {
    std::vector<PlannedOperation> operations;

    // What the recipe calls.
    void gatherBatch() { operations.push_back({Operation::gatherBatch}); }
    void dense(std::size_t layer) { operations.push_back({Operation::dense, layer}); }
    void lossAndGradient() { operations.push_back({Operation::lossAndGradient}); }
    void denseBackwardInputs(std::size_t layer) {
        operations.push_back({Operation::denseBackwardInputs, layer});
    }
    void denseBackwardWeights(std::size_t layer) {
        operations.push_back({Operation::denseBackwardWeights, layer});
    }
    void update(std::size_t layers) { operations.push_back({Operation::update, 0, layers}); }

    bool has(Operation operation) const;
};

/// The recipe: one step of minibatch gradient descent.
StepPlan trainStep(const NetShape& net);

/// Its first two parts alone: what an evaluation does before it looks at the outputs.
StepPlan forwardPass(const NetShape& net);

} // namespace lockstep
