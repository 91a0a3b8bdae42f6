#include "demos/kit/roof.h"

#include <algorithm>

#include "engine/cpu/thread_team.h"
#include "engine/step/work.h"
#include "engine/tune/kernel_trial.h"
#include "engine/tune/product_candidates.h"

namespace lockstep::demos {

namespace {

double copyGigabytesPerSecond(gpu::Device& device, bool rough) {
    const std::uint64_t wanted = std::uint64_t{rough ? 4u : device.software() ? 32u : 256u} << 20;
    const std::uint64_t bytes = std::min(wanted, device.memoryLeft() / 4); // there are two
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

// Of a kernel that keeps everything in registers. Its dispatches grow until they are long enough for a clock
// and fill the device; then the best of some counts.
double registerGflops(gpu::Device& device, const gpu::Kernel<shared::RoofParams>& kernel,
                      double flopsPerInvocationAndRound, std::uint64_t bytesPerInvocation, bool rough) {
    const shared::RoofParams params{.rounds = rough ? 64u : 1024u, .factor = 0.999f, .summand = 0.001f};
    const double longEnough = device.software() ? 20 : 4; // milliseconds
    const std::uint32_t most = rough ? 1u << 12 : 1u << 18;
    const gpu::Buffer sums(device, most * bytesPerInvocation, gpu::Memory::device, "roof sums");
    gpu::Recorder recorder(device);
    const auto millisecondsOf = [&](std::uint32_t invocations) {
        recorder.begin();
        recorder.dispatch(kernel, {invocations, 1, 1}, params, {sums.view()});
        return recorder.submitAndTime();
    };
    std::uint32_t invocations = 1u << 10;
    millisecondsOf(invocations); // compiles it
    double least = millisecondsOf(invocations);
    while (least < longEnough && invocations < most) {
        invocations *= 2;
        least = millisecondsOf(invocations);
    }
    for (int round = 0; round < (rough ? 1 : 12); ++round)
        least = std::min(least, millisecondsOf(invocations));
    return flopsPerInvocationAndRound * params.rounds * invocations / least * 1e-6;
}

double matrixGflops(gpu::Device& device, Kernels& kernels, bool rough) {
    const gpu::MatrixTile tile = matrixTileOf(device);
    const std::uint32_t subgroup = device.limits().subgroupSize;
    if (tile.m == 0 || subgroup > Kernels::roofGroup) return 0;
    const double flops = 2.0 * tile.m * tile.n * tile.k * shared::roofMatrixProducts / subgroup;
    const std::uint64_t bytes =
        std::uint64_t{4} * tile.m * tile.n * sizeof(float) / subgroup; // four tiles of sums
    return registerGflops(device, kernels.roofMatrix(), flops, bytes, rough);
}

// Doubles the sides of a square product as long as the next one, of eight times the work, will take
// milliseconds: a large product on a small GPU would look like a hang.
std::size_t productSize(gpu::Device& device, Kernels& kernels) {
    constexpr std::size_t most = 2048;
    constexpr double longest = 16; // milliseconds
    for (std::size_t size = 256; size < most; size *= 2) {
        const DenseShape shape{size, size, size, size, size};
        const ProductKernel kernel = fastCandidates(device, Product::forward, shape).front();
        ProductTrial trial(device, Product::forward, shape, Activation::identity);
        const TrialResult result =
            trial.measure(kernels.dense(Product::forward, kernel, Activation::identity), 1);
        if (8 * result.milliseconds > longest) return size;
    }
    return most;
}

} // namespace

Roof measureRoof(gpu::Device& device, Kernels& kernels, bool rough) {
    Roof roof;
    roof.gflops = registerGflops(device, kernels.roof(), shared::roofOperations, sizeof(float), rough);
    roof.matrixGflops = matrixGflops(device, kernels, rough);
    roof.gigabytesPerSecond = copyGigabytesPerSecond(device, rough);
    return roof;
}

double fastestProduct(gpu::Device& device, Kernels& kernels, const std::atomic<bool>* cancelled, bool rough) {
    const std::size_t size = rough ? 128 : productSize(device, kernels);
    const DenseShape shape{size, size, size, size, size};
    ProductTrial trial(device, Product::forward, shape, Activation::identity);
    double gflops = 0;
    for (const ProductKernel& candidate : fastCandidates(device, Product::forward, shape)) {
        if (cancelled != nullptr && *cancelled) break;
        if (rowOf(candidate.rung).oneOutput)
            continue; // never the fastest, and slow enough to look like a hang
        const TrialResult result =
            trial.measure(kernels.dense(Product::forward, candidate, Activation::identity), 3);
        if (result.verified()) gflops = std::max(gflops, denseWork(shape).flops / result.milliseconds * 1e-6);
    }
    return gflops;
}

Roof measureCpuRoof(std::size_t threads) {
    ThreadTeam team(threads);
    return {.gflops = roofGflops(team), .gigabytesPerSecond = roofGigabytesPerSecond(team)};
}

} // namespace lockstep::demos
