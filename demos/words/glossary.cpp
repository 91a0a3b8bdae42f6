#include "demos/words/glossary.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "demos/words/language.h"

namespace lockstep::demos {

namespace {

constexpr Term terms[] = {
    {"activation",
     "The nonlinear function between layers, such as ReLU or tanh. Also its result, the input of the next "
     "layer.",
     "a = f(z); ReLU: f(z) = max(0, z)"},
    {"all-reduce",
     "Adds up numbers that several ranks have, and gives the sums to all of them. In a ring, each rank sends "
     "no more than twice its numbers, however many ranks there are.",
     "bytes sent = 2 (n - 1) / n N"},
    {"Amdahl's law",
     "If a share s of the work is serial, n workers make all of it at most this many times as fast. More "
     "than 1/s is out of reach.",
     "1 / (s + (1 - s) / n)"},
    {"arithmetic intensity",
     "Floating-point operations per byte of memory traffic. Low intensity means that memory limits the "
     "speed; high intensity, that arithmetic does.",
     "I = FLOP / bytes"},
    {"atomic", "Indivisible: of two atomic additions to one counter, both count."},
    {"backend", "The code that carries out a training step on one kind of machine: C++ on the CPU, or Vulkan "
                "on the GPU."},
    {"backward pass",
     "Computes the gradient layer by layer from the output to the input, by the chain rule "
     "(backpropagation).",
     "dW = dz a^T, da = W^T dz", "backpropagation"},
    {"bandwidth", "Bytes that a memory delivers per second, in GB/s.", "bytes / seconds"},
    {"bank conflict", "Shared memory is divided into banks, often 32. Invocations of a subgroup that reach "
                      "different words of one bank take turns."},
    {"barrier", "A point of order. In a workgroup, no invocation goes on before all have arrived. Between "
                "dispatches, later reads wait until earlier writes are visible."},
    {"batch", "The examples of one step; their mean gradient changes the weights once.", "", "minibatch"},
    {"bf16",
     "Floating point in 16 bits: the exponent of fp32, and 8 significant bits. Its range is that of fp32, so "
     "gradients need no loss scaling.",
     "", "bfloat16"},
    {"bias", "A parameter that is added to a neuron's weighted sum, whatever the inputs are."},
    {"cache line",
     "The unit in which a cache fetches memory, 32 to 128 bytes. A word brings its neighbours along."},
    {"coalescing", "Invocations of a subgroup that access neighbouring addresses are served by few wide "
                   "memory transactions. Scattered addresses need many."},
    {"confusion matrix",
     "Counts of test examples by label and prediction. Right predictions are on the diagonal."},
    {"convolution",
     "A layer whose outputs are sums over a small window of the input, the same weights (a filter) at every "
     "place of the picture.",
     "y[i][j] = sum w[r][s] x[i + r][j + s]"},
    {"cooperative matrix", "A small matrix that a subgroup holds in its registers together and multiplies "
                           "with one instruction (tensor cores, matrix cores)."},
    {"cross-entropy",
     "The loss of classification: minus the logarithm of the probability that the network gives the right "
     "class. Guessing evenly among k classes costs ln k.",
     "L = -ln p(label)"},
    {"dispatch", "One command that starts a kernel over a grid of workgroups."},
    {"divergence",
     "Training fails: the loss grows until it is infinite or not a number. The usual cause is too large a "
     "learning rate.",
     "", "diverged"},
    {"divergent branch", "Invocations of one subgroup take different branches. The subgroup executes each "
                         "branch in turn, with the other invocations masked out."},
    {"epoch", "One pass over all training examples.", "steps = examples / batch, rounded up"},
    {"false sharing", "Threads write different words of one cache line. The line travels between their "
                      "caches, although they share nothing."},
    {"feature", "One input of the network, computed from the raw data."},
    {"FLOP",
     "One floating-point operation. A multiply-add counts as two. GFLOP/s are 10⁹ of them per second.",
     "product of m×k and k×n: 2 m n k"},
    {"forward pass", "Computes the predictions layer by layer from the input to the output.",
     "z = W a + b, then a = f(z)"},
    {"fp16",
     "Floating point in 16 bits: 11 significant bits, at most 65,504. Half the bytes of fp32, and often "
     "faster.",
     "", "half precision"},
    {"fp8",
     "Floating point in 8 bits: e4m3 has 4 bits of exponent and 3 of fraction, e5m2 has 5 and 2. Each tensor "
     "has a scale.",
     "", "e4m3"},
    {"gradient",
     "For every parameter, how fast the loss grows if that parameter does. A step goes against it.",
     "g = ∂L/∂w"},
    {"hyperparameter",
     "A setting that training does not learn, such as the learning rate or a layer's width."},
    {"im2col", "Copies the window of each output into a row of a matrix, so that a matrix product computes a "
               "convolution."},
    {"initial weights",
     "Random numbers that training starts from. Their scale should keep signals of equal size from layer to "
     "layer.",
     "variance: He 2/in, Xavier 2/(in + out), LeCun 1/in", "initialisation scale"},
    {"invocation",
     "One run of a kernel's code, with an index and registers of its own. CUDA calls it a thread."},
    {"kernel", "A small program that the GPU runs once per invocation, thousands at a time."},
    {"L1", "Regularisation that pulls every weight towards 0 by a constant amount, so many end near 0.",
     "g + λ sign(w)"},
    {"L2",
     "Regularisation that pulls every weight towards 0 in proportion to its size. AdamW shrinks the weights "
     "themselves instead of adding to the gradient.",
     "g + λ w", "weight decay"},
    {"label", "What the data set says that an example is: the right answer."},
    {"lane", "A contestant in a race: a machine and a rung, such as gpu:tiled. Every lane trains the same "
             "network on the same batches."},
    {"latency", "The time from a request until its result is there, in seconds. Many requests at once can "
                "give high throughput in spite of it."},
    {"learning rate", "How far a step moves the parameters against the gradient.", "w ← w - η g"},
    {"Little's law", "How much is under way at once, if requests arrive at a steady rate.",
     "in flight = throughput × latency"},
    {"loss",
     "The number that training minimises: how far predictions are from labels, as a mean over examples."},
    {"loss scaling",
     "Multiplies the loss, and with it all gradients, by a power of two, so that small ones do not become 0 "
     "in few bits. The update divides by it again."},
    {"master weights",
     "Parameters in fp32 that the optimizer changes, while products read copies of them in fewer bits."},
    {"momentum", "Adds up past gradients, so that steps keep going in a lasting direction.",
     "m ← µ m + g, w ← w - η m"},
    {"neuron", "A weighted sum of inputs, plus a bias, through an activation."},
    {"occupancy", "Subgroups resident on a compute unit, divided by the most it can hold. More of them hide "
                  "memory latency better; registers and shared memory limit it."},
    {"operation", "A part of the step with a name, such as a layer's forward product; on the GPU, one or "
                  "more dispatches."},
    {"optimizer",
     "The rule that turns the gradient into new parameters: SGD, momentum, RMSprop, Adam or AdamW."},
    {"overfitting", "The network learns its training examples by heart: the training loss falls while the "
                    "test loss stalls or rises."},
    {"parameter", "A number that training changes: a weight or a bias.", "dense layer: in × out + out"},
    {"preactivation", "A neuron's weighted sum before its activation.", "z = W a + b"},
    {"prediction",
     "What the network answers for an example; in classification, the class with the highest probability."},
    {"race condition",
     "The result depends on who comes first. Two invocations that load, add and store can lose an addition."},
    {"rank",
     "One of the workers that train a network together, each on a device or on some cores. Each takes a part "
     "of the batch; then all add up their gradients."},
    {"register", "The fastest memory, private to an invocation. Register blocking computes several results "
                 "per invocation to reuse each loaded value."},
    {"regularisation", "A pull on the weights towards 0 that reduces overfitting: L1, L2 or weight decay."},
    {"roof",
     "The highest rate that a device allows a kernel of some arithmetic intensity: memory limits it on the "
     "left, arithmetic on the right.",
     "min(peak FLOP/s, I × bandwidth)", "roofline"},
    {"rung", "One version of the matrix kernels, from naive to best. All rungs compute the same result up to "
             "rounding."},
    {"schedule", "How the learning rate changes during training.", "cosine: η/2 (1 + cos(π t / T))"},
    {"seed", "The number that starts the random generator. Equal seeds give equal data, initial weights and "
             "order of examples."},
    {"shared memory", "Fast memory on a compute unit that one workgroup shares; Vulkan guarantees 16 KiB. "
                      "Kernels load a tile into it once and read it many times."},
    {"SIMD",
     "One CPU instruction computes several elements at once: 8 fp32 numbers with AVX2, 16 with AVX-512."},
    {"speed-up", "How many times faster something is than its reference.", "time of reference / time"},
    {"step", "One forward pass, backward pass and update on one batch."},
    {"stochastic rounding",
     "Rounds to either neighbour by chance, the nearer the more likely. On average nothing is lost, not even "
     "updates far smaller than the distance between the two.",
     "P(up) = (x - low) / (high - low)"},
    {"stride", "The distance between one access and the next, in words or bytes."},
    {"strong scaling",
     "More ranks for the same work: each has less to compute, but no less to exchange. Weak scaling gives "
     "each "
     "rank as much work as one had.",
     "efficiency = T(1) / (n T(n))", "weak scaling"},
    {"subgroup", "Invocations that the hardware runs together: often 32 on NVIDIA, 32 or 64 on AMD. They can "
                 "exchange registers directly. CUDA calls it a warp."},
    {"submission", "Recorded commands that the host hands to the device's queue at once."},
    {"systolic array", "A grid of multiply-add units. Operands flow from neighbour to neighbour, so that a "
                       "number read once serves a whole row or column."},
    {"tensor", "An array of numbers with a shape, such as a matrix of weights or a batch of activations."},
    {"test accuracy",
     "The share of test examples whose prediction equals the label. The network never trains on them.",
     "right / all, in %"},
    {"throughput", "Work per second: examples/s, steps/s or FLOP/s."},
    {"tile", "A block of a matrix that a workgroup computes, or loads into shared memory to reuse it."},
    {"timestamp",
     "A time that the GPU itself writes between dispatches, so that the CPU's waiting is not measured."},
    {"ulp", "Unit in the last place: the distance from a floating-point number to the next."},
    {"warm-up",
     "In training: first steps with a rising learning rate. In measuring: first steps that are not timed, "
     "because compilation and cold caches slow them down.",
     "η (t + 1) / T while t < T"},
    {"weight", "A parameter that multiplies an input of a neuron."},
    {"workgroup", "Invocations that run on one compute unit, share its shared memory and can meet at a "
                  "barrier; Vulkan guarantees room for 128. CUDA calls it a block."},
};

std::string lowerCase(std::string_view text) {
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(),
                           [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return lower;
}

bool isLetter(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0; }

/// Erases the word from `text` wherever it stands whole, also with a plural's ending. False: nowhere.
bool takeWord(std::string& text, std::string_view name) {
    const std::string word = lowerCase(name);
    bool taken = false;
    for (std::size_t at = 0; !word.empty() && (at = text.find(word, at)) != std::string::npos; ++at) {
        std::size_t end = at + word.size();
        for (const std::string_view ending : {"es", "s"})
            if (std::string_view(text).substr(end).starts_with(ending)) {
                end += ending.size();
                break;
            }
        if ((at > 0 && isLetter(text[at - 1])) || (end < text.size() && isLetter(text[end]))) continue;
        text.replace(at, end - at, end - at, '.');
        taken = true;
    }
    return taken;
}

} // namespace

std::span<const Term> glossary() { return terms; }

std::vector<const Term*> termsIn(std::string_view text, std::size_t most) {
    std::string left = lowerCase(text);
    std::vector<const Term*> byLength;
    for (const Term& term : terms) byLength.push_back(&term);
    std::ranges::stable_sort(byLength, std::ranges::greater(),
                             [](const Term* term) { return term->name.size(); });
    std::vector<const Term*> found;
    for (const Term* term : byLength) {
        const bool byName = takeWord(left, term->name);
        if (takeWord(left, term->other) || byName) found.push_back(term);
    }
    std::ranges::sort(found); // as in the glossary, which is one array
    if (found.size() > most) found.resize(most);
    return found;
}

bool mentions(const Term& term, std::string_view letters) {
    const std::string wanted = lowerCase(letters);
    return std::ranges::any_of(
        std::initializer_list<std::string_view>{term.name, term.other, term.text},
        [&](std::string_view part) { return lowerCase(translated(part)).find(wanted) != std::string::npos; });
}

} // namespace lockstep::demos
