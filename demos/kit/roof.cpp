#include "demos/kit/roof.h"

#include <algorithm>

#include "demos/kit/pacer.h"
#include "engine/cpu/thread_team.h"
#include "engine/plan/work.h"
#include "engine/tune/kernel_trial.h"
#include "engine/tune/product_candidates.h"

namespace lockstep::demos {

namespace {

// A device that idled takes up to half a second of work to reach its speed. Software is always awake, and a
// rough measurement need not be exact.
double leastSeconds(const gpu::Device& device, bool rough) { return rough || device.software() ? 0 : 0.5; }

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

std::uint64_t copyBytes(gpu::Device& device) {
    const std::uint64_t wanted = std::uint64_t{device.software() ? 32u : 256u} << 20;
    return std::min(wanted, device.memoryLeft() / 4); // there are two
}

double copyRate(gpu::Device& device, gpu::Memory from, gpu::Memory to, bool rough) {
    const std::uint64_t bytes = copyBytes(device);
    const gpu::Buffer source(device, bytes, from, "copy source");
    const gpu::Buffer target(device, bytes, to, "copy target");
    gpu::Recorder recorder(device);
    double least = 1e30;
    const double begin = secondsNow();
    for (int round = 0; round < (rough ? 2 : 5) || secondsNow() - begin < leastSeconds(device, rough);
         ++round) {
        recorder.begin();
        recorder.copy(source.view(), target.view());
        least = std::min(least, recorder.submitAndTime());
    }
    return static_cast<double>(bytes) / least * 1e-6;
}

double registerRate(gpu::Device& device, const gpu::Kernel<shared::RoofParams>& kernel, double operations,
                    std::uint64_t bytes, bool rough) {
    // As integers these become 0 and 3; push constants, so no compiler can fold them.
    shared::RoofParams params{.rounds = 64, .factor = 0.999f, .summand = 3.001f};
    constexpr std::uint32_t mostRounds = 1024;
    const double longEnough = device.software() ? 20 : 4; // milliseconds
    constexpr std::uint32_t most = 1u << 18;
    const gpu::Buffer sums(device, most * bytes, gpu::Memory::device, "roof sums");
    gpu::Recorder recorder(device);
    const auto millisecondsOf = [&](std::uint32_t invocations) {
        recorder.begin();
        recorder.dispatch(kernel, {invocations, 1, 1}, params, {sums.view()});
        return recorder.submitAndTime();
    };
    std::uint32_t invocations = 1u << 10;
    millisecondsOf(invocations); // compiles it
    double least = millisecondsOf(invocations);
    constexpr int looks = 3;
    double rate = 0;
    for (int look = 0; look < looks; ++look) {
        // A faster clock needs more work. The device is filled first: a few workgroups with many rounds would
        // take as long, and leave it idle.
        while (least < longEnough && (invocations < most || params.rounds < mostRounds)) {
            (invocations < most ? invocations : params.rounds) *= 2;
            least = millisecondsOf(invocations);
        }
        const double begin = secondsNow();
        for (int round = 0;
             round < (rough ? 1 : 4) || secondsNow() - begin < leastSeconds(device, rough) / looks; ++round)
            least = std::min(least, millisecondsOf(invocations));
        rate = std::max(rate, operations * params.rounds * invocations / least * 1e-6);
        if (rough) break;
    }
    return rate;
}

double matrixRoof(gpu::Device& device, Kernels& kernels, bool int8, bool rough) {
    const gpu::MatrixTiles& tiles = device.limits().matrixTiles;
    const gpu::MatrixTile tile = int8 ? tiles.int8Tile() : tiles.tile();
    const std::uint32_t subgroup = device.limits().subgroupSize;
    if (tile.m == 0 || subgroup > Kernels::roofGroup) return 0;
    const double flops = 2.0 * tile.m * tile.n * tile.k * shared::roofMatrixProducts / subgroup;
    const std::uint64_t bytes =
        std::uint64_t{4} * tile.m * tile.n * sizeof(float) / subgroup; // four tiles of sums
    return registerRate(device, kernels.roofMatrix(int8), flops, bytes, rough);
}

Roof measureRoof(gpu::Device& device, Kernels& kernels, bool rough) {
    Roof roof;
    roof.gflops = registerRate(device, kernels.roof(), shared::roofOperations, sizeof(float), rough);
    roof.matrixGflops = matrixRoof(device, kernels, false, rough);
    roof.gigabytesPerSecond =
        2 * copyRate(device, gpu::Memory::device, gpu::Memory::device, rough); // read and written
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
