#include "engine/tune/product_candidates.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>

namespace lockstep {

namespace {

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
    all.push_back({"naive", 8, 8});
    all.push_back({"naive-strided", 8, 8});
    all.push_back({"one", 1, 1});
    return all;
}

// How it looks is the lesson, not how fast it is.
bool onlyToBeLookedAt(const ProductKernel& kernel) {
    return kernel.rung == "one" || kernel.rung == "naive-strided";
}

// The only one whose invocations share sums: all that may be chosen where they do have to add alike.
ProductKernel sumsShared() { return {"tiled", 8, 8, 4, 4, 16, 0, false, 4}; }

// On a GPU shared memory feeds the registers; how large a tile pays depends on how many of them the product
// fills.
std::vector<ProductKernel> gpuCandidates(const gpu::Device& device) {
    return {
        {"tiled", 16, 16, 4, 4, 16},                                                 // 64 x 64
        {"tiled", 8, 8, 8, 8, 16},                                                   // 64 x 64
        {"tiled", 8, 8, 4, 4, 16},                                                   // 32 x 32
        {"tiled", 16, 16, 8, 8, 8},                                                  // 128 x 128
        {"tiled", 16, 8, 2, 2, 32},                                                  // 16 x 32
        sumsShared(),                                                                // 32 x 32
        {"blocked", 8, 8, 4, 4, 0},                                                  // 32 x 32
        {"blocked", 8, 8, 8, 8, 0},                                                  // 64 x 64
        {"texel", 8, 8, 4, 4, 0},                                                    // 32 x 32
        {"texel", 8, 8, 8, 8, 0},                                                    // 64 x 64
        {"subgroup", 64, 1, 8, 4, 0, std::min(device.limits().broadcastLanes, 64u)}, // 8 x 256
        {"naive", 16, 8},
        {"naive-strided", 8, 16},
        {"one", 1, 1},
    };
}

// Bytes of the largest operand.
std::uint64_t operandBytes(const DenseShape& shape) {
    const std::uint64_t stride = std::max(shape.inputStride, shape.outputStride);
    return sizeof(float) * std::max(shape.rows * stride, std::uint64_t{shape.outputs} * shape.inputStride);
}

bool readsTexels(std::string_view rung) { return rung == "texel" || rung == "subgroup"; }

// Of a workgroup: slabs of both operands; the matrices' sums on their way to memory, and sums of rows.
std::uint64_t sharedBytes(const ProductKernel& kernel) {
    const std::uint64_t blockM = std::uint64_t{kernel.groupM} * kernel.tileM;
    const std::uint64_t blockN = std::uint64_t{kernel.groupN} * kernel.tileN;
    const std::uint64_t slabs = std::uint64_t{kernel.slabK} * kernel.slices * (blockM + blockN);
    return kernel.rung == "matrix" ? 2 * slabs + 4 * (blockM * blockN + blockM) : 4 * slabs;
}

bool fitsLimits(const gpu::Limits& limits, const ProductKernel& kernel, const DenseShape& shape) {
    const std::uint32_t invocations = kernel.invocations();
    const bool shares =
        kernel.rung != "subgroup" || (kernel.lanes > 0 && kernel.lanes <= limits.broadcastLanes &&
                                      kernel.groupN % limits.subgroupSize == 0);
    const bool reads = !readsTexels(kernel.rung) || operandBytes(shape) <= limits.texelRange;
    // Parts of shared sums go through the slabs (shaders/dense/product_tiled.glsl).
    const std::uint32_t slabs = kernel.slabK * kernel.slices;
    const std::uint32_t blockN = kernel.groupN * kernel.tileN;
    const bool parts =
        kernel.slices == 1 || (slabs >= blockN && slabs * blockN >= kernel.groupM * kernel.tileM);
    return shares && reads && parts && invocations <= limits.groupInvocations &&
           invocations <= limits.groupSize[0] && sharedBytes(kernel) <= limits.sharedMemory;
}

// Blocks of subgroups, each with as many whole tiles as come near to a size.
std::vector<ProductKernel> matrixCandidates(const gpu::Device& device) {
    const gpu::MatrixTile tile = matrixTileOf(device);
    if (tile.m == 0) return {};
    const auto whole = [](std::uint32_t size, std::uint32_t each) {
        return std::max(size / each, 1u) * each;
    };
    std::vector<ProductKernel> all;
    for (const auto& [tileM, tileN] : {std::pair{32u, 32u}, {64u, 32u}, {16u, 16u}})
        all.push_back({"matrix", 2, 2, whole(tileM, tile.m), whole(tileN, tile.n), whole(32, tile.k),
                       device.limits().subgroupSize, true});
    return all;
}

} // namespace

std::vector<ProductKernel> candidates(const gpu::Device& device, Product product, const DenseShape& shape) {
    std::vector<ProductKernel> all =
        device.software() ? softwareCandidates(device, extentOf(product, shape)) : gpuCandidates(device);
    std::erase_if(all,
                  [&](const ProductKernel& kernel) { return !fitsLimits(device.limits(), kernel, shape); });
    return all;
}

std::vector<ProductKernel> fastCandidates(const gpu::Device& device, Product product,
                                          const DenseShape& shape) {
    std::vector<ProductKernel> all = candidates(device, product, shape);
    const bool splits = splitsSums(device, product, shape);
    std::erase_if(all, [&](const ProductKernel& kernel) {
        return onlyToBeLookedAt(kernel) || (kernel.slices > 1) != splits;
    });
    return all;
}

// Not from measurement: with fewer than 256 workgroups of 32 x 32 outputs, most of a large GPU is idle; sums
// of fewer than 512 products are done before sharing them pays. The processors of software Vulkan are few.
bool splitsSums(const gpu::Device& device, Product product, const DenseShape& shape) {
    if (device.software() || product != Product::backwardWeights) return false;
    const auto [m, n] = extentOf(product, shape);
    return std::uint64_t{divideUp(m, 32)} * divideUp(n, 32) < 256 && shape.rows >= 512 &&
           fitsLimits(device.limits(), sumsShared(), shape);
}

// Those whose invocations have fours of neighbouring outputs: devices need not be able to write a half alone.
std::vector<ProductKernel> halfCandidates(const gpu::Device& device, Product product,
                                          const DenseShape& shape) {
    std::vector<ProductKernel> all = candidates(device, product, shape);
    std::erase_if(all, [&](const ProductKernel& kernel) {
        return (kernel.rung != "tiled" && kernel.rung != "texel") || kernel.tileN % 4 != 0 ||
               (kernel.slices > 1) != splitsSums(device, product, shape);
    });
    for (ProductKernel& kernel : all) kernel.half = true;
    for (const ProductKernel& kernel : matrixCandidates(device))
        if (fitsLimits(device.limits(), kernel, shape)) all.push_back(kernel);
    return all;
}

bool fits(const gpu::Device& device, const ProductKernel& kernel, const DenseShape& shape) {
    return fitsLimits(device.limits(), kernel, shape);
}

bool canFoldUpdate(const ProductKernel& kernel) {
    return kernel.rung == "tiled" || kernel.rung == "blocked" || kernel.rung == "texel";
}

ProductKernel kernelOfRung(const gpu::Device& device, std::string_view rung, Product product,
                           const DenseShape& shape) {
    const bool half = rung == "half";
    const bool matrix = rung == "matrix";
    for (const ProductKernel& candidate :
         half || matrix ? halfCandidates(device, product, shape) : candidates(device, product, shape))
        if (candidate.rung == rung || (half && candidate.rung != "matrix")) return candidate;
    const auto refuse = [&](const std::string& reason) {
        throw std::runtime_error("'" + device.report().name + "' cannot run gpu:" + std::string(rung) + ": " +
                                 reason);
    };
    if (readsTexels(rung) && operandBytes(shape) > device.limits().texelRange)
        refuse("it reads at most " + std::to_string(device.limits().texelRange) +
               " bytes as texels, and a layer has " + std::to_string(operandBytes(shape)));
    if (half) refuse("no kernel of half precision fits into its limits");
    if (matrix)
        refuse("it has no cooperative matrices of halves with sums of floats that this program could use "
               "(VK_KHR_cooperative_matrix or VK_NV_cooperative_matrix, whichever its shaders were compiled "
               "for)");
    if (rung == "subgroup")
        refuse("its subgroups are not known to read each other's registers (subgroupBroadcast in compute "
               "shaders), or do not divide a workgroup");
    throw std::invalid_argument("unknown GPU rung '" + std::string(rung) +
                                "' (known: one, naive-strided, naive, tiled, blocked, texel, subgroup, "
                                "fused, half, "
                                "matrix, whole-step, best)");
}

} // namespace lockstep
