#include "engine/step/gpu_trace.h"

namespace lockstep {

namespace {

const ProductKernel* productOf(const TracedOperation& operation, const LayerKernels& layer) {
    if (operation.name == name(Product::forward)) return &layer.forward;
    if (operation.name == name(Product::backwardInputs)) return &layer.backwardInputs;
    if (operation.name == name(Product::backwardWeights)) return &layer.backwardWeights;
    return nullptr;
}

TracedOperation operationOf(const gpu::TracedDispatch& dispatch) {
    TracedOperation operation;
    operation.name = operation.source = dispatch.name;
    operation.layer = dispatch.cost.tag;
    operation.beginMs = dispatch.beginMs;
    operation.endMs = dispatch.endMs;
    operation.flops = dispatch.cost.flops;
    operation.bytes = dispatch.cost.bytes;
    operation.barrierBefore = dispatch.barrierBefore;
    return operation;
}

bool samePlace(const TracedOperation& one, const TracedOperation& other) {
    return one.name == other.name && one.layer == other.layer;
}

// By its next piece.
void prolong(TracedOperation& operation, const TracedOperation& piece) {
    operation.endMs = piece.endMs;
    operation.flops += piece.flops;
    operation.bytes += piece.bytes;
}

} // namespace

std::vector<TracedOperation> operationsOf(const std::vector<gpu::TracedDispatch>& dispatches,
                                          const StepKernels& how) {
    std::vector<TracedOperation> operations;
    bool lossSeen = false;
    bool scaleSeen = false;
    for (const gpu::TracedDispatch& dispatch : dispatches) {
        TracedOperation operation = operationOf(dispatch);
        if (const ProductKernel* product = productOf(operation, how.layers.at(operation.layer))) {
            const bool folded = how.foldsUpdate && product == &how.layers[operation.layer].backwardWeights;
            operation.source = shaderName(operation.name + (folded ? "_update" : ""), *product);
            operation.kernel = product->describe();
        }
        if (operation.name == "loss_and_gradient") {
            if (lossSeen) operation.source = "loss_sum"; // the same operation's second half
            lossSeen = true;
        }
        if (how.half && operation.name == "update") {
            operation.source = scaleSeen ? "update_half" : "loss_scale"; // the same operation's first half
            scaleSeen = true;
        }
        if (how.inPieces() && !operation.kernel.empty() && !operations.empty() &&
            samePlace(operations.back(), operation))
            prolong(operations.back(), operation);
        else
            operations.push_back(std::move(operation));
    }
    return operations;
}

} // namespace lockstep
