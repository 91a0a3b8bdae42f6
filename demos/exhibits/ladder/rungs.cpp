#include "demos/exhibits/ladder/rungs.h"

#include <algorithm>

namespace lockstep::demos {

namespace {

constexpr Rung told[] = {
    {"cpu:scalar", "The plain loops of the mathematics, one thread, one number at a time.", "plain_ops.cpp",
     "",
     "One thread makes a multiplication and an addition at a time. Why does it not reach the processor's "
     "clock "
     "rate in operations per second?",
     "Each addition waits for the one before, because they go into the same sum: the processor could begin "
     "several in every cycle, but has to wait some cycles for each."},
    {"cpu:simd",
     "The same loops with vectors: eight or sixteen numbers in one instruction, still one thread.",
     "product.inl", "", "Vectors are eight or sixteen numbers wide. Why can the gain be larger than that?",
     "The plain loop also waited for its own sum. Here many sums are kept in registers, and while one waits "
     "the "
     "others go on."},
    {"cpu:threads", "The plain loops again, the rows of a batch split over every core.", "plain_ops.cpp", "",
     "Two cores, but not twice the speed: what is shared?",
     "Memory and its caches are, and all threads wait for the slowest one between two operations."},
    {"cpu:best",
     "The fastest that this processor has: vectors, all cores, and a library's product where it "
     "wins.",
     "product.inl", "", "Why should a GPU be compared with this rung, and not with cpu:scalar?",
     "Because anybody who has the processor has this, too. A GPU that beats one thread without vectors has "
     "beaten a program that nobody would run."},
    {"gpu:one", "A single invocation does everything, like a processor's core.", "dense_one.comp", "",
     "How many of the device's lanes work here, and how many are paid for?",
     "One works. A GPU runs invocations in bundles of 8 to 64, so the rest of the bundle, and every other "
     "processor of the card, does nothing."},
    {"gpu:naive-strided",
     "An invocation for every output, numbered so that neighbours work on outputs below one another.",
     "dense_naive_strided.comp", "gpu:one",
     "Look at the picture: how far apart are the words that neighbours write at the same moment?",
     "A whole row of the matrix. A GPU fetches and stores whole lines of memory, 32 to 128 bytes long, and "
     "here uses four bytes of each."},
    {"gpu:naive", "An invocation for every output; neighbours compute outputs that lie side by side.",
     "dense_naive.comp", "gpu:naive-strided",
     "How many words does it read for each multiplication, and how many would be enough?",
     "Two: one of each operand. But every input is needed by all outputs of its row, and every weight by all "
     "rows of the batch: kept somewhere near, each could be read once."},
    {"gpu:tiled",
     "A workgroup loads a slab of both operands into shared memory once, and all its invocations compute "
     "from "
     "that.",
     "dense_tiled.comp", "gpu:naive",
     "Why are there two barriers for every slab, and what would go wrong without the second?",
     "The first waits until the slab is there. The second waits until everybody has used it: without it, "
     "quick "
     "invocations would overwrite what slow ones still read."},
    {"gpu:blocked",
     "Every invocation computes a whole block of outputs and keeps it, and what it loads, in registers.",
     "dense_blocked.comp", "gpu:tiled",
     "A block of 4 x 4 outputs needs 4 + 4 loads for 16 multiplications. What does one of 8 x 8 need, and "
     "what "
     "stops it from growing on?",
     "8 + 8 loads for 64. Registers stop it: the sums alone are 64, and what does not fit falls back to "
     "memory. Fewer and larger blocks also leave processors without work."},
    {"gpu:texel", "As blocked, but the operands are read through the units that read pictures.",
     "dense_texel.comp", "gpu:blocked", "Not one multiplication has changed. Why can the time?",
     "Loads can be what it waits for. Picture units have a cache and a path of their own; software Vulkan "
     "fetches texels for all lanes of a vector at once, and other loads one lane after another."},
    {"gpu:subgroup",
     "The lanes of a subgroup load a part of one operand each, and read the rest from their neighbours' "
     "registers.",
     "dense_subgroup.comp", "gpu:texel", "No shared memory and no barrier: why is that safe here?",
     "The lanes of a subgroup go through the program together. When one reads another's register, that lane "
     "is "
     "at the same place and has loaded it."},
    {"gpu:fused",
     "The optimizer's step is folded into the weights' gradients: they never go to memory, and one operation "
     "less is dispatched.",
     "dense_backward_weights_update_texel.comp", "gpu:texel",
     "What does a network lose whose gradients are never stored?",
     "Nobody can look at them, add up those of several batches, or clip them by their total size: that takes "
     "all of them before the first weight is changed.",
     "dense_backward_weights_texel.comp"},
    {"gpu:half",
     "Operands of half the size: 16 bits a number, sums still in 32. The loss is scaled up, or small "
     "gradients "
     "would be 0.",
     "dense_texel_half.comp", "gpu:texel", "Half the bytes: when is it twice as fast, and when not at all?",
     "Twice where memory is what it waits for, left of the roofline's corner. Right of it only where the "
     "device "
     "also computes faster with 16 bits."},
    {"gpu:matrix", "The product of whole tiles is one instruction, made by units for nothing else.",
     "dense_matrix.comp", "gpu:half",
     "A unit that only multiplies tiles: which part of a step cannot use it?",
     "Everything that is no product: gathering, activations, the loss, the optimizer. The faster the "
     "products get, the larger is their share of the time."},
    {"gpu:whole-step", "A whole training step in one dispatch, for networks that fit into a workgroup.",
     "whole_step.comp", "", "For which networks is this the fastest rung, and why not for all?",
     "For tiny ones, whose operations take less time than starting them. One workgroup uses one of the "
     "card's "
     "processors; large networks would leave all others idle."},
    {"gpu:best", "For every product of the network, the kernel that was the fastest on this device.", "", "",
     "Why does it measure instead of knowing?",
     "Which kernel wins depends on the device, its driver, and the sizes of the product. What was measured "
     "is "
     "remembered until one of them changes."},
};

} // namespace

std::span<const Rung> toldRungs() { return told; }

std::vector<Rung> rungsOf(std::span<const std::string_view> lanes) {
    std::vector<Rung> rungs;
    for (const Rung& rung : told)
        if (std::ranges::find(lanes, rung.lane) != lanes.end()) rungs.push_back(rung);
    for (const std::string_view lane : lanes)
        if (std::ranges::find(rungs, lane, &Rung::lane) == rungs.end())
            rungs.push_back({lane, "Another way to the same numbers.", "", "", "", ""});
    return rungs;
}

std::optional<Rung> rungBelow(const Rung& rung, const std::vector<Rung>& rungs) {
    std::string_view wanted = rung.below;
    while (!wanted.empty()) {
        const auto here = std::ranges::find(rungs, wanted, &Rung::lane);
        if (here != rungs.end()) return *here;
        const auto further = std::ranges::find(told, wanted, &Rung::lane);
        wanted = further == std::end(told) ? std::string_view() : further->below;
    }
    return std::nullopt;
}

} // namespace lockstep::demos
