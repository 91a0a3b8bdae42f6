#include "demos/lab/lab_product.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "engine/cpu/kernels.h"
#include "engine/tune/kernel_trial.h"
#include "engine/tune/product_candidates.h"

namespace lockstep::demos {

std::optional<ProductKernel> fastestProduct(LabBench& bench, const DenseShape& shape, std::size_t most) {
    ProductTrial trial(*bench.device(), Product::forward, shape, Activation::identity);
    double least = std::numeric_limits<double>::infinity();
    std::optional<ProductKernel> fastest;
    auto candidates = fastCandidates(*bench.device(), Product::forward, shape);
    candidates.resize(std::min(candidates.size(), most));
    for (const ProductKernel& candidate : candidates) {
        if (bench.stopped()) break;
        const TrialResult result =
            trial.measure(bench.kernels().dense(Product::forward, candidate, Activation::identity), 3, 100);
        if (!result.verified() || result.milliseconds >= least) continue;
        least = result.milliseconds;
        fastest = candidate;
    }
    return fastest;
}

void multiplyOnThreads(LabBench& bench, const DenseShape& shape, const float* a, const float* w, float* c) {
    const std::vector<float> bias(shape.outputs);
    bench.team().run([&](std::size_t thread) {
        const Share share = shareOf(shape.rows, thread, bench.threads(), 4);
        DenseShape part = shape;
        part.rows = share.end - share.begin;
        if (part.rows == 0) return;
        bestKernels().dense(part, a + share.begin * shape.inputStride, w, bias.data(), Activation::identity,
                            c + share.begin * shape.outputStride, nullptr);
    });
}

} // namespace lockstep::demos
