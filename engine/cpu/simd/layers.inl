// A dense layer forward and backward: a product each, and the elementwise work done panel by panel while the
// product's results are in the cache.
#pragma once

namespace lockstep {
namespace {

/// y = f(z), z kept in `sums` where it is asked for, over a block of [rows][columns].
struct ActivateBlock {
    template <Activation activation>
    static void run(std::size_t rows, std::size_t columns, std::size_t stride, const float* bias,
                    float* outputs, float* sums) {
        if (activation == Activation::identity && sums == nullptr && bias == nullptr) return;
        for (std::size_t row = 0; row < rows; ++row) {
            float* y = outputs + row * stride;
            float* z = sums == nullptr ? nullptr : sums + row * stride;
            std::size_t column = 0;
            for (; column + elements <= columns; column += elements) {
                Floats value = load(y + column);
                if (bias != nullptr) value += load(bias + column);
                if (z != nullptr) store(z + column, value);
                store(y + column, activateElements<activation>(value));
            }
            if (column < columns) {
                const std::size_t count = columns - column;
                Floats value = loadFirst(y + column, count);
                if (bias != nullptr) value += loadFirst(bias + column, count);
                if (z != nullptr) storeFirst(z + column, value, count);
                storeFirst(y + column, activateElements<activation>(value), count);
            }
        }
    }
};

/// dZ = dX f'(saved) over a block of [rows][columns].
struct DeriveBlock {
    template <Activation activation>
    static void run(std::size_t rows, std::size_t columns, std::size_t stride, const float* saved,
                    float* dSums) {
        if (activation == Activation::identity) return;
        for (std::size_t row = 0; row < rows; ++row) {
            const float* s = saved + row * stride;
            float* d = dSums + row * stride;
            std::size_t column = 0;
            for (; column + elements <= columns; column += elements)
                store(d + column, load(d + column) * derivativeElements<activation>(load(s + column)));
            if (column < columns) {
                const std::size_t count = columns - column;
                const Floats derivative = derivativeElements<activation>(loadFirst(s + column, count));
                storeFirst(d + column, loadFirst(d + column, count) * derivative, count);
            }
        }
    }
};

/// What fills every row of `width` columns up to a multiple of four = 0. `data` may be null.
inline void clearPaddingOfRows(float* data, std::size_t rows, std::size_t width, std::size_t stride) {
    const std::size_t four = (width + 3) / 4 * 4;
    const std::size_t padded = four < stride ? four : stride;
    if (data == nullptr || width == padded) return;
    for (std::size_t row = 0; row < rows; ++row) clearPadding(data + row * stride, width, padded);
}

inline void dense(const DenseShape& shape, const float* inputs, const float* weights, const float* bias,
                  Activation activation, float* outputs, float* sums) {
    const auto finish = [&](std::size_t first, std::size_t columns) {
        withActivation<ActivateBlock>(activation, shape.rows, columns, shape.outputStride,
                                      static_cast<const float*>(nullptr), outputs + first,
                                      sums == nullptr ? nullptr : sums + first);
    };
    TileEnd end;
    end.bias = bias;
    multiply({shape.rows, shape.outputs, shape.inputs}, inputs, shape.inputStride,
             {weights, shape.inputStride, true}, end, outputs, shape.outputStride, finish);
    clearPaddingOfRows(outputs, shape.rows, shape.outputs, shape.outputStride);
    clearPaddingOfRows(sums, shape.rows, shape.outputs, shape.outputStride);
}

inline void denseBackwardInputs(const DenseShape& shape, const float* dSums, const float* weights,
                                Activation previous, const float* saved, float* dPreviousSums) {
    const auto finish = [&](std::size_t first, std::size_t columns) {
        withActivation<DeriveBlock>(previous, shape.rows, columns, shape.inputStride, saved + first,
                                    dPreviousSums + first);
    };
    multiply({shape.rows, shape.inputs, shape.outputs}, dSums, shape.outputStride,
             {weights, shape.inputStride, false}, TileEnd{}, dPreviousSums, shape.inputStride, finish);
    clearPaddingOfRows(dPreviousSums, shape.rows, shape.inputs, shape.inputStride);
}

/// bias[o] = keep bias[o] + scale sum_r dZ[r][o] for outputs [begin, end); not read when keep is 0.
inline void sumColumns(const DenseShape& shape, const float* dSums, std::size_t begin, std::size_t end,
                       float keep, float scale, float* bias) {
    for (std::size_t o = begin; o < end; o += elements) {
        const std::size_t count = end - o < elements ? end - o : elements;
        Floats sum{};
        for (std::size_t row = 0; row < shape.rows; ++row) {
            const float* from = dSums + row * shape.outputStride + o;
            sum += count == elements ? load(from) : loadFirst(from, count);
        }
        sum *= scale;
        if (keep != 0) sum += keep * loadFirst(bias + o, count);
        storeFirst(bias + o, sum, count);
    }
}

/// W = keep W + scale dZ^T X for output rows [begin, end), and the biases alike.
inline void denseBackwardWeights(const DenseShape& shape, const float* dSums, const float* inputs,
                                 std::size_t begin, std::size_t end, float keep, float scale, float* weights,
                                 float* bias) {
    TileEnd tileEnd;
    tileEnd.scale = scale;
    tileEnd.keep = keep;
    float* rows = weights + begin * shape.inputStride;
    multiplyTransposed({end - begin, shape.inputs, shape.rows}, dSums + begin, shape.outputStride,
                       {inputs, shape.inputStride, false}, tileEnd, rows, shape.inputStride);
    clearPaddingOfRows(rows, end - begin, shape.inputs, shape.inputStride);
    sumColumns(shape, dSums, begin, end, keep, scale, bias);
}

/// The elementwise half of `dense`, for a product that came from elsewhere.
inline void finishDense(const DenseShape& shape, const float* bias, Activation activation, float* outputs,
                        float* sums) {
    withActivation<ActivateBlock>(activation, shape.rows, shape.outputs, shape.outputStride, bias, outputs,
                                  sums);
    clearPaddingOfRows(outputs, shape.rows, shape.outputs, shape.outputStride);
    clearPaddingOfRows(sums, shape.rows, shape.outputs, shape.outputStride);
}

/// The elementwise half of `denseBackwardInputs`.
inline void finishBackwardInputs(const DenseShape& shape, Activation previous, const float* saved,
                                 float* dPreviousSums) {
    withActivation<DeriveBlock>(previous, shape.rows, shape.inputs, shape.inputStride, saved, dPreviousSums);
    clearPaddingOfRows(dPreviousSums, shape.rows, shape.inputs, shape.inputStride);
}

} // namespace
} // namespace lockstep
