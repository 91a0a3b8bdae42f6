#include "demos/exhibits/ladder/rung_bytes.h"

#include <algorithm>
#include <stdexcept>

#include "engine/train/kernel_choice.h"

namespace lockstep::demos {

namespace {

constexpr Product products[] = {Product::forward, Product::backwardInputs, Product::backwardWeights};

Product productOf(const TracedOperation& operation) {
    return *std::ranges::find_if(products, [&](Product each) { return name(each) == operation.name; });
}

} // namespace

bool isProduct(const TracedOperation& operation) {
    return std::ranges::any_of(products, [&](Product each) { return name(each) == operation.name; });
}

ProductKernel kernelOf(const TracedOperation& operation, gpu::Device& device, const DenseShape& shape) {
    const Product product = productOf(operation);
    const auto is = [&](const ProductKernel& how) {
        return how.describe() == operation.kernel && shaderStem(product, how) == operation.source;
    };
    for (const ProductKernel& how : candidates(device, product, shape))
        if (is(how)) return how;
    throw std::runtime_error("the accesses of " + operation.source + " are not counted");
}

double countProductBytes(const std::vector<TracedOperation>& operations, const NetShape& net,
                         std::size_t batch, gpu::Device& device, AccessRecorder& recorder) {
    double bytes = 0;
    for (const TracedOperation& operation : operations) {
        if (!isProduct(operation)) continue;
        const std::size_t inputs = net.widths[operation.layer];
        const std::size_t outputs = net.widths[operation.layer + 1];
        const DenseShape shape{batch, inputs, outputs, roundUpToFour(inputs), roundUpToFour(outputs)};
        const AccessRecord record = recorder.record(productOf(operation), kernelOf(operation, device, shape),
                                                    shape, Recording::bytes);
        bytes += record.bytesRead + record.bytesWritten;
    }
    return bytes;
}

} // namespace lockstep::demos
