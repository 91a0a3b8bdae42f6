// Threads of different speed: who decides their shares, and that nothing but the time changes.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "engine/run/work_shares.h"
#include "engine/step/cpu_ops.h"
#include "engine/step/ops.h"
#include "tests/sanitized.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

/// Parts of each thread, after all have worked at `speeds` (parts per second) in 100 stretches of 20 ms.
std::vector<std::size_t> divide(WorkShares& shares, const std::vector<double>& speeds) {
    const auto sizes = [&] {
        std::vector<std::size_t> result;
        for (const Share& share : shares.next(speeds.size())) result.push_back(share.end - share.begin);
        return result;
    };
    for (int stretch = 0; stretch < 100; ++stretch) {
        const std::vector<std::size_t> parts = sizes();
        std::vector<double> seconds;
        for (std::size_t thread = 0; thread < speeds.size(); ++thread)
            seconds.push_back(static_cast<double>(parts[thread]) / speeds[thread]);
        const double slowest = *std::ranges::max_element(seconds);
        const auto steps = static_cast<std::uint64_t>(std::max(1.0, 0.02 / slowest));
        for (double& each : seconds) each *= static_cast<double>(steps);
        shares.took(steps, seconds);
    }
    return sizes();
}

using Sizes = std::vector<std::size_t>;

struct Result {
    std::vector<float> parameters;
    std::vector<float> losses;
    bool operator==(const Result&) const = default;
};

/// Steps by three threads; in each, the first ones have as many grains of parts as the next row of `rows`
/// says.
Result trainCut(const TrainJob& job, const CpuKernels& kernels, std::uint64_t steps,
                const std::vector<Sizes>& rows) {
    CpuArenas arenas(job, kernels, 3);
    ThreadTeam team(3);
    std::vector<std::unique_ptr<CpuOps>> ops;
    for (int i = 0; i < 3; ++i) ops.push_back(std::make_unique<CpuOps>(arenas, team, nullptr));
    Result result;
    for (std::uint64_t step = 0; step < steps; ++step) {
        const Sizes& grains = rows[step % rows.size()];
        std::size_t cut = 0;
        for (std::size_t thread = 0; thread < grains.size(); ++thread) {
            const std::size_t begin = cut;
            cut += grains[thread] * arenas.partGrain();
            ops[thread]->takeParts({begin, cut});
        }
        REQUIRE(cut == arenas.parts());
        team.run(
            [&](std::size_t thread) {
                execute(*ops[thread], arenas.plan, stepSettings(job.settings, arenas.order, step));
                ops[thread]->endStep();
            },
            grains.size());
        result.losses.push_back(ops[0]->loss());
    }
    result.parameters.assign(arenas.parameters.span().begin(), arenas.parameters.span().end());
    return result;
}

thread_local int repeats = 1; // of what the calling thread computes

/// simd, and `repeats` times the work for what takes longest.
CpuKernels slowedKernels() {
    CpuKernels kernels = simdKernels();
    kernels.dense = [](const DenseShape& shape, const float* inputs, const float* weights, const float* bias,
                       Activation activation, float* outputs, float* sums) {
        for (int i = 0; i < repeats; ++i)
            simdKernels().dense(shape, inputs, weights, bias, activation, outputs, sums);
    };
    kernels.denseBackwardWeights = [](const DenseShape& shape, const float* dSums, const float* inputs,
                                      std::size_t begin, std::size_t end, float, float, float* weights,
                                      float* bias) {
        for (int i = 0; i < repeats; ++i)
            simdKernels().denseBackwardWeights(shape, dSums, inputs, begin, end, 0, 1, weights, bias);
    };
    kernels.folds = false;
    return kernels;
}

} // namespace

TEST_CASE("threads that are almost equally fast have equal shares") {
    WorkShares shares(4, 64);
    CHECK(divide(shares, {1e4, 1e4, 1e4, 1e4}) == Sizes{16, 16, 16, 16});
    CHECK(divide(shares, {1.05e4, 0.95e4, 1e4, 1e4}) == Sizes{16, 16, 16, 16});
    CHECK(divide(shares, {1e4, 1e4, 1e4}) == Sizes{21, 21, 22});
    CHECK(divide(shares, {1e4}) == Sizes{64});
}

TEST_CASE("shares follow the speed of the threads, and are equal again when the speeds are") {
    WorkShares shares(4, 64);
    CHECK(divide(shares, {1e4, 1e4, 0.6e4, 0.6e4}) == Sizes{20, 20, 12, 12});
    CHECK(divide(shares, {1e4, 1e4, 1e4, 1e4}) == Sizes{16, 16, 16, 16});
    CHECK(divide(shares, {0.2e4, 1e4, 1e4, 1e4}) == Sizes{4, 20, 20, 20});
    CHECK(divide(shares, {10, 1e4, 1e4, 1e4}) == Sizes{1, 20, 22, 21});
    CHECK(divide(shares, {2, 2, 2, 1}) == Sizes{18, 19, 18, 9}); // a step takes seconds
}

TEST_CASE("a short interruption moves nothing, and a thread that joins is known from before") {
    WorkShares shares(2, 32);
    CHECK(divide(shares, {1e4, 1e4}) == Sizes{16, 16});
    shares.next(2);
    shares.took(10, std::vector<double>{0.016, 0.024});
    CHECK(shares.next(2)[0].end == 16);
    CHECK(divide(shares, {1e4, 0.5e4}) == Sizes{21, 11});
    CHECK(divide(shares, {1e4}) == Sizes{32});
    CHECK(shares.next(2)[0].end == 21);
}

TEST_CASE("work that is bound to fixed cuts keeps them") {
    WorkShares shares(3, 48, 16);
    CHECK(divide(shares, {1e4, 1e4, 0.1e4}) == Sizes{16, 16, 16});
    CHECK(divide(shares, {1e4, 1e4}) == Sizes{16, 32});
    CHECK(divide(shares, {1e4, 0.6e4}) == Sizes{32, 16});
}

TEST_CASE("where the work is cut changes nothing, to the bit") {
    const Dataset blobs = classData();
    const Dataset pixels = pixelData(784, 10, 200);
    TrainJob few = jobFor(blobs, {33, 13});
    few.settings.batch = 2;
    TrainJob wide = jobFor(pixels, {1370, 1030}); // a million weights: cut by columns
    wide.settings.batch = 10;
    for (TrainJob job : {jobFor(blobs, {33, 13}), few, largeJob(pixels), wide})
        for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::adam})
            for (const Activation activation : {Activation::relu, Activation::gelu})
                for (const CpuKernels* kernels : {&scalarKernels(), &simdKernels(), &bestKernels()}) {
                    const bool large = job.shape.widths[1] > 1000;
                    if (large &&
                        (activation == Activation::gelu || (sanitized && kernels == &scalarKernels())))
                        continue;
                    CAPTURE(kernels->name);
                    CAPTURE(name(optimizer));
                    CAPTURE(job.shape.widths[1]);
                    job.shape.activation = activation;
                    job.settings.optimizer.kind = optimizer;
                    const std::uint64_t steps = large ? 3 : 12;
                    const bool any = kernels->anyCut;
                    const Result equal =
                        trainCut(job, *kernels, steps, {any ? Sizes{16, 16, 16} : Sizes{1, 1, 1}});
                    CHECK(equal == trainCut(job, *kernels, steps, {{any ? 48u : 3u}}));
                    CHECK(equal == trainCut(job, *kernels, steps,
                                            any ? std::vector<Sizes>{{1, 46, 1}, {3, 40, 5}, {9, 39}}
                                                : std::vector<Sizes>{{1, 2}, {2, 1}}));
                }
}

TEST_CASE("a slow thread's share shrinks, whichever thread it is") {
    const Dataset data = pixelData(784, 10, 500);
    TrainJob job = largeJob(data);
    const CpuKernels kernels = slowedKernels();
    for (const std::size_t slow : {0, 1}) {
        CpuArenas arenas(job, kernels, 2);
        ThreadTeam team(2);
        std::vector<std::unique_ptr<CpuOps>> ops;
        for (int i = 0; i < 2; ++i) ops.push_back(std::make_unique<CpuOps>(arenas, team, nullptr));
        WorkShares shares(2, arenas.parts(), arenas.partGrain());
        std::vector<double> seconds(2);
        std::size_t parts = 16;
        std::uint64_t step = 0;
        for (int stretch = 0; stretch < 5000 && parts > 10; ++stretch, step += 5) { // of 32; at last 6 or 7
            const std::vector<Share>& now = shares.next(2);
            parts = now[slow].end - now[slow].begin;
            for (std::size_t thread = 0; thread < 2; ++thread) ops[thread]->takeParts(now[thread]);
            team.run([&](std::size_t thread) {
                repeats = thread == slow ? 4 : 1;
                const double waited = ops[thread]->waitedSeconds();
                const auto start = std::chrono::steady_clock::now();
                for (std::uint64_t k = step; k < step + 5; ++k) {
                    execute(*ops[thread], arenas.plan, stepSettings(job.settings, arenas.order, k));
                    ops[thread]->endStep();
                }
                seconds[thread] = secondsSince(start) - (ops[thread]->waitedSeconds() - waited);
                repeats = 1;
            });
            shares.took(5, seconds);
        }
        CHECK(parts <= 10);
    }
}

TEST_CASE("threads on slow cores get kernels whose work can be cut anywhere") {
    const RungRow& best = rowOf(Rung::best, false);
    CHECK(&trainingKernels(best, 4, {.physical = 4, .fast = 4}) == &bestKernels());
    CHECK(&trainingKernels(best, 8, {.physical = 4, .fast = 4}) == &bestKernels()); // none is slower
    CHECK(&trainingKernels(best, 4, {.physical = 8, .fast = 4}) == &bestKernels());
    CHECK(&trainingKernels(best, 5, {.physical = 8, .fast = 4}) == &simdKernels());
    CHECK(simdKernels().anyCut);
}
