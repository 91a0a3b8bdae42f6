// The table of rungs. A rung is a way to compute the same training step: a choice of kernels, never another
// recipe. Help, README, the parser of lanes, the caches, the choices in the window and the ladder all read
// this table. To add one: see "Add a rung" in CONTRIBUTING.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lockstep {

enum class Rung {
    scalar,
    simd,
    threads,
    best, ///< of either machine
    bf16,
    one,
    naiveStrided,
    naive,
    tiled,
    pipelined,
    blocked,
    texel,
    invocation,
    subgroup,
    workgroup,
    fused,
    half,
    matrix,
    wholeStep,
};

/// How a kernel divides a product among invocations; ProductKernel (dense_kernel.h) has the same fields.
struct ProductSize {
    std::uint32_t groupN = 0; ///< 0: the rung has no size of its own
    std::uint32_t groupM = 0;
    std::uint32_t tileM = 1;
    std::uint32_t tileN = 1;
    std::uint32_t slabK = 0;
};

struct RungRow {
    Rung rung = Rung::best;
    std::string_view lane; ///< "gpu:naive-strided", as people write it
    std::string_view idea; ///< what it does, and what for: one or two sentences
    // For the ladder; its questions are the program's (demos/exhibits/ladder/rung_words.h).
    std::string_view file{};       ///< the source that shows it best: "dense_tiled.comp"; empty: none
    std::optional<Rung> below{};   ///< whose source it is compared with
    std::string_view against{};    ///< file to compare with instead of that rung's
    std::string_view unrecorded{}; ///< why no picture of its memory accesses can be taken; empty: one can
    /// What it asks of a device; a refusal ends in these words.
    std::string_view needs{};
    // What trains on it.
    bool trains = true;       ///< one network
    bool populations = false; ///< populations of networks (engine/grid)
    // How a processor computes it.
    bool vectors = false;
    bool allCores = false;
    // How a GPU computes it. Rungs with kernels of their own have shaders <operation>_<name>.comp.
    bool oneOutput = false;   ///< its kernels compute one output at a time: their tiles are 1 x 1
    bool slow = false;        ///< is there to be looked at, and not a candidate for `best`
    bool readsTexels = false; ///< operands through the texture units
    bool foldable = false;    ///< has <operation>_update_<name>.comp, with the optimizer's step in it
    bool foldsUpdate = false; ///< its training steps use such kernels
    bool half = false;        ///< operands of 16 bits: results are close to those of the others, not the same
    ProductSize size{};       ///< for devices on which product_candidates.cpp lists no others

    constexpr bool gpu() const { return lane.starts_with("gpu:"); }
    constexpr std::string_view name() const { return lane.substr(4); }
};

/// The lowest first: the processor's, then the GPU's.
inline constexpr RungRow rungTable[] = {
    {.rung = Rung::scalar,
     .lane = "cpu:scalar",
     .idea = "Plain loops on one thread, one number at a time. Every other rung is checked against it.",
     .file = "plain_ops.cpp",
     .populations = true},
    {.rung = Rung::simd,
     .lane = "cpu:simd",
     .idea = "Vector instructions (AVX2 or AVX-512, chosen at run time) compute eight or sixteen numbers at "
             "once, still on one thread.",
     .file = "product.inl",
     .populations = true,
     .vectors = true},
    {.rung = Rung::threads,
     .lane = "cpu:threads",
     .idea = "The plain loops again, with the rows of a batch split over all cores.",
     .file = "plain_ops.cpp",
     .allCores = true},
    {.rung = Rung::best,
     .lane = "cpu:best",
     .idea = "The CPU's fastest in fp32: vectors, all cores, and oneDNN's sgemm where it wins. Tiny networks "
             "run on "
             "one thread, one example per vector element.",
     .file = "product.inl",
     .populations = true,
     .vectors = true,
     .allCores = true},
    {.rung = Rung::bf16,
     .lane = "cpu:bf16",
     .idea = "All cores and vectors again, but products round their operands to bf16, and one instruction "
             "multiplies pairs of them. Sums and parameters stay fp32.",
     .file = "product_bf16.inl",
     .below = Rung::simd,
     .needs = "it needs AVX-512 BF16 (AMD from Zen 4, Intel Xeon from Cooper Lake)",
     .vectors = true,
     .allCores = true,
     .half = true},
    {.rung = Rung::one,
     .lane = "gpu:one",
     .idea = "A single invocation computes everything, and all others stand idle.",
     .file = "dense_one.comp",
     .oneOutput = true,
     .slow = true,
     .size = {1, 1}},
    {.rung = Rung::naiveStrided,
     .lane = "gpu:naive-strided",
     .idea = "One invocation per output; neighbouring invocations compute outputs in the same column.",
     .file = "dense_naive_strided.comp",
     .below = Rung::one,
     .oneOutput = true,
     .slow = true,
     .size = {8, 16}},
    {.rung = Rung::naive,
     .lane = "gpu:naive",
     .idea = "One invocation per output, as the formula is written; neighbouring invocations compute "
             "outputs side by side.",
     .file = "dense_naive.comp",
     .below = Rung::naiveStrided,
     .oneOutput = true,
     .size = {16, 8}},
    {.rung = Rung::tiled,
     .lane = "gpu:tiled",
     .idea = "A workgroup loads tiles of both operands into shared memory once, and all its invocations "
             "compute from there.",
     .file = "dense_tiled.comp",
     .below = Rung::naive,
     .foldable = true},
    {.rung = Rung::pipelined,
     .lane = "gpu:pipelined",
     .idea =
         "As tiled, but the next slab is loaded while this one is computed, and shared memory is read four "
         "numbers at a time.",
     .file = "dense_pipelined.comp",
     .below = Rung::tiled,
     .foldable = true},
    {.rung = Rung::blocked,
     .lane = "gpu:blocked",
     .idea = "Each invocation computes a whole block of outputs in registers, and loads its operands four "
             "at a time.",
     .file = "dense_blocked.comp",
     .below = Rung::tiled,
     .foldable = true},
    {.rung = Rung::texel,
     .lane = "gpu:texel",
     .idea = "As blocked, but operands are read through the texture units.",
     .file = "dense_texel.comp",
     .below = Rung::blocked,
     .readsTexels = true,
     .foldable = true},
    {.rung = Rung::invocation,
     .lane = "gpu:invocation",
     .idea = "One network per invocation, everything in registers.",
     .trains = false,
     .populations = true},
    {.rung = Rung::subgroup,
     .lane = "gpu:subgroup",
     .idea = "As texel, but the invocations of a subgroup share the loads of one operand and read the rest "
             "from each other's registers.",
     .file = "dense_subgroup.comp",
     .below = Rung::texel,
     .needs = "it needs subgroupBroadcast in compute shaders, and a known subgroup size that divides the "
              "workgroup",
     .populations = true,
     .readsTexels = true},
    {.rung = Rung::workgroup,
     .lane = "gpu:workgroup",
     .idea = "One network per workgroup, in shared memory.",
     .trains = false,
     .populations = true},
    {.rung = Rung::fused,
     .lane = "gpu:fused",
     .idea =
         "The weight-gradient kernel also updates the weights: gradients never reach memory, and a step has "
         "one dispatch fewer.",
     .file = "dense_backward_weights_update_texel.comp",
     .below = Rung::texel,
     .against = "dense_backward_weights_texel.comp",
     .foldsUpdate = true},
    {.rung = Rung::half,
     .lane = "gpu:half",
     .idea = "fp16 operands, half the bytes; sums and parameters stay fp32. The loss is scaled up, or small "
             "gradients would underflow to 0.",
     .file = "dense_texel_half.comp",
     .below = Rung::texel,
     .needs = "no half-precision kernel fits into its limits",
     .half = true},
    {.rung = Rung::matrix,
     .lane = "gpu:matrix",
     .idea =
         "As half, but cooperative matrices multiply whole tiles with one instruction, on dedicated matrix "
         "units (tensor cores).",
     .file = "dense_matrix.comp",
     .below = Rung::half,
     .unrecorded = "Its operands belong to whole subgroups: no single invocation reads or writes a number. "
                   "The source shows what it loads.",
     .needs = "it needs cooperative matrices with fp16 inputs and fp32 sums (VK_KHR_cooperative_matrix or "
              "VK_NV_cooperative_matrix); this device has none",
     .half = true},
    {.rung = Rung::wholeStep,
     .lane = "gpu:whole-step",
     .idea = "Small networks: many whole training steps in one dispatch, everything in a workgroup's shared "
             "memory.",
     .file = "whole_step.comp",
     .unrecorded = "It has no kernel for a product: its workgroup does the whole step.",
     .foldsUpdate = true},
    {.rung = Rung::best,
     .lane = "gpu:best",
     .idea =
         "The fastest of these fp32 kernels on this device (also fused or whole-step), timed at the start.",
     .unrecorded = "It has no kernel of its own: see those of the other rungs.",
     .populations = true},
};

/// The row of a rung; `gpu` tells the two called `best` apart.
constexpr const RungRow& rowOf(Rung rung, bool gpu = true) {
    for (const RungRow& row : rungTable)
        if (row.rung == rung && (rung != Rung::best || row.gpu() == gpu)) return row;
    return rungTable[0];
}

constexpr std::string_view name(Rung rung) { return rowOf(rung).name(); }

/// The rung of a machine by its name: "naive-strided". Throws std::invalid_argument, naming the nearest right
/// one.
Rung rungFromName(std::string_view name, bool gpu);

} // namespace lockstep
