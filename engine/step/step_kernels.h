// Which kernels of a Vulkan device make a training step.
#pragma once

#include <vector>

#include "engine/plan/rewrites.h"
#include "engine/step/dense_kernel.h"

namespace lockstep {

/// Which kernel computes the products of one layer.
struct LayerKernels {
    ProductKernel forward;
    ProductKernel backwardInputs;
    ProductKernel backwardWeights;
};

struct StepKernels {
    std::vector<LayerKernels> layers; ///< one entry per dense layer
    /// The update is folded into the weight gradients (Kernels::denseUpdate).
    bool foldsUpdate = false;
    /// Operands are fp16 (half_arenas.h), and all kernels are those for fp16.
    bool half = false;

    /// A product takes several dispatches, and possibly several submissions (rung `one`).
    bool inPieces() const { return !layers.empty() && layers.front().forward.rung == Rung::one; }
    /// The recipe as these kernels carry it out, operation by operation.
    StepPlan plan(const NetShape& net, const TrainSettings& settings) const {
        StepPlan plan = trainStep(net);
        if (foldsUpdate) foldUpdate(plan);
        saveMemory(plan, net, settings.memory, settings.share);
        roundOperands(plan, net, settings.precision);
        return plan;
    }
};

} // namespace lockstep
