// Maps: a network per element. Layout and formulas: map_kernels.h, shaders/grid/map_network.glsl.
#pragma once

namespace lockstep {
namespace {
namespace map {

constexpr std::size_t mostHidden = 16;
constexpr std::size_t blockExamples = 16; // as many as a row of weights stays in registers for

/// a b + c, rounded once: what makes all machines add to the same bits.
LOCKSTEP_INLINE Floats fused(Floats a, Floats b, Floats c) {
#if LOCKSTEP_VECTOR_BYTES == 16 && defined(__SSE2__)
    // Without such an instruction: the product is exact in doubles, and rounding twice hardly ever shows.
    Floats result;
    for (std::size_t element = 0; element < elements; ++element)
        result[element] =
            static_cast<float>(static_cast<double>(a[element]) * static_cast<double>(b[element]) +
                               static_cast<double>(c[element]));
    return result;
#else
    return multiplyAdd(a, b, c);
#endif
}

/// x P(x^2) / Q(x^2): shaders/shared/tanh.h.
LOCKSTEP_INLINE Floats quotientTanh(Floats x) {
    using namespace shared;
    const Floats u = atMost(x * x, tanhLimit * tanhLimit);
    return atLeast(atMost(LOCKSTEP_TANH_QUOTIENT(x, u, fused), 1.0f), -1.0f);
}

template <Activation activation> LOCKSTEP_INLINE Floats activated(Floats z) {
    if constexpr (activation == Activation::tanh) return quotientTanh(z);
    if constexpr (activation == Activation::relu) return z < 0.0f ? Floats{} : z;
    return z;
}

/// d f'(z), from f(z).
template <Activation activation> LOCKSTEP_INLINE Floats derived(Floats d, Floats value) {
    if constexpr (activation == Activation::tanh) return d * fused(-value, value, splat(1.0f));
    if constexpr (activation == Activation::relu) return value > 0.0f ? d : Floats{};
    return d;
}

template <std::size_t columns> struct Networks {
    Floats first[mostHidden][columns];
    Floats second[mostHidden];
    Floats dFirst[mostHidden][columns]; ///< gradients
    Floats dSecond[mostHidden];
};

/// What a block of examples leaves behind on its way forward.
struct Block {
    std::size_t count = 0;
    Floats values[mostHidden][blockExamples]; ///< of the hidden neurons
    Floats errors[blockExamples];
};

template <std::size_t columns>
LOCKSTEP_INLINE Floats weightedSum(const Floats* weights, const float* inputs) {
    Floats sum = weights[0] * splat(inputs[0]);
    for (std::size_t i = 1; i < columns; ++i) sum = fused(weights[i], splat(inputs[i]), sum);
    return sum;
}

/// Returns `squares` plus the block's squared errors.
template <std::size_t columns, Activation activation>
LOCKSTEP_INLINE Floats forward(const MapProblem& problem, std::size_t example,
                               const Networks<columns>& networks, Block& block, Floats squares) {
    const float* inputs = problem.inputs + example * columns;
    Floats sums[blockExamples] = {};
    for (std::size_t h = 0; h < problem.hidden; ++h)
        for (std::size_t k = 0; k < block.count; ++k) {
            const Floats z = weightedSum<columns>(networks.first[h], inputs + k * columns);
            block.values[h][k] = activated<activation>(z);
            sums[k] = fused(networks.second[h], block.values[h][k], sums[k]);
        }
    const Floats share = splat(1.0f / static_cast<float>(problem.hidden));
    for (std::size_t k = 0; k < block.count; ++k) {
        block.errors[k] = fused(sums[k], share, splat(-problem.targets[example + k]));
        squares = fused(block.errors[k], block.errors[k], squares);
    }
    return squares;
}

/// Adds the block's part to the gradients.
template <std::size_t columns, Activation activation>
LOCKSTEP_INLINE void backward(const MapProblem& problem, std::size_t example, Networks<columns>& networks,
                              const Block& block) {
    const float* inputs = problem.inputs + example * columns;
    for (std::size_t h = 0; h < problem.hidden; ++h) {
        Floats row[columns];
        for (std::size_t i = 0; i < columns; ++i) row[i] = networks.dFirst[h][i];
        Floats sum = networks.dSecond[h];
        for (std::size_t k = 0; k < block.count; ++k) {
            const Floats value = block.values[h][k];
            sum = fused(block.errors[k], value, sum);
            const Floats d = derived<activation>(block.errors[k] * networks.second[h], value);
            for (std::size_t i = 0; i < columns; ++i)
                row[i] = fused(d, splat(inputs[k * columns + i]), row[i]);
        }
        for (std::size_t i = 0; i < columns; ++i) networks.dFirst[h][i] = row[i];
        networks.dSecond[h] = sum;
    }
}

/// The sums of squared errors, and their gradients.
template <std::size_t columns, Activation activation>
LOCKSTEP_INLINE Floats lossAndGradient(const MapProblem& problem, Networks<columns>& networks) {
    for (std::size_t h = 0; h < problem.hidden; ++h) {
        for (std::size_t i = 0; i < columns; ++i) networks.dFirst[h][i] = Floats{};
        networks.dSecond[h] = Floats{};
    }
    Block block;
    Floats squares{};
    for (std::size_t example = 0; example < problem.examples; example += blockExamples) {
        const std::size_t left = problem.examples - example;
        block.count = left < blockExamples ? left : blockExamples;
        squares = forward<columns, activation>(problem, example, networks, block, squares);
        backward<columns, activation>(problem, example, networks, block);
    }
    return squares;
}

/// The vector of one number of every network; the last network fills what is left.
template <class Number>
LOCKSTEP_INLINE Floats gathered(const shared::MapStart* starts, std::size_t count, Number number) {
    Floats values{};
    for (std::size_t element = 0; element < elements; ++element)
        values[element] = starts[element < count ? element : count - 1].*number;
    return values;
}

template <std::size_t columns>
LOCKSTEP_INLINE void begin(const MapProblem& problem, Floats scale, Networks<columns>& networks) {
    for (std::size_t h = 0; h < problem.hidden; ++h) {
        for (std::size_t i = 0; i < columns; ++i)
            networks.first[h][i] = splat(problem.firstWeights[h * columns + i]) * scale;
        networks.second[h] = splat(problem.secondWeights[h]) * scale;
    }
}

template <std::size_t columns>
LOCKSTEP_INLINE void update(const MapProblem& problem, Floats firstStep, Floats secondStep,
                            Networks<columns>& networks) {
    for (std::size_t h = 0; h < problem.hidden; ++h) {
        for (std::size_t i = 0; i < columns; ++i)
            networks.first[h][i] = fused(-firstStep, networks.dFirst[h][i], networks.first[h][i]);
        networks.second[h] = fused(-secondStep, networks.dSecond[h], networks.second[h]);
    }
}

/// What is noted of the losses on the way; shared::MapEnd of every element.
struct Losses {
    Floats limit;
    Floats first;
    Floats before;
    Floats sum;
    Floats last;
    Ints running; ///< all bits where the network has not diverged
};

/// Ends the networks whose loss went beyond the limit.
LOCKSTEP_INLINE void endDiverged(Losses& losses, Floats loss, std::uint32_t step, std::size_t count,
                                 shared::MapEnd* ends) {
    const Ints diverged = losses.running & ~(loss <= losses.limit);
    if (!anyElement(reinterpret_cast<Words>(diverged))) return;
    for (std::size_t element = 0; element < count; ++element)
        if (diverged[element] != 0)
            ends[element] = {step, losses.first[element], losses.before[element], loss[element]};
    losses.running &= ~diverged;
}

LOCKSTEP_INLINE void note(Losses& losses, Floats loss, bool isFirst, bool isTail) {
    if (isFirst) {
        const Floats limit = loss * shared::mapDivergence;
        losses.first = loss;
        losses.limit = limit < shared::mapLargestLoss ? limit : splat(shared::mapLargestLoss);
    }
    losses.sum += loss;
    if (isTail) losses.last += loss;
    losses.before = loss;
}

template <std::size_t columns, Activation activation>
void trainVector(const MapProblem& problem, const shared::MapStart* starts, std::size_t count,
                 shared::MapEnd* ends) {
    const Floats firstStep = gathered(starts, count, &shared::MapStart::firstStep);
    const Floats secondStep = gathered(starts, count, &shared::MapStart::secondStep);
    Networks<columns> networks;
    begin(problem, gathered(starts, count, &shared::MapStart::scale), networks);
    Losses losses{splat(shared::mapLargestLoss), {}, {}, {}, {}, ~Ints{}};
    for (std::uint32_t step = 0; step < problem.steps; ++step) {
        const Floats loss = lossAndGradient<columns, activation>(problem, networks);
        endDiverged(losses, loss, step, count, ends);
        if (!anyElement(reinterpret_cast<Words>(losses.running))) return;
        note(losses, loss, step == 0, step >= problem.steps - problem.tail);
        update(problem, firstStep, secondStep, networks);
    }
    for (std::size_t element = 0; element < count; ++element)
        if (losses.running[element] != 0)
            ends[element] = {problem.steps, losses.first[element], losses.sum[element], losses.last[element]};
}

template <Activation activation>
void trainActivation(const MapProblem& problem, const shared::MapStart* starts, std::size_t count,
                     shared::MapEnd* ends) {
    switch (problem.columns) {
    case 2: return trainVector<2, activation>(problem, starts, count, ends);
    case 4: return trainVector<4, activation>(problem, starts, count, ends);
    case 8: return trainVector<8, activation>(problem, starts, count, ends);
    case 16: return trainVector<16, activation>(problem, starts, count, ends);
    default: __builtin_trap(); // an exception's inline functions would be compiled for this instruction set
    }
}

inline void train(const MapProblem& problem, const shared::MapStart* starts, std::size_t count,
                  shared::MapEnd* ends) {
    switch (problem.activation) {
    case Activation::tanh: return trainActivation<Activation::tanh>(problem, starts, count, ends);
    case Activation::relu: return trainActivation<Activation::relu>(problem, starts, count, ends);
    case Activation::identity: return trainActivation<Activation::identity>(problem, starts, count, ends);
    default: __builtin_trap();
    }
}

} // namespace map
} // namespace
} // namespace lockstep
