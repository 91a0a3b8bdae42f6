// Many small networks, one in each lane: which examples, what the outputs are worth, and the optimizers.
// Layout and formulas: population_kernels.h.
#pragma once

namespace lockstep {
namespace {

/// Round keys, one in each lane.
struct LaneKeys {
    Words k0, k1, k2, k3;
};

LOCKSTEP_INLINE Words loadWords(const std::uint32_t* from) {
    Words words;
    __builtin_memcpy(&words, from, sizeof(words));
    return words;
}

LOCKSTEP_INLINE void storeWords(std::uint32_t* to, Words words) { __builtin_memcpy(to, &words, sizeof(words)); }

/// All lanes have the same order: a vector of positions at once.
inline void orderAlike(const PopulationBatch& batch, std::uint32_t count, const shared::OrderKeys& keys,
                       std::uint32_t* examples) {
    constexpr std::size_t block = orderVectors * lanes;
    for (std::size_t first = 0; first < batch.rows; first += block) {
        Words chosen[orderVectors];
        smallOrderIndices(static_cast<std::uint32_t>(batch.first + first), count, shared::orderBits(count),
                          keys, chosen);
        std::uint32_t index[block];
        __builtin_memcpy(index, chosen, sizeof(index));
        const std::size_t rows = batch.rows - first < block ? batch.rows - first : block;
        for (std::size_t row = 0; row < rows; ++row)
            storeWords(examples + (first + row) * lanes, index[row] - Words{});
    }
}

inline void orderLanes(const PopulationBatch& batch, std::uint32_t count, const PopulationKeys& all,
                       std::uint32_t* examples) {
    const LaneKeys keys{loadWords(all.k0), loadWords(all.k1), loadWords(all.k2), loadWords(all.k3)};
    const std::uint32_t bits = shared::orderBits(count);
    for (std::size_t row = 0; row < batch.rows; ++row) {
        const auto position = static_cast<std::uint32_t>(batch.first + row);
        Words index = smallOrderFeistel(position - Words{}, bits, keys);
        while (anyLane(reinterpret_cast<Words>(index >= count))) {
            const Words again = smallOrderFeistel(index, bits, keys);
            index = index >= count ? again : index;
        }
        storeWords(examples + row * lanes, index);
    }
}

inline void populationOrderExamples(const PopulationBatch& batch, std::size_t count,
                                    const PopulationKeys& keys, std::uint32_t* examples) {
    const auto size = static_cast<std::uint32_t>(count);
    if (batch.shuffled && batch.alike)
        return orderAlike(batch, size, {keys.k0[0], keys.k1[0], keys.k2[0], keys.k3[0]}, examples);
    if (batch.shuffled) return orderLanes(batch, size, keys, examples);
    for (std::size_t row = 0; row < batch.rows; ++row)
        storeWords(examples + row * lanes, static_cast<std::uint32_t>(batch.first + row) - Words{});
}

LOCKSTEP_INLINE void addToDoubles(double* to, Floats values) {
    for (std::size_t lane = 0; lane < lanes; ++lane) to[lane] += static_cast<double>(values[lane]);
}

/// log x for x in [1, 2^24]: the sum of a softmax with its largest term taken out.
LOCKSTEP_INLINE Floats crossEntropyTerm(const float* z, std::size_t outputs, Ints classes, Floats& top,
                                        Floats& sum) {
    top = load(z);
    for (std::size_t j = 1; j < outputs; ++j) top = larger(load(z + j * lanes), top);
    sum = Floats{};
    Floats wanted{};
    for (std::size_t j = 0; j < outputs; ++j) {
        const Floats value = load(z + j * lanes);
        sum += exponential(value - top);
        wanted = classes == static_cast<std::int32_t>(j) ? value : wanted;
    }
    return logarithm(sum) + (top - wanted);
}

LOCKSTEP_INLINE Ints classesOf(const TargetWord* words) {
    return bitsOf(load(reinterpret_cast<const float*>(words)));
}

/// The rows' terms, added up; `gradient` receives each row's dY where it is not null.
template <Loss loss>
LOCKSTEP_INLINE Floats populationTerms(const LossShape& shape, const float* outputs,
                                       const TargetWord* targets, float* gradient) {
    const auto scale = static_cast<float>(shape.scale);
    Floats total{};
    for (std::size_t row = 0; row < shape.rows; ++row) {
        const float* y = outputs + row * shape.outputs * lanes;
        const TargetWord* words = targets + row * shape.targetWidth * lanes;
        for (std::size_t j = 0; j < shape.outputs; ++j) {
            const Floats value = load(y + j * lanes);
            const Floats target = smallTarget(shape.targetKind, words, lanes, j);
            total += lossTermLanes<loss>(value, target);
            if (gradient != nullptr)
                store(gradient + (row * shape.outputs + j) * lanes,
                      scale * lossDerivativeLanes<loss>(value, target));
        }
    }
    return total;
}

template <>
LOCKSTEP_INLINE Floats populationTerms<Loss::crossEntropy>(const LossShape& shape, const float* outputs,
                                                           const TargetWord* targets, float* gradient) {
    const auto scale = static_cast<float>(shape.scale);
    Floats total{};
    for (std::size_t row = 0; row < shape.rows; ++row) {
        const float* z = outputs + row * shape.outputs * lanes;
        const Ints classes = classesOf(targets + row * lanes);
        Floats top, sum;
        total += crossEntropyTerm(z, shape.outputs, classes, top, sum);
        const Floats factor = scale / sum;
        for (std::size_t j = 0; gradient != nullptr && j < shape.outputs; ++j) {
            const Floats hot = classes == static_cast<std::int32_t>(j) ? splat(scale) : Floats{};
            store(gradient + (row * shape.outputs + j) * lanes,
                  exponential(load(z + j * lanes) - top) * factor - hot);
        }
    }
    return total;
}

inline void populationTermsOf(const LossShape& shape, const float* outputs, const TargetWord* targets,
                              float* gradient, double* sums) {
    switch (shape.loss) {
    case Loss::crossEntropy:
        return addToDoubles(sums, populationTerms<Loss::crossEntropy>(shape, outputs, targets, gradient));
    case Loss::meanSquared:
        return addToDoubles(sums, populationTerms<Loss::meanSquared>(shape, outputs, targets, gradient));
    case Loss::huber:
        return addToDoubles(sums, populationTerms<Loss::huber>(shape, outputs, targets, gradient));
    case Loss::binaryCrossEntropy:
        return addToDoubles(sums,
                            populationTerms<Loss::binaryCrossEntropy>(shape, outputs, targets, gradient));
    }
}

inline void populationLossAndGradient(const LossShape& shape, const float* outputs, const float* saved,
                                      const TargetWord* targets, float* dSums, PopulationLosses& losses) {
    populationTermsOf(shape, outputs, targets, dSums, losses.sum);
    withActivation<PopulationDerive>(shape.outputActivation, shape.rows * shape.outputs, saved, dSums);
}

inline bool populationSettleLosses(std::size_t terms, PopulationLosses& losses) {
    const auto divisor = static_cast<double>(terms);
    std::int32_t stopped = 0;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        const auto mean = static_cast<float>(losses.sum[lane] / divisor);
        losses.sum[lane] = 0;
        const std::int32_t finite = mean - mean == 0 ? -1 : 0;
        stopped |= losses.learns[lane] & ~finite;
        losses.learns[lane] &= finite;
        losses.mean[lane] = losses.learns[lane] != 0 ? mean : losses.mean[lane];
    }
    return stopped != 0;
}

/// The rows answered rightly, one number per lane.
inline void countCorrect(const LossShape& shape, const float* outputs, const TargetWord* targets,
                         std::uint64_t* correct) {
    Ints count{};
    const float threshold = shape.outputActivation == Activation::sigmoid ? 0.5f : 0.0f;
    for (std::size_t row = 0; row < shape.rows; ++row) {
        const float* y = outputs + row * shape.outputs * lanes;
        Floats best = load(y);
        Ints answer = shape.outputs == 1 ? -(best > threshold) : Ints{};
        for (std::size_t j = 1; j < shape.outputs; ++j) {
            const Floats value = load(y + j * lanes);
            answer = value > best ? static_cast<std::int32_t>(j) - Ints{} : answer;
            best = value > best ? value : best;
        }
        count -= answer == classesOf(targets + row * lanes);
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) correct[lane] += static_cast<std::uint32_t>(count[lane]);
}

inline void populationScore(const LossShape& shape, std::size_t classes, const float* outputs,
                            const TargetWord* targets, double* losses, std::uint64_t* correct) {
    populationTermsOf(shape, outputs, targets, nullptr, losses);
    if (classes > 0) countCorrect(shape, outputs, targets, correct);
}

/// The numbers of a step, each in a register.
struct LaneRates {
    explicit LOCKSTEP_INLINE LaneRates(const PopulationRates& rates)
        : rate(load(rates.learningRate)), momentum(load(rates.momentum)), l2(load(rates.l2)),
          keep(load(rates.weightKeep)), common(rates.common) {}
    Floats rate, momentum, l2, keep;
    shared::UpdateParams common;
};

/// The new weight; `m` and `v` are the states.
template <Optimizer optimizer>
LOCKSTEP_INLINE Floats updatedWeight(const LaneRates& rates, Floats g, Floats w, Floats& m, Floats& v) {
    if constexpr (optimizer == Optimizer::sgd) return w - rates.rate * g;
    if constexpr (optimizer == Optimizer::momentum) {
        m = rates.momentum * m + g;
        return w - rates.rate * (rates.common.nesterov != 0 ? g + rates.momentum * m : m);
    }
    const float decay = rates.common.secondDecay;
    if constexpr (optimizer == Optimizer::rmsprop) {
        m = decay * m + (1.0f - decay) * g * g;
        return w - rates.rate * g / (squareRoot(m) + rates.common.epsilon);
    }
    if constexpr (optimizer == Optimizer::adamw) w *= rates.keep;
    m = rates.momentum * m + (1.0f - rates.momentum) * g;
    v = decay * v + (1.0f - decay) * g * g;
    return w - rates.rate * m / (squareRoot(v) * rates.common.secondScale + rates.common.epsilon);
}

template <Optimizer optimizer>
void updatePopulation(const PopulationRates& given, const PopulationLosses& losses, std::size_t count,
                      const float* gradients, float* parameters, float* state1, float* state2) {
    constexpr bool hasFirst = optimizer != Optimizer::sgd;
    constexpr bool hasSecond = optimizer == Optimizer::adam || optimizer == Optimizer::adamw;
    const LaneRates rates(given);
    const Ints learns = bitsOf(load(reinterpret_cast<const float*>(losses.learns)));
    const Floats one = splat(rates.common.l1);
    for (std::size_t at = 0; at < count * lanes; at += lanes) {
        const Floats w = load(parameters + at);
        Floats g = load(gradients + at) + rates.l2 * w;
        if (rates.common.l1 != 0) g += (w > 0.0f ? one : Floats{}) - (w < 0.0f ? one : Floats{});
        Floats m{}, v{};
        if constexpr (hasFirst) m = load(state1 + at);
        if constexpr (hasSecond) v = load(state2 + at);
        const Floats updated = updatedWeight<optimizer>(rates, g, w, m, v);
        store(parameters + at, learns != 0 ? updated : w);
        if constexpr (hasFirst) store(state1 + at, m);
        if constexpr (hasSecond) store(state2 + at, v);
    }
}

inline void populationUpdate(Optimizer optimizer, const PopulationRates& rates,
                             const PopulationLosses& losses, std::size_t count, const float* gradients,
                             float* parameters, float* state1, float* state2) {
    const auto run = [&](auto function) {
        function(rates, losses, count, gradients, parameters, state1, state2);
    };
    switch (optimizer) {
    case Optimizer::sgd: return run(updatePopulation<Optimizer::sgd>);
    case Optimizer::momentum: return run(updatePopulation<Optimizer::momentum>);
    case Optimizer::rmsprop: return run(updatePopulation<Optimizer::rmsprop>);
    case Optimizer::adam: return run(updatePopulation<Optimizer::adam>);
    case Optimizer::adamw: return run(updatePopulation<Optimizer::adamw>);
    }
}

constexpr PopulationKernels populationTable{
    .lanes = lanes,
    .orderExamples = populationOrderExamples,
    .dense = populationDense,
    .lossAndGradient = populationLossAndGradient,
    .settleLosses = populationSettleLosses,
    .denseBackwardInputs = populationBackwardInputs,
    .denseBackwardWeights = populationBackwardWeights,
    .update = populationUpdate,
    .score = populationScore,
};

} // namespace
} // namespace lockstep
