#include "engine/train/kernel_choice.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <stdexcept>

#include "engine/gpu/error.h"
#include "engine/train/kernel_cache.h"
#include "engine/train/product_trial.h"

namespace lockstep {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t trialRows = 1024; // of a trial at most: beyond that, more rows are more of the same

// Sizes of the product C[m][n] (see Product).
struct Extent {
    std::uint32_t m;
    std::uint32_t n;
};

Extent extentOf(Product product, const DenseShape& shape) {
    const auto number = [](std::size_t value) { return static_cast<std::uint32_t>(value); };
    switch (product) {
    case Product::forward: return {number(shape.rows), number(shape.outputStride)};
    case Product::backwardInputs: return {number(shape.rows), number(shape.inputStride)};
    case Product::backwardWeights: return {number(shape.outputs), number(shape.inputStride)};
    }
    return {1, 1};
}

std::uint32_t divideUp(std::uint32_t value, std::uint32_t by) { return (value + by - 1) / by; }

// A workgroup of `lanes` invocations, laid along n, or along m where that leaves fewer of them with nothing
// to do.
ProductKernel fittedGroup(ProductKernel kernel, const Extent& extent, std::uint32_t lanes) {
    const std::uint32_t tilesM = divideUp(extent.m, kernel.tileM);
    const std::uint32_t tilesN = divideUp(extent.n, kernel.tileN);
    const std::uint64_t groupsAlongN = std::uint64_t{divideUp(tilesN, lanes)} * tilesM;
    const std::uint64_t groupsAlongM = std::uint64_t{divideUp(tilesM, lanes)} * tilesN;
    kernel.groupN = groupsAlongN <= groupsAlongM ? lanes : 1;
    kernel.groupM = lanes / kernel.groupN;
    return kernel;
}

// Tiles that are not larger than the product.
std::vector<Extent> fittingTiles(std::initializer_list<Extent> tiles, const Extent& extent) {
    std::vector<Extent> fitting;
    std::ranges::copy_if(tiles, std::back_inserter(fitting), [&](const Extent& tile) {
        return tile.n <= roundUpToFour(extent.n) && tile.m <= roundUpToFour(extent.m);
    });
    return fitting;
}

// Software Vulkan runs the lanes of a subgroup as one vector, and a workgroup is one subgroup. Texels are
// loaded for the whole vector at once, storage buffers lane by lane (five times slower products were
// measured). Compilation takes longest for the largest block.
std::vector<ProductKernel> softwareCandidates(const gpu::Device& device, const Extent& extent) {
    const std::uint32_t lanes = std::clamp<std::uint32_t>(device.limits().subgroupSize, 4, 32);
    std::vector<ProductKernel> all;
    for (const Extent& tile : fittingTiles({{8, 16}, {8, 8}, {4, 4}}, extent))
        all.push_back(fittedGroup({"texel", 1, 1, tile.m, tile.n}, extent, lanes));
    for (const Extent& tile : fittingTiles({{16, 8}, {4, 4}}, extent))
        all.push_back({"subgroup", lanes, 1, tile.m, tile.n, 0, lanes});
    for (const Extent& tile : fittingTiles({{16, 16}, {8, 8}, {4, 4}}, extent))
        all.push_back(fittedGroup({"blocked", 1, 1, tile.m, tile.n}, extent, lanes));
    all.push_back({"tiled", 8, 8, 8, 8, 16});
    all.push_back({"naive", 8, 8, 1, 1, 0});
    return all;
}

// On a GPU shared memory feeds the registers; how large a tile pays depends on how many of them the product
// fills.
std::vector<ProductKernel> gpuCandidates(const gpu::Device& device) {
    return {
        {"tiled", 16, 16, 4, 4, 16},                                                 // 64 x 64
        {"tiled", 8, 8, 8, 8, 16},                                                   // 64 x 64
        {"tiled", 8, 8, 4, 4, 16},                                                   // 32 x 32
        {"tiled", 16, 16, 8, 8, 8},                                                  // 128 x 128
        {"tiled", 16, 8, 2, 2, 32},                                                  // 16 x 32
        {"blocked", 8, 8, 4, 4, 0},                                                  // 32 x 32
        {"blocked", 8, 8, 8, 8, 0},                                                  // 64 x 64
        {"texel", 8, 8, 4, 4, 0},                                                    // 32 x 32
        {"texel", 8, 8, 8, 8, 0},                                                    // 64 x 64
        {"subgroup", 64, 1, 8, 4, 0, std::min(device.limits().broadcastLanes, 64u)}, // 8 x 256
        {"naive", 16, 8, 1, 1, 0},
    };
}

// Bytes of the largest operand.
std::uint64_t operandBytes(const DenseShape& shape) {
    const std::uint64_t stride = std::max(shape.inputStride, shape.outputStride);
    return sizeof(float) * std::max(shape.rows * stride, std::uint64_t{shape.outputs} * shape.inputStride);
}

bool readsTexels(std::string_view rung) { return rung == "texel" || rung == "subgroup"; }

bool fits(const gpu::Limits& limits, const ProductKernel& kernel, const DenseShape& shape) {
    const std::uint32_t invocations = kernel.groupN * kernel.groupM;
    const std::uint64_t slabs =
        std::uint64_t{4} * kernel.slabK * (kernel.groupN * kernel.tileN + kernel.groupM * kernel.tileM);
    const bool shares =
        kernel.rung != "subgroup" || (kernel.lanes > 0 && kernel.lanes <= limits.broadcastLanes &&
                                      kernel.groupN % limits.subgroupSize == 0);
    const bool reads = !readsTexels(kernel.rung) || operandBytes(shape) <= limits.texelRange;
    return shares && reads && invocations <= limits.groupInvocations && invocations <= limits.groupSize[0] &&
           slabs <= limits.sharedMemory;
}

std::string keyOf(Product product, const DenseShape& shape, Activation activation) {
    return std::string(name(product)) + " " + std::to_string(shape.rows) + "x" +
           std::to_string(shape.inputs) + "x" + std::to_string(shape.outputs) + " " +
           std::string(name(activation));
}

// Measures and remembers, until the time is used up; then takes what is likeliest.
class Chooser {
  public:
    Chooser(gpu::Device& device, Kernels& kernels, double budgetSeconds)
        : device_(device), kernels_(kernels), cache_(device), budgetSeconds_(budgetSeconds) {}
    ~Chooser() { cache_.store(); }
    Chooser(const Chooser&) = delete;
    Chooser& operator=(const Chooser&) = delete;

    ProductKernel choose(Product product, const DenseShape& shape, Activation activation) {
        DenseShape trial = shape;
        trial.rows = std::min(shape.rows, trialRows);
        const std::string key = keyOf(product, trial, activation);
        std::vector<ProductKernel> all = candidates(device_, product, trial);
        std::erase_if(all,
                      [&](const ProductKernel& kernel) { return !fits(device_.limits(), kernel, shape); });
        if (const auto known = cache_.find(key);
            known && std::find(all.begin(), all.end(), *known) != all.end())
            return *known;
        return measure(product, trial, activation, all);
    }

  private:
    bool timeLeft() const {
        return std::chrono::duration<double>(Clock::now() - start_).count() < budgetSeconds_;
    }

    // At least one candidate is checked, whatever the time. A choice made in a hurry is good for this run,
    // but only a full comparison is remembered. All kernels sum in the same order, so results do not depend
    // on the choice.
    ProductKernel measure(Product product, const DenseShape& shape, Activation activation,
                          const std::vector<ProductKernel>& all) {
        ProductTrial trial(device_, product, shape, activation);
        const ProductKernel* best = nullptr;
        double fastest = 0;
        bool comparedAll = true;
        for (const ProductKernel& candidate : all) {
            if (best != nullptr && !timeLeft()) {
                comparedAll = false;
                break;
            }
            if (best != nullptr && device_.software() && hopeless(candidate, trial, fastest)) continue;
            const TrialResult result = tryOut(trial, product, candidate, activation);
            if (!result.verified() || (best != nullptr && result.milliseconds >= fastest)) continue;
            best = &candidate;
            fastest = result.milliseconds;
        }
        if (best == nullptr)
            throw std::runtime_error(
                "on '" + device_.report().name + "' no kernel computes " + keyOf(product, shape, activation) +
                " rightly; the driver may be faulty, `lockstep bench` shows the differences");
        cache_.remember(keyOf(product, shape, activation), *best, comparedAll);
        return *best;
    }

    // A kernel that the driver refuses is one candidate less, no reason to stop.
    TrialResult tryOut(ProductTrial& trial, Product product, const ProductKernel& candidate,
                       Activation activation) {
        try {
            return trial.measure(kernels_.dense(product, candidate, activation), 2);
        } catch (const gpu::DeviceLostError&) {
            throw;
        } catch (const gpu::TimeoutError&) {
            throw;
        } catch (const gpu::OutOfMemoryError&) {
            throw;
        } catch (const gpu::GpuError&) {
            return {.milliseconds = 0, .largestDifference = 1, .tolerance = 0};
        }
    }

    // Measured on software Vulkan: storage buffers hold products back to a few GFLOP/s; not worth a second of
    // a start.
    static bool hopeless(const ProductKernel& candidate, const ProductTrial& trial, double fastest) {
        const double atTenGigaflops = trial.flops() / 10e9 * 1e3;
        return !readsTexels(candidate.rung) && fastest < atTenGigaflops;
    }

    gpu::Device& device_;
    Kernels& kernels_;
    KernelCache cache_;
    double budgetSeconds_;
    Clock::time_point start_ = Clock::now();
};

ProductKernel fixedKernel(const gpu::Device& device, std::string_view rung, Product product,
                          const DenseShape& shape) {
    for (const ProductKernel& candidate : candidates(device, product, shape))
        if (candidate.rung == rung) return candidate;
    const auto refuse = [&](const std::string& reason) {
        throw std::runtime_error("'" + device.report().name + "' cannot run gpu:" + std::string(rung) + ": " +
                                 reason);
    };
    if (readsTexels(rung) && operandBytes(shape) > device.limits().texelRange)
        refuse("it reads at most " + std::to_string(device.limits().texelRange) +
               " bytes as texels, and a layer has " + std::to_string(operandBytes(shape)));
    if (rung == "subgroup")
        refuse("its subgroups are not known to read each other's registers (subgroupBroadcast in compute "
               "shaders), or do not divide a workgroup");
    throw std::invalid_argument("unknown GPU rung '" + std::string(rung) +
                                "' (known: naive, tiled, blocked, texel, subgroup, best)");
}

} // namespace

std::vector<ProductKernel> candidates(const gpu::Device& device, Product product, const DenseShape& shape) {
    std::vector<ProductKernel> all =
        device.software() ? softwareCandidates(device, extentOf(product, shape)) : gpuCandidates(device);
    std::erase_if(all, [&](const ProductKernel& kernel) { return !fits(device.limits(), kernel, shape); });
    return all;
}

StepKernels chooseKernels(gpu::Device& device, Kernels& kernels, std::string_view rung, const NetShape& shape,
                          Optimizer, std::size_t batch, double budgetSeconds) {
    std::optional<Chooser> chooser;
    StepKernels step;
    step.foldsUpdate = rung == "fused";
    if (rung == "best" || rung == "fused") chooser.emplace(device, kernels, budgetSeconds);
    const auto choose = [&](Product product, const DenseShape& dense, Activation activation) {
        return chooser ? chooser->choose(product, dense, activation)
                       : fixedKernel(device, rung, product, dense);
    };
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        const std::size_t inputs = shape.widths[layer];
        const std::size_t outputs = shape.widths[layer + 1];
        const DenseShape dense{batch, inputs, outputs, roundUpToFour(inputs), roundUpToFour(outputs)};
        const Activation own = shape.activationOf(layer);
        LayerKernels how;
        how.forward = choose(Product::forward, dense, own);
        if (layer > 0)
            how.backwardInputs = choose(Product::backwardInputs, dense, shape.activationOf(layer - 1));
        how.backwardWeights = choose(Product::backwardWeights, dense, own);
        if (step.foldsUpdate && how.backwardWeights.rung == "subgroup")
            how.backwardWeights = fixedKernel(device, "texel", Product::backwardWeights, dense);
        step.layers.push_back(how);
    }
    return step;
}

} // namespace lockstep
