#include "demos/exhibits/ladder/rung_result.h"

#include <algorithm>
#include <stdexcept>

#include "engine/tune/product_candidates.h"

namespace lockstep::demos {

namespace {

constexpr Product productKinds[] = {Product::forward, Product::backwardInputs, Product::backwardWeights};

Product productOf(const TracedOperation& operation) {
    return *std::ranges::find_if(productKinds, [&](Product each) { return name(each) == operation.name; });
}

constexpr std::string_view foldedSuffix = "_update"; // in the name of a shader that includes the optimizer's step

bool foldsUpdate(const TracedOperation& operation) {
    return operation.source.find(foldedSuffix) != std::string::npos;
}

// Of a folded update: it reads and writes parameters and state instead of writing gradients.
double foldedBytes(const TracedOperation& operation, const DenseShape& shape) {
    std::size_t arenas = 1;
    for (const TensorId& id : operation.reads)
        if (id.kind == TensorKind::weightState1 || id.kind == TensorKind::weightState2) ++arenas;
    const auto parameters = static_cast<double>(shape.outputs * shape.inputStride + shape.outputs);
    return parameters * sizeof(float) * (2 * static_cast<double>(arenas) - 1);
}

} // namespace

bool isProduct(const TracedOperation& operation) {
    return std::ranges::any_of(productKinds, [&](Product each) { return name(each) == operation.name; });
}

bool isWholeStep(const TracedOperation& operation) { return operation.name == "whole_step"; }

ProductKernel kernelOf(const TracedOperation& operation, gpu::Device& device, const DenseShape& shape) {
    const Product product = productOf(operation);
    std::string source = operation.source;
    if (foldsUpdate(operation)) source.erase(source.find(foldedSuffix), foldedSuffix.size());
    const auto is = [&](const ProductKernel& how) {
        return how.describe() == operation.kernel && shaderName(name(product), how) == source;
    };
    constexpr double most = 1e8; // operations: a second of a single invocation
    for (const auto& all : {candidates(device, product, shape), halfCandidates(device, product, shape)})
        for (const ProductKernel& how : all)
            if (is(how)) {
                if (how.rung == Rung::one && operation.flops > most)
                    throw std::runtime_error(
                        "counting the accesses inside this kernel would take as long as the step itself");
                return how;
            }
    throw std::runtime_error("the accesses of " + operation.source + " are not counted");
}

double countProductBytes(const std::vector<TracedOperation>& operations, const NetShape& net,
                         std::size_t batch, gpu::Device& device, AccessRecorder& recorder) {
    double bytes = 0;
    for (const TracedOperation& operation : operations) {
        if (isWholeStep(operation))
            throw std::runtime_error("between its operations, data stay in the workgroup's shared memory");
        if (!isProduct(operation)) continue;
        const std::size_t inputs = net.widths[operation.layer];
        const std::size_t outputs = net.widths[operation.layer + 1];
        const DenseShape shape{batch, inputs, outputs, roundUpToFour(inputs), roundUpToFour(outputs)};
        const AccessRecord record = recorder.record(productOf(operation), kernelOf(operation, device, shape),
                                                    shape, Recording::bytes);
        bytes += record.bytesRead + record.bytesWritten;
        if (foldsUpdate(operation)) bytes += foldedBytes(operation, shape);
    }
    return bytes;
}

} // namespace lockstep::demos
