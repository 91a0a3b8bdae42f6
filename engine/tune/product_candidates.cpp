#include "engine/tune/product_candidates.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <stdexcept>
#include <string>

namespace lockstep {

namespace {

std::uint32_t divideUp(std::uint32_t value, std::uint32_t by) { return (value + by - 1) / by; }

// A workgroup of that many invocations, laid along n, or along m where that leaves fewer of them idle.
ProductKernel fittedGroup(ProductKernel kernel, const ProductExtents& extents, std::uint32_t invocations) {
    const std::uint32_t tilesM = divideUp(extents.m, kernel.tileM);
    const std::uint32_t tilesN = divideUp(extents.n, kernel.tileN);
    const std::uint64_t groupsAlongN = std::uint64_t{divideUp(tilesN, invocations)} * tilesM;
    const std::uint64_t groupsAlongM = std::uint64_t{divideUp(tilesM, invocations)} * tilesN;
    kernel.groupN = groupsAlongN <= groupsAlongM ? invocations : 1;
    kernel.groupM = invocations / kernel.groupN;
    return kernel;
}

// Kernels of the rungs that have a size in the table: plain ones, which `best` tries last. Listed backwards,
// so that the slowest is the last. Software devices have narrow subgroups.
void addPlainKernels(const gpu::Device& device, std::vector<ProductKernel>& all) {
    const std::uint32_t most = device.software() ? 8 : 64;
    for (auto row = std::rbegin(rungTable); row != std::rend(rungTable); ++row)
        if (const ProductSize& size = row->size; size.groupN > 0)
            all.push_back({row->rung, std::min(size.groupN, most), std::min(size.groupM, most), size.tileM,
                           size.tileN, size.slabK});
}

// Software Vulkan runs the invocations of a subgroup as one vector, and a workgroup is one subgroup. Texels
// are loaded for the whole vector at once, storage buffers one invocation at a time (products took five times
// as long). Compilation takes longest for the largest block.
std::vector<ProductKernel> softwareCandidates(const gpu::Device& device, const ProductExtents& extents) {
    const std::uint32_t invocations = std::clamp<std::uint32_t>(device.limits().subgroupSize, 4, 32);
    std::vector<ProductKernel> all{
        fittedGroup({Rung::texel, 1, 1, 8, 16}, extents, invocations),
        fittedGroup({Rung::texel, 1, 1, 8, 8}, extents, invocations),
        fittedGroup({Rung::texel, 1, 1, 4, 4}, extents, invocations),
        {Rung::subgroup, invocations, 1, 16, 8, 0, invocations},
        {Rung::subgroup, invocations, 1, 4, 4, 0, invocations},
        fittedGroup({Rung::blocked, 1, 1, 16, 16}, extents, invocations),
        fittedGroup({Rung::blocked, 1, 1, 8, 8}, extents, invocations),
        fittedGroup({Rung::blocked, 1, 1, 4, 4}, extents, invocations),
    };
    std::erase_if(all, [&](const ProductKernel& kernel) { // tiles that are larger than the product
        return kernel.tileN > roundUpToFour(extents.n) || kernel.tileM > roundUpToFour(extents.m);
    });
    all.push_back({Rung::pipelined, 8, 8, 8, 8, 8});
    all.push_back({Rung::tiled, 8, 8, 8, 8, 16});
    return all;
}

// The kernels whose invocations share sums. All have the same number of slices, and so add in the same order;
// where sums are split, there are no other choices.
constexpr ProductKernel sumsShared[] = {{Rung::pipelined, 8, 8, 4, 4, 8, 0, false, 4},  // 32 x 32
                                        {Rung::pipelined, 4, 4, 4, 4, 8, 0, false, 4},  // 16 x 16
                                        {Rung::pipelined, 16, 4, 4, 4, 8, 0, false, 4}, // 16 x 64
                                        {Rung::tiled, 8, 8, 4, 4, 16, 0, false, 4},     // 32 x 32
                                        {Rung::tiled, 8, 8, 2, 2, 16, 0, false, 4}};    // 16 x 16

// On a GPU, shared memory feeds the registers. Which tile size pays depends on how many tiles the product
// fills, and on its shape: small layers have few rows of weights, and their outputs few columns.
std::vector<ProductKernel> gpuCandidates(const gpu::Device& device) {
    std::vector<ProductKernel> all{
        {Rung::pipelined, 16, 16, 4, 4, 16},                                                   // 64 x 64
        {Rung::pipelined, 8, 8, 8, 8, 8},                                                      // 64 x 64
        {Rung::pipelined, 8, 8, 4, 4, 16},                                                     // 32 x 32
        {Rung::pipelined, 16, 16, 8, 8, 8},                                                    // 128 x 128
        {Rung::pipelined, 16, 8, 4, 8, 8},                                                     // 32 x 128
        {Rung::pipelined, 16, 4, 4, 4, 8},                                                     // 16 x 64
        {Rung::pipelined, 4, 16, 4, 4, 8},                                                     // 64 x 16
        {Rung::tiled, 16, 16, 4, 4, 16},                                                       // 64 x 64
        {Rung::tiled, 8, 8, 4, 4, 16},                                                         // 32 x 32
        {Rung::tiled, 16, 8, 2, 2, 32},                                                        // 16 x 32
        {Rung::blocked, 8, 8, 4, 4, 0},                                                        // 32 x 32
        {Rung::blocked, 8, 8, 8, 8, 0},                                                        // 64 x 64
        {Rung::texel, 8, 8, 4, 4, 0},                                                          // 32 x 32
        {Rung::texel, 8, 8, 8, 8, 0},                                                          // 64 x 64
        {Rung::subgroup, 64, 1, 8, 4, 0, std::min(device.limits().broadcastInvocations, 64u)}, // 8 x 256
    };
    all.insert(all.end(), std::begin(sumsShared), std::end(sumsShared));
    return all;
}

// GPUs have 10 to 140 processors, each of which wants several workgroups. A product that a kernel cuts into
// fewer leaves processors idle, however good the kernel is: kernels with half, a quarter, ... of these come
// later.
void sortByFill(std::vector<ProductKernel>& all, const ProductExtents& extents) {
    constexpr std::uint64_t enough = 64;
    std::ranges::stable_sort(all, {}, [&](const ProductKernel& kernel) {
        const gpu::WorkItems outputs = kernel.outputsPerGroup();
        const std::uint64_t groups =
            std::uint64_t{divideUp(extents.m, outputs.y)} * divideUp(extents.n, outputs.x);
        return std::bit_width(enough / std::min(groups, enough));
    });
}

// Blocks of subgroups, each with as many whole tiles as come near to a size.
std::vector<ProductKernel> matrixCandidates(const gpu::Device& device) {
    const gpu::MatrixTile tile = device.limits().matrixTiles.tile();
    if (tile.m == 0) return {};
    const auto whole = [](std::uint32_t size, std::uint32_t each) {
        return std::max(size / each, 1u) * each;
    };
    std::vector<ProductKernel> all;
    for (const auto& [tileM, tileN] : {std::pair{32u, 32u}, {64u, 32u}, {16u, 16u}})
        all.push_back({Rung::matrix, 2, 2, whole(tileM, tile.m), whole(tileN, tile.n), whole(32, tile.k),
                       device.limits().subgroupSize, true});
    return all;
}

// Bytes of the largest operand.
std::uint64_t operandBytes(const DenseShape& shape) {
    const std::uint64_t stride = std::max(shape.inputStride, shape.outputStride);
    return sizeof(float) * std::max(shape.rows * stride, std::uint64_t{shape.outputs} * shape.inputStride);
}

} // namespace

bool fits(const gpu::Device& device, const ProductKernel& kernel, const DenseShape& shape) {
    const gpu::Limits& limits = device.limits();
    const std::uint32_t invocations = kernel.invocations();
    const bool shares = kernel.rung != Rung::subgroup ||
                        (kernel.sharers > 0 && kernel.sharers <= limits.broadcastInvocations &&
                         kernel.groupN % limits.subgroupSize == 0);
    const bool reads = !rowOf(kernel.rung).readsTexels || operandBytes(shape) <= limits.texelRange;
    // Parts of shared sums go through the slabs (product_tiled.glsl, product_pipelined.glsl).
    const std::uint32_t slabs = kernel.slabK * kernel.slices * (kernel.rung == Rung::pipelined ? 2 : 1);
    const std::uint32_t blockN = kernel.groupN * kernel.tileN;
    const bool parts =
        kernel.slices == 1 || (slabs >= blockN && slabs * blockN >= kernel.groupM * kernel.tileM);
    return shares && reads && parts && invocations <= limits.groupInvocations &&
           invocations <= limits.groupSize[0] && kernel.sharedBytes() <= limits.sharedMemory;
}

std::vector<ProductKernel> candidates(const gpu::Device& device, Product product, const DenseShape& shape) {
    std::vector<ProductKernel> all =
        device.software() ? softwareCandidates(device, extentsOf(product, shape)) : gpuCandidates(device);
    if (!device.software()) sortByFill(all, extentsOf(product, shape));
    addPlainKernels(device, all);
    std::erase_if(all, [&](const ProductKernel& kernel) { return !fits(device, kernel, shape); });
    return all;
}

std::vector<ProductKernel> fastCandidates(const gpu::Device& device, Product product,
                                          const DenseShape& shape) {
    std::vector<ProductKernel> all = candidates(device, product, shape);
    const bool splits = splitsSums(device, product, shape);
    std::erase_if(all, [&](const ProductKernel& kernel) {
        return rowOf(kernel.rung).slow || (kernel.slices > 1) != splits;
    });
    return all;
}

// A rule of thumb, not measured: with fewer than 256 workgroups of 32 x 32 outputs most of a large GPU is
// idle, and sums of fewer than 512 products end before sharing them pays. Software Vulkan has few processors
// to share among.
bool splitsSums(const gpu::Device& device, Product product, const DenseShape& shape) {
    if (device.software()) return false;
    const auto [m, n, k] = extentsOf(product, shape);
    return std::uint64_t{divideUp(m, 32)} * divideUp(n, 32) < 256 && k >= 512 &&
           fits(device, sumsShared[0], shape);
}

// Only kernels whose invocations have four neighbouring outputs: not every device can write a single fp16
// number.
std::vector<ProductKernel> halfCandidates(const gpu::Device& device, Product product,
                                          const DenseShape& shape) {
    std::vector<ProductKernel> all = candidates(device, product, shape);
    std::erase_if(all, [&](const ProductKernel& kernel) {
        return (kernel.rung != Rung::tiled && kernel.rung != Rung::texel) || kernel.tileN % 4 != 0 ||
               (kernel.slices > 1) != splitsSums(device, product, shape);
    });
    for (ProductKernel& kernel : all) kernel.half = true;
    for (const ProductKernel& kernel : matrixCandidates(device))
        if (fits(device, kernel, shape)) all.push_back(kernel);
    return all;
}

ProductKernel kernelOfRung(const gpu::Device& device, Rung rung, Product product, const DenseShape& shape) {
    const RungRow& row = rowOf(rung);
    for (const ProductKernel& candidate :
         row.half ? halfCandidates(device, product, shape) : candidates(device, product, shape)) {
        if (candidate.slices > 1 && !row.half) continue; // a rung shows one idea
        if (candidate.rung == rung || (rung == Rung::half && candidate.rung != Rung::matrix))
            return candidate;
    }
    std::string reason(row.needs);
    if (row.readsTexels && operandBytes(shape) > device.limits().texelRange)
        reason = "it reads at most " + std::to_string(device.limits().texelRange) +
                 " bytes as texels, and a layer has " + std::to_string(operandBytes(shape));
    throw std::runtime_error("'" + device.report().name + "' cannot run " + std::string(row.lane) + ": " +
                             reason);
}

} // namespace lockstep
