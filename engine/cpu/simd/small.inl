// Small networks: an example per vector element, everything in the first-level cache. Layout and formulas:
// small_kernels.h.
#pragma once

namespace lockstep {
namespace {

LOCKSTEP_INLINE std::size_t vectorsFor(std::size_t rows) { return (rows + elements - 1) / elements; }

/// A: element (row, depth) is at row * rowStride + depth * depthStride.
struct LeftMatrix {
    const float* data;
    std::size_t rowStride;
    std::size_t depthStride;
};

/// C [rows][vectors] = A X (+ bias), a block that stays in registers.
template <std::size_t rows, std::size_t vectors>
LOCKSTEP_INLINE void smallTile(const LeftMatrix& a, const float* x, std::size_t depth, std::size_t stride,
                               const float* bias, float* c) {
    Floats sums[rows][vectors];
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t v = 0; v < vectors; ++v)
            sums[row][v] = bias == nullptr ? Floats{} : splat(bias[row]);
    for (std::size_t k = 0; k < depth; ++k) {
        Floats right[vectors];
        for (std::size_t v = 0; v < vectors; ++v) right[v] = load(x + k * stride + v * elements);
        for (std::size_t row = 0; row < rows; ++row) {
            const Floats left = splat(a.data[row * a.rowStride + k * a.depthStride]);
            for (std::size_t v = 0; v < vectors; ++v) sums[row][v] += left * right[v];
        }
    }
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t v = 0; v < vectors; ++v) store(c + row * stride + v * elements, sums[row][v]);
}

/// `vectors` vectors of examples, all rows of A.
template <std::size_t vectors>
LOCKSTEP_INLINE void smallColumns(const LeftMatrix& a, std::size_t rows, const float* x, std::size_t depth,
                                  std::size_t stride, const float* bias, float* c) {
    constexpr std::size_t tall =
        8 / vectors; // eight sums hide the latency of multiply-adds, and fit everywhere
    const auto from = [&](std::size_t row) {
        return LeftMatrix{a.data + row * a.rowStride, a.rowStride, a.depthStride};
    };
    const auto biasOf = [&](std::size_t row) { return bias == nullptr ? nullptr : bias + row; };
    std::size_t row = 0;
    for (; row + tall <= rows; row += tall)
        smallTile<tall, vectors>(from(row), x, depth, stride, biasOf(row), c + row * stride);
    for (; row + 2 <= rows; row += 2)
        smallTile<2, vectors>(from(row), x, depth, stride, biasOf(row), c + row * stride);
    if (row < rows) smallTile<1, vectors>(from(row), x, depth, stride, biasOf(row), c + row * stride);
}

inline void smallProduct(const LeftMatrix& a, std::size_t rows, const float* x, std::size_t depth,
                         std::size_t vectors, std::size_t stride, const float* bias, float* c) {
    std::size_t v = 0;
    for (; v + 2 <= vectors; v += 2)
        smallColumns<2>(a, rows, x + v * elements, depth, stride, bias, c + v * elements);
    if (v < vectors) smallColumns<1>(a, rows, x + v * elements, depth, stride, bias, c + v * elements);
}

struct SmallActivate {
    template <Activation activation>
    static void run(std::size_t neurons, std::size_t vectors, std::size_t stride, float* outputs,
                    float* sums) {
        if (activation == Activation::identity && sums == nullptr) return;
        for (std::size_t neuron = 0; neuron < neurons; ++neuron)
            for (std::size_t v = 0; v < vectors; ++v) {
                const std::size_t at = neuron * stride + v * elements;
                const Floats z = load(outputs + at);
                if (sums != nullptr) store(sums + at, z);
                store(outputs + at, activateElements<activation>(z));
            }
    }
};

inline void smallDense(const SmallShape& shape, const float* inputs, const float* weights, const float* bias,
                       Activation activation, float* outputs, float* sums) {
    const std::size_t vectors = vectorsFor(shape.rows);
    smallProduct({weights, shape.weightStride, 1}, shape.outputs, inputs, shape.inputs, vectors, shape.stride,
                 bias, outputs);
    withActivation<SmallActivate>(activation, shape.outputs, vectors, shape.stride, outputs, sums);
}

inline void smallBackwardInputs(const SmallShape& shape, const float* dSums, const float* weights,
                                Activation previous, const float* saved, float* dPreviousSums) {
    const std::size_t vectors = vectorsFor(shape.rows);
    smallProduct({weights, 1, shape.weightStride}, shape.inputs, dSums, shape.outputs, vectors, shape.stride,
                 nullptr, dPreviousSums);
    withActivation<DeriveBlock>(previous, shape.inputs, vectors * elements, shape.stride, saved,
                                dPreviousSums);
}

/// Of each group of four elements: the sums of a's, b's, c's and d's.
LOCKSTEP_INLINE Floats sumGroups(Floats a, Floats b, Floats c, Floats d) {
    const Floats ab = interleaveLow(a, b) + interleaveHigh(a, b); // a02 b02 a13 b13
    const Floats cd = interleaveLow(c, d) + interleaveHigh(c, d);
    return joinLow(ab, cd) + joinHigh(ab, cd);
}

/// Element k = the sum of all elements of values[k], k < count. The fewer, the faster.
template <std::size_t count> LOCKSTEP_INLINE Floats sumsOfVectors(const Floats* values) {
    const auto four = [values](std::size_t k) {
        return k < count ? sumGroups(values[k], values[k + 1], values[k + 2], values[k + 3]) : Floats{};
    };
    const Floats first = four(0);
#if LOCKSTEP_VECTOR_BYTES == 64
    const Floats second = four(4);
    const Floats third = four(8);
    const Floats fourth = four(12);
    const Floats low =
        __builtin_shufflevector(first, second, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
        __builtin_shufflevector(first, second, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
    const Floats high =
        __builtin_shufflevector(third, fourth, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
        __builtin_shufflevector(third, fourth, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
           __builtin_shufflevector(low, high, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
#elif LOCKSTEP_VECTOR_BYTES == 32
    const Floats second = four(4);
    return __builtin_shufflevector(first, second, 0, 1, 2, 3, 8, 9, 10, 11) +
           __builtin_shufflevector(first, second, 4, 5, 6, 7, 12, 13, 14, 15);
#else
    return first;
#endif
}

/// to = keep to + scale sums, the first `count` elements.
LOCKSTEP_INLINE void addFirst(float* to, Floats sums, std::size_t count, float keep, float scale) {
    Floats value = scale * sums;
    if (keep != 0) value += keep * loadFirst(to, count);
    storeFirst(to, value, count);
}

/// Element o * inputs + i: the gradient of weight (o, i), o < outputs and i < inputs.
template <std::size_t outputs, std::size_t inputs>
LOCKSTEP_INLINE Floats weightSums(const float* dSums, const float* x, std::size_t vectors,
                                  std::size_t stride) {
    Floats sums[outputs * inputs] = {};
    for (std::size_t v = 0; v < vectors; ++v)
        for (std::size_t o = 0; o < outputs; ++o) {
            const Floats d = load(dSums + o * stride + v * elements);
            for (std::size_t i = 0; i < inputs; ++i)
                sums[o * inputs + i] += d * load(x + i * stride + v * elements);
        }
    return sumsOfVectors<outputs * inputs>(sums);
}

/// `outputs` rows of W at a time, whose padding is part of the product, and 0; or, of one row, a vector.
template <std::size_t outputs, std::size_t inputs>
LOCKSTEP_INLINE void weightRows(const SmallShape& shape, const float* dSums, const float* x, float keep,
                                float scale, float* weights) {
    const std::size_t vectors = vectorsFor(shape.rows);
    const std::size_t width = outputs == 1 ? shape.inputs : shape.weightStride;
    for (std::size_t o = 0; o < shape.outputs; o += outputs) {
        const std::size_t rows = shape.outputs - o < outputs ? shape.outputs - o : outputs;
        for (std::size_t i = 0; i < width; i += inputs) {
            const Floats sums = weightSums<outputs, inputs>(dSums + o * shape.stride, x + i * shape.stride,
                                                            vectors, shape.stride);
            addFirst(weights + o * shape.weightStride + i, sums, elementsLeft(i, rows * width), keep, scale);
        }
    }
}

#if LOCKSTEP_VECTOR_BYTES == 64
/// Two inputs, as points in the plane have them: without the padding, eight rows of W fit into a vector.
LOCKSTEP_INLINE void weightPairs(const SmallShape& shape, const float* dSums, const float* x, float keep,
                                 float scale, float* weights) {
    for (std::size_t o = 0; o < shape.outputs; o += 8) {
        const Floats sums =
            weightSums<8, 2>(dSums + o * shape.stride, x, vectorsFor(shape.rows), shape.stride);
        const Floats none{};
        const Floats low =
            __builtin_shufflevector(sums, none, 0, 1, 16, 16, 2, 3, 16, 16, 4, 5, 16, 16, 6, 7, 16, 16);
        const Floats high =
            __builtin_shufflevector(sums, none, 8, 9, 16, 16, 10, 11, 16, 16, 12, 13, 16, 16, 14, 15, 16, 16);
        float* to = weights + 4 * o;
        addFirst(to, low, elementsLeft(4 * o, 4 * shape.outputs), keep, scale);
        if (o + 4 < shape.outputs)
            addFirst(to + elements, high, elementsLeft(4 * o + elements, 4 * shape.outputs), keep, scale);
    }
}
#endif

template <std::size_t count>
LOCKSTEP_INLINE Floats biasSums(const float* dSums, std::size_t vectors, std::size_t stride) {
    Floats sums[count] = {};
    for (std::size_t v = 0; v < vectors; ++v)
        for (std::size_t k = 0; k < count; ++k) sums[k] += load(dSums + k * stride + v * elements);
    return sumsOfVectors<count>(sums);
}

inline void smallWeightGradient(const SmallShape& shape, const float* dSums, const float* inputs, float keep,
                                float scale, float* weights, float* bias) {
    // Rows of W that are shorter than a vector share one.
    constexpr std::size_t half = elements >= 8 ? elements / 2 : 4;
#if LOCKSTEP_VECTOR_BYTES == 64
    if (shape.inputs <= 2)
        weightPairs(shape, dSums, inputs, keep, scale, weights);
    else if (shape.weightStride == 4)
        weightRows<4, 4>(shape, dSums, inputs, keep, scale, weights);
    else
#endif
        if (shape.weightStride == half && shape.outputs == 1)
        weightRows<1, half>(shape, dSums, inputs, keep, scale, weights);
    else if (shape.weightStride == half)
        weightRows<elements / half, half>(shape, dSums, inputs, keep, scale, weights);
    else
        weightRows<1, elements>(shape, dSums, inputs, keep, scale, weights);

    const std::size_t vectors = vectorsFor(shape.rows);
    for (std::size_t o = 0; o < shape.outputs; o += elements) {
        const std::size_t count = elementsLeft(o, shape.outputs);
        const float* d = dSums + o * shape.stride;
        const Floats sums = count <= 4      ? biasSums<4>(d, vectors, shape.stride)
                            : count <= half ? biasSums<half>(d, vectors, shape.stride)
                                            : biasSums<elements>(d, vectors, shape.stride);
        addFirst(bias + o, sums, count, keep, scale);
    }
}

/// The targets of output j for a vector of examples; `words` are their gathered targets.
LOCKSTEP_INLINE Floats smallTarget(std::uint32_t kind, const TargetWord* words, std::size_t stride,
                                   std::size_t j) {
    if (kind == shared::targetValues) return load(reinterpret_cast<const float*>(words + j * stride));
    const Ints classes = bitsOf(load(reinterpret_cast<const float*>(words)));
    if (kind == shared::targetSign) return classes == 1 ? splat(1.0f) : splat(-1.0f);
    const std::int32_t hot = kind == shared::targetOneHot ? static_cast<std::int32_t>(j) : 1;
    return classes == hot ? splat(1.0f) : Floats{};
}

template <Loss loss>
double smallElementwiseLoss(const LossShape& shape, const float* outputs, const TargetWord* targets,
                            float* dSums) {
    const auto scale = static_cast<float>(shape.scale);
    double total = 0;
    for (std::size_t first = 0; first < shape.rows; first += elements) {
        const std::size_t count = elementsLeft(first, shape.rows);
        Floats sums{};
        for (std::size_t j = 0; j < shape.outputs; ++j) {
            const Floats y = load(outputs + j * shape.stride + first);
            const Floats t = smallTarget(shape.targetKind, targets + first, shape.stride, j);
            sums += fillBehind(lossTermElements<loss>(y, t), count, 0);
            store(dSums + j * shape.stride + first,
                  fillBehind(scale * lossDerivativeElements<loss>(y, t), count, 0));
        }
        total += static_cast<double>(sumOfElements(sums));
    }
    return total;
}

/// log(x) for x >= 1.
LOCKSTEP_INLINE Floats logarithm(Floats x) {
    const Ints exponent = (bitsOf(x) >> 23) - 127;
    const Floats fraction = floatsOf((bitsOf(x) & 0x007FFFFF) | 0x3F800000); // in [1, 2)
    const Floats result =
        logOnePlus(fraction - 1.0f) + __builtin_convertvector(exponent, Floats) * 0.693147180559945309f;
    return x == x ? result : x;
}

/// Loss and gradient as crossEntropyRow's, an example in each element.
inline double smallCrossEntropy(const LossShape& shape, const float* outputs, const TargetWord* targets,
                                float* dSums) {
    const Floats scale = splat(static_cast<float>(shape.scale));
    double total = 0;
    for (std::size_t first = 0; first < shape.rows; first += elements) {
        const std::size_t count = elementsLeft(first, shape.rows);
        const Ints classes = bitsOf(load(reinterpret_cast<const float*>(targets + first)));
        const float* z = outputs + first;
        float* dz = dSums + first;
        Floats top = load(z);
        for (std::size_t j = 1; j < shape.outputs; ++j) top = larger(load(z + j * shape.stride), top);
        Floats sum{};
        Floats wanted{};
        for (std::size_t j = 0; j < shape.outputs; ++j) {
            const Floats value = load(z + j * shape.stride);
            const Floats e = exponential(value - top);
            store(dz + j * shape.stride, e);
            sum += e;
            wanted = classes == static_cast<std::int32_t>(j) ? value : wanted;
        }
        const Floats factor = scale / sum;
        for (std::size_t j = 0; j < shape.outputs; ++j) {
            const Floats hot = classes == static_cast<std::int32_t>(j) ? scale : Floats{};
            const Floats d = load(dz + j * shape.stride) * factor - hot;
            store(dz + j * shape.stride, fillBehind(d, count, 0));
        }
        total += static_cast<double>(sumOfElements(fillBehind(logarithm(sum) + (top - wanted), count, 0)));
    }
    return total;
}

inline double smallLossAndGradient(const LossShape& shape, const float* outputs, const float* saved,
                                   const TargetWord* targets, float* dSums) {
    const auto ofKind = [&](auto function) { return function(shape, outputs, targets, dSums); };
    double total = 0;
    switch (shape.loss) {
    case Loss::crossEntropy: total = ofKind(smallCrossEntropy); break;
    case Loss::meanSquared: total = ofKind(smallElementwiseLoss<Loss::meanSquared>); break;
    case Loss::huber: total = ofKind(smallElementwiseLoss<Loss::huber>); break;
    case Loss::binaryCrossEntropy: total = ofKind(smallElementwiseLoss<Loss::binaryCrossEntropy>); break;
    }
    withActivation<DeriveBlock>(shape.outputActivation, shape.outputs, vectorsFor(shape.rows) * elements,
                                shape.stride, saved, dSums);
    return total;
}

} // namespace
} // namespace lockstep
