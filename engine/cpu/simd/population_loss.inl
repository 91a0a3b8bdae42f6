// Many small networks, one per vector element: losses and scores. Layout: population_kernels.h; formulas:
// net/plain_ops.h.
#pragma once

namespace lockstep {
namespace {

LOCKSTEP_INLINE void addToDoubles(double* to, Floats values) {
    for (std::size_t element = 0; element < elements; ++element)
        to[element] += static_cast<double>(values[element]);
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
        const float* y = outputs + row * shape.outputs * elements;
        const TargetWord* words = targets + row * shape.targetWidth * elements;
        for (std::size_t j = 0; j < shape.outputs; ++j) {
            const Floats value = load(y + j * elements);
            const Floats target = smallTarget(shape.targetKind, words, elements, j);
            total += lossTermElements<loss>(value, target);
            if (gradient != nullptr)
                store(gradient + (row * shape.outputs + j) * elements,
                      scale * lossDerivativeElements<loss>(value, target));
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
        const float* z = outputs + row * shape.outputs * elements;
        const Ints classes = classesOf(targets + row * elements);
        Floats top = load(z);
        for (std::size_t j = 1; j < shape.outputs; ++j) top = larger(load(z + j * elements), top);
        Floats sum{};
        Floats wanted{};
        for (std::size_t j = 0; j < shape.outputs; ++j) {
            const Floats value = load(z + j * elements);
            sum += exponential(value - top);
            wanted = classes == static_cast<std::int32_t>(j) ? value : wanted;
        }
        total += logarithm(sum) + (top - wanted);
        const Floats factor = scale / sum;
        for (std::size_t j = 0; gradient != nullptr && j < shape.outputs; ++j) {
            const Floats hot = classes == static_cast<std::int32_t>(j) ? splat(scale) : Floats{};
            store(gradient + (row * shape.outputs + j) * elements,
                  exponential(load(z + j * elements) - top) * factor - hot);
        }
    }
    return total;
}

inline Floats populationTermsOf(const LossShape& shape, const float* outputs, const TargetWord* targets,
                                float* gradient) {
    switch (shape.loss) {
    case Loss::crossEntropy: return populationTerms<Loss::crossEntropy>(shape, outputs, targets, gradient);
    case Loss::huber: return populationTerms<Loss::huber>(shape, outputs, targets, gradient);
    case Loss::binaryCrossEntropy:
        return populationTerms<Loss::binaryCrossEntropy>(shape, outputs, targets, gradient);
    case Loss::meanSquared: break;
    }
    return populationTerms<Loss::meanSquared>(shape, outputs, targets, gradient);
}

inline void populationLossAndGradient(const LossShape& shape, const float* outputs, const float* saved,
                                      const TargetWord* targets, float* dSums, PopulationLosses& losses) {
    addToDoubles(losses.sum, populationTermsOf(shape, outputs, targets, dSums));
    populationDerive(shape.outputActivation, shape.rows * shape.outputs, saved, dSums);
}

inline bool populationSettleLosses(std::size_t terms, PopulationLosses& losses) {
    const auto divisor = static_cast<double>(terms);
    std::int32_t stopped = 0;
    for (std::size_t element = 0; element < elements; ++element) {
        const auto mean = static_cast<float>(losses.sum[element] / divisor);
        losses.sum[element] = 0;
        const std::int32_t finite = mean - mean == 0 ? -1 : 0;
        stopped |= losses.learns[element] & ~finite;
        losses.learns[element] &= finite;
        losses.mean[element] = losses.learns[element] != 0 ? mean : losses.mean[element];
    }
    return stopped != 0;
}

/// The correct predictions of each network.
inline void countCorrect(const LossShape& shape, const float* outputs, const TargetWord* targets,
                         std::uint64_t* correct) {
    Ints count{};
    const float threshold = shape.outputActivation == Activation::sigmoid ? 0.5f : 0.0f;
    for (std::size_t row = 0; row < shape.rows; ++row) {
        const float* y = outputs + row * shape.outputs * elements;
        Floats best = load(y);
        Ints answer = shape.outputs == 1 ? -(best > threshold) : Ints{};
        for (std::size_t j = 1; j < shape.outputs; ++j) {
            const Floats value = load(y + j * elements);
            answer = value > best ? static_cast<std::int32_t>(j) - Ints{} : answer;
            best = value > best ? value : best;
        }
        count -= answer == classesOf(targets + row * elements);
    }
    for (std::size_t element = 0; element < elements; ++element)
        correct[element] += static_cast<std::uint32_t>(count[element]);
}

inline void populationScore(const LossShape& shape, std::size_t classes, const float* outputs,
                            const TargetWord* targets, double* losses, std::uint64_t* correct) {
    addToDoubles(losses, populationTermsOf(shape, outputs, targets, nullptr));
    if (classes > 0) countCorrect(shape, outputs, targets, correct);
}

} // namespace
} // namespace lockstep
