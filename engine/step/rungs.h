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
    // For the ladder.
    std::string_view question{};
    std::string_view answer{};
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
    bool half = false;        ///< fp16 operands: results are close to those of the others, not the same
    ProductSize size{};       ///< for devices on which product_candidates.cpp lists no others

    constexpr bool gpu() const { return lane.starts_with("gpu:"); }
    constexpr std::string_view name() const { return lane.substr(4); }
};

/// The lowest first: the processor's, then the GPU's.
inline constexpr RungRow rungTable[] = {
    {.rung = Rung::scalar,
     .lane = "cpu:scalar",
     .idea = "Plain loops on one thread, one number at a time. Every other rung is checked against it.",
     .question = "One thread, one multiply-add at a time. Why does it not even complete one multiply-add per "
                 "clock cycle?",
     .answer = "Each addition waits for the previous one, because both go into the same sum. The processor "
               "could start several per cycle, but must wait several cycles for each.",
     .file = "plain_ops.cpp",
     .populations = true},
    {.rung = Rung::simd,
     .lane = "cpu:simd",
     .idea = "Vector instructions (AVX2 or AVX-512, chosen at run time) compute eight or sixteen numbers at "
             "once, still on one thread.",
     .question = "Vectors are eight or sixteen numbers wide. Why can the speed-up be larger than that?",
     .answer = "The plain loop also waited for its own sum. Here many sums stay in registers: while one "
               "waits, the others proceed.",
     .file = "product.inl",
     .populations = true,
     .vectors = true},
    {.rung = Rung::threads,
     .lane = "cpu:threads",
     .idea = "The plain loops again, with the rows of a batch split over all cores.",
     .question = "Why are twice the cores not twice as fast?",
     .answer = "They share memory bandwidth and caches. And after each operation, all threads wait for the "
               "slowest.",
     .file = "plain_ops.cpp",
     .allCores = true},
    {.rung = Rung::best,
     .lane = "cpu:best",
     .idea = "The CPU's fastest: vectors, all cores, and oneDNN's sgemm where it wins. Tiny networks run on "
             "one thread, one example per vector element.",
     .question = "Why should a GPU be compared with this rung, and not with cpu:scalar?",
     .answer = "Because everyone who has the processor has this, too. A GPU that beats one thread without "
               "vectors has beaten a program that no one would run.",
     .file = "product.inl",
     .populations = true,
     .vectors = true,
     .allCores = true},
    {.rung = Rung::one,
     .lane = "gpu:one",
     .idea = "A single invocation computes everything, like one core of a CPU.",
     .question = "How many invocations does the device run here, and how many do work?",
     .answer = "One works. A GPU runs invocations in subgroups of 8 to 64: the rest of this subgroup idles, "
               "and so do all other compute units.",
     .file = "dense_one.comp",
     .oneOutput = true,
     .slow = true,
     .size = {1, 1}},
    {.rung = Rung::naiveStrided,
     .lane = "gpu:naive-strided",
     .idea = "One invocation per output; neighbouring invocations compute outputs in the same column.",
     .question = "Look at the picture: how far apart are the words that neighbours write at the same moment?",
     .answer = "A whole row of the matrix. A GPU fetches and stores whole lines of memory, 32 to 128 bytes "
               "long, and here it uses four bytes of each.",
     .file = "dense_naive_strided.comp",
     .below = Rung::one,
     .oneOutput = true,
     .slow = true,
     .size = {8, 16}},
    {.rung = Rung::naive,
     .lane = "gpu:naive",
     .idea = "One invocation per output, as the formula is written; neighbouring invocations compute "
             "outputs side by side.",
     .question = "How many words does it read for each multiplication, and how many would be enough?",
     .answer = "Two: one of each operand. But all outputs of a row need the same inputs, and all rows of "
               "the batch need the same weights. Kept close by, each could be read once.",
     .file = "dense_naive.comp",
     .below = Rung::naiveStrided,
     .oneOutput = true,
     .size = {16, 8}},
    {.rung = Rung::tiled,
     .lane = "gpu:tiled",
     .idea = "A workgroup loads tiles of both operands into shared memory once, and all its invocations "
             "compute from there.",
     .question = "Why are there two barriers per slab, and what would go wrong without the second?",
     .answer = "The first waits until the slab has been loaded. The second waits until all invocations have "
               "used it; without it, fast invocations would overwrite what slow ones still read.",
     .file = "dense_tiled.comp",
     .below = Rung::naive,
     .foldable = true},
    {.rung = Rung::pipelined,
     .lane = "gpu:pipelined",
     .idea =
         "As tiled, but the next slab is loaded while this one is computed, and shared memory is read four "
         "numbers at a time.",
     .question =
         "Where does the next slab wait until its place is free, and why is one barrier per slab enough?",
     .answer =
         "In registers. There are two slabs: what is stored goes into the one that everybody finished "
         "before the last barrier. The price is twice the shared memory, so fewer workgroups fit into a "
         "compute unit at once.",
     .file = "dense_pipelined.comp",
     .below = Rung::tiled,
     .foldable = true},
    {.rung = Rung::blocked,
     .lane = "gpu:blocked",
     .idea = "Each invocation computes a whole block of outputs in registers, and loads its operands four "
             "at a time.",
     .question = "A block of 4 x 4 outputs needs 4 + 4 loads for 16 multiplications. What does one of 8 x 8 "
                 "need, and what stops it from growing further?",
     .answer = "8 + 8 loads for 64. Registers stop it: the sums alone take 64, and what does not fit spills "
               "to memory. Fewer, larger blocks also leave compute units idle.",
     .file = "dense_blocked.comp",
     .below = Rung::tiled,
     .foldable = true},
    {.rung = Rung::texel,
     .lane = "gpu:texel",
     .idea = "As blocked, but operands are read through the texture units.",
     .question = "The arithmetic is identical. Why can it be faster?",
     .answer = "Loads can be what it waits for. Texture units have their own cache and path; software "
               "Vulkan fetches texels for a whole vector of invocations at once, and other loads one "
               "invocation after another.",
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
     .question = "No shared memory and no barrier: why is that safe here?",
     .answer = "The invocations of a subgroup execute a subgroup operation together: when one reads "
               "another's register, the other has reached the same instruction and loaded it.",
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
     .question = "What can you not do if gradients are never stored?",
     .answer = "You cannot look at the gradients, add up those of several batches, or clip them by their "
               "total norm: that takes all of them before the first weight changes.",
     .file = "dense_backward_weights_update_texel.comp",
     .below = Rung::texel,
     .against = "dense_backward_weights_texel.comp",
     .foldsUpdate = true},
    {.rung = Rung::half,
     .lane = "gpu:half",
     .idea = "fp16 operands, half the bytes; sums and parameters stay fp32. The loss is scaled up, or small "
             "gradients would underflow to 0.",
     .question = "Half the bytes: when is it twice as fast, and when no faster?",
     .answer = "Twice where memory is the limit: left of the ridge point. Right of it, only if the device "
               "computes faster in fp16.",
     .file = "dense_texel_half.comp",
     .below = Rung::texel,
     .needs = "no half-precision kernel fits into its limits",
     .half = true},
    {.rung = Rung::matrix,
     .lane = "gpu:matrix",
     .idea =
         "As half, but cooperative matrices multiply whole tiles with one instruction, on dedicated matrix "
         "units (tensor cores).",
     .question = "A unit that only multiplies tiles: which part of a step cannot use it?",
     .answer = "Everything that is not a product: gathering, activations, the loss, the optimizer. The "
               "faster the products get, the larger the share of the others.",
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
     .question = "For which networks is this the fastest rung, and why not for all?",
     .answer = "For tiny ones, whose operations take less time than starting them. One workgroup uses one "
               "compute unit; large networks would leave the others idle.",
     .file = "whole_step.comp",
     .unrecorded = "It has no kernel for a product: its workgroup does the whole step.",
     .foldsUpdate = true},
    {.rung = Rung::best,
     .lane = "gpu:best",
     .idea = "The fastest of these kernels on this device (also fused or whole-step), timed at the start.",
     .question = "Why time kernels instead of predicting them?",
     .answer = "Which kernel wins depends on the device, its driver, and the sizes of the product. The "
               "results are cached until one of these changes.",
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
