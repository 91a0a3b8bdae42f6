#include "demos/exhibits/ladder/rung_words.h"

#include <algorithm>
#include <iterator>

namespace lockstep::demos {

namespace {

constexpr RungWords rungQuestions[] = {
    {"cpu:scalar", "One thread does all the work, one number at a time.",
     "One thread, one multiply-add at a time. Why does it not even complete one multiply-add per clock "
     "cycle?",
     "Each addition waits for the previous one, because both go into the same sum. The processor could start "
     "several per cycle, but must wait several cycles for each."},
    {"cpu:simd", "Still one thread, but eight or sixteen numbers at a time.",
     "Vectors are eight or sixteen numbers wide. Why can the speed-up be larger than that?",
     "The plain loop also waited for its own sum. Here many sums stay in registers: while one waits, the "
     "others proceed."},
    {"cpu:threads", "One number at a time again, but on all cores.",
     "Why are twice the cores not twice as fast?",
     "They share memory bandwidth and caches. And after each operation, all threads wait for the slowest."},
    {"cpu:best", "All cores, each with eight or sixteen numbers at a time.",
     "Why should a GPU be compared with this rung, and not with cpu:scalar?",
     "Because everyone who has the processor has this, too. A GPU that beats one thread without vectors has "
     "beaten a program that no one would run."},
    {"cpu:bf16", "As simd on all cores, but products multiply pairs of two-byte numbers.",
     "An instruction multiplies twice as many numbers. Why is a step less than twice as fast?",
     "Only the products are faster. Activations, the loss and the optimizer stay fp32, and so do the numbers "
     "in memory: they are rounded while they are copied for a product."},
    {"gpu:one", "One of the GPU's thousands of invocations does all the work.",
     "How many invocations does the device run here, and how many do work?",
     "One works. A GPU runs invocations in subgroups of 8 to 64: the rest of this subgroup idles, and so do "
     "all other compute units."},
    {"gpu:naive-strided", "One invocation for each output; neighbours write far apart in memory.",
     "Look at the picture: how far apart are the words that neighbours write at the same moment?",
     "A whole row of the matrix. A GPU fetches and stores whole lines of memory, 32 to 128 bytes long, and "
     "here it uses four bytes of each."},
    {"gpu:naive", "One invocation for each output; neighbours write side by side in memory.",
     "How many words does it read for each multiplication, and how many would be enough?",
     "Two: one of each operand. But all outputs of a row need the same inputs, and all rows of the batch "
     "need the same weights. Kept close by, each could be read once."},
    {"gpu:tiled", "A workgroup copies tiles of both matrices into shared memory, and uses them there.",
     "Why are there two barriers per slab, and what would go wrong without the second?",
     "The first waits until the slab has been loaded. The second waits until all invocations have used it; "
     "without it, fast invocations would overwrite what slow ones still read."},
    {"gpu:pipelined", "As tiled, but the next tiles arrive while these are in use.",
     "Where does the next slab wait until its place is free, and why is one barrier per slab enough?",
     "In registers. There are two slabs: what is stored goes into the one that everybody finished before the "
     "last barrier. The price is twice the shared memory, so fewer workgroups fit into a compute unit at "
     "once."},
    {"gpu:blocked", "Each invocation computes a block of outputs, so each number it loads serves several.",
     "A block of 4 x 4 outputs needs 4 + 4 loads for 16 multiplications. What does one of 8 x 8 need, and "
     "what stops it from growing further?",
     "8 + 8 loads for 64. Registers stop it: the sums alone take 64, and what does not fit spills to memory. "
     "Fewer, larger blocks also leave compute units idle."},
    {"gpu:texel", "As blocked, but the numbers come through the texture units.",
     "The arithmetic is identical. Why can it be faster?",
     "Loads can be what it waits for. Texture units have their own cache and path; software Vulkan fetches "
     "texels for a whole vector of invocations at once, and other loads one invocation after another."},
    {"gpu:subgroup", "As texel, but neighbours hand loaded numbers to each other.",
     "No shared memory and no barrier: why is that safe here?",
     "The invocations of a subgroup execute a subgroup operation together: when one reads another's "
     "register, the other has reached the same instruction and loaded it."},
    {"gpu:fused", "As texel, but weights change at once: no gradient is stored.",
     "What can you not do if gradients are never stored?",
     "You cannot look at the gradients, add up those of several batches, or clip them by their total norm: "
     "that takes all of them before the first weight changes."},
    {"gpu:half", "As texel, but numbers take two bytes instead of four.",
     "Half the bytes: when is it twice as fast, and when no faster?",
     "Twice where memory is the limit: left of the ridge point. Right of it, only if the device computes "
     "faster in fp16."},
    {"gpu:matrix", "As half, but matrix units multiply whole tiles with one instruction.",
     "A unit that only multiplies tiles: which part of a step cannot use it?",
     "Everything that is not a product: gathering, activations, the loss, the optimizer. The faster the "
     "products get, the larger the share of the others."},
    {"gpu:whole-step", "For small networks: a single dispatch runs many whole steps.",
     "For which networks is this the fastest rung, and why not for all?",
     "For tiny ones, whose operations take less time than starting them. One workgroup uses one compute "
     "unit; large networks would leave the others idle."},
    {"gpu:best", "The fastest of these fp32 kernels on this device, found by timing them.",
     "Why time kernels instead of predicting them?",
     "Which kernel wins depends on the device, its driver, and the sizes of the product. The results are "
     "cached until one of these changes."},
};

} // namespace

std::span<const RungWords> allRungWords() { return rungQuestions; }

RungWords wordsOf(const RungRow& rung) {
    const auto found = std::ranges::find(rungQuestions, rung.lane, &RungWords::lane);
    return found == std::end(rungQuestions) ? RungWords{} : *found;
}

} // namespace lockstep::demos
