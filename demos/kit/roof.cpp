#include "demos/kit/roof.h"

#include <algorithm>

#include "engine/tune/product_candidates.h"
#include "engine/tune/product_trial.h"

namespace lockstep::demos {

namespace {

double copyGigabytesPerSecond(gpu::Device& device, bool rough) {
    const std::uint64_t bytes = std::uint64_t{rough ? 4u : device.software() ? 32u : 256u} << 20;
    gpu::Buffer from(device, bytes, gpu::Memory::device, "copy source");
    gpu::Buffer to(device, bytes, gpu::Memory::device, "copy target");
    gpu::Recorder recorder(device);
    double best = 0;
    for (int round = 0; round < 5; ++round) {
        recorder.begin();
        recorder.copy(from.view(), to.view());
        recorder.submit();
        recorder.finish();
        const double milliseconds = recorder.takeFinished().back().milliseconds;
        best = std::max(best, 2 * static_cast<double>(bytes) / milliseconds * 1e-6); // read and written
    }
    return best;
}

// Never the fastest, and slow enough to be taken for a hang.
bool hopeless(const ProductKernel& candidate) { return candidate.rung == "naive"; }

} // namespace

Roof measureRoof(gpu::Device& device, Kernels& kernels, const std::atomic<bool>* cancelled, bool rough) {
    const std::size_t size = rough ? 128 : device.software() ? 512 : 2048;
    const DenseShape shape{size, size, size, size, size};
    ProductTrial trial(device, Product::forward, shape, Activation::identity);
    Roof roof;
    for (const ProductKernel& candidate : fastCandidates(device, Product::forward, shape)) {
        if (cancelled != nullptr && *cancelled) return roof;
        if (hopeless(candidate)) continue;
        const TrialResult result =
            trial.measure(kernels.dense(Product::forward, candidate, Activation::identity), 3);
        if (result.verified())
            roof.gflops = std::max(roof.gflops, trial.flops() / result.milliseconds * 1e-6);
    }
    roof.gigabytesPerSecond = copyGigabytesPerSecond(device, rough);
    return roof;
}

} // namespace lockstep::demos
