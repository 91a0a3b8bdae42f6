// Many small networks, one per vector element: products, activations and their derivatives. Layout and
// formulas: population_kernels.h.
#pragma once

namespace lockstep {
namespace {

/// Element (row, depth) of a product's matrix is the vector number row * rowStride + depth * depthStride.
struct VectorMatrix {
    const float* data;
    std::size_t rowStride;
    std::size_t depthStride;

    LOCKSTEP_INLINE Floats at(std::size_t row, std::size_t depth) const {
        return load(data + (row * rowStride + depth * depthStride) * elements);
    }
    LOCKSTEP_INLINE VectorMatrix from(std::size_t row) const {
        return {data + row * rowStride * elements, rowStride, depthStride};
    }
};

/// A product's result, and the biases of its columns (may be null).
struct VectorResult {
    float* data;
    std::size_t stride;
    const float* bias;

    LOCKSTEP_INLINE float* at(std::size_t row, std::size_t column) const {
        return data + (row * stride + column) * elements;
    }
    LOCKSTEP_INLINE VectorResult from(std::size_t row, std::size_t column) const {
        return {at(row, column), stride, bias == nullptr ? nullptr : bias + column * elements};
    }
};

/// What the sums of a product begin with: 0, the column's bias, or the previous result.
enum class SumsFrom { zero, bias, result };

/// C [rows][columns] = A B^T (+ what the sums begin with), for as many rows and columns as registers hold.
template <SumsFrom sumsFrom, std::size_t rows, std::size_t columns>
LOCKSTEP_INLINE void vectorTile(const VectorMatrix& a, const VectorMatrix& b, std::size_t depth,
                                const VectorResult& c) {
    Floats sums[rows][columns];
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t column = 0; column < columns; ++column) {
            if constexpr (sumsFrom == SumsFrom::zero) sums[row][column] = Floats{};
            if constexpr (sumsFrom == SumsFrom::bias) sums[row][column] = load(c.bias + column * elements);
            if constexpr (sumsFrom == SumsFrom::result) sums[row][column] = load(c.at(row, column));
        }
    for (std::size_t k = 0; k < depth; ++k) {
        Floats right[columns];
        for (std::size_t column = 0; column < columns; ++column) right[column] = b.at(column, k);
        for (std::size_t row = 0; row < rows; ++row) {
            const Floats left = a.at(row, k);
            for (std::size_t column = 0; column < columns; ++column)
                sums[row][column] += left * right[column];
        }
    }
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t column = 0; column < columns; ++column) store(c.at(row, column), sums[row][column]);
}

/// `rows` rows of C, all columns.
template <SumsFrom sumsFrom, std::size_t rows>
LOCKSTEP_INLINE void vectorRows(const VectorMatrix& a, const VectorMatrix& b, std::size_t columns,
                                std::size_t depth, const VectorResult& c) {
    std::size_t column = 0;
    for (; column + 4 <= columns; column += 4)
        vectorTile<sumsFrom, rows, 4>(a, b.from(column), depth, c.from(0, column));
    if (columns - column >= 2) {
        vectorTile<sumsFrom, rows, 2>(a, b.from(column), depth, c.from(0, column));
        column += 2;
    }
    if (column < columns) vectorTile<sumsFrom, rows, 1>(a, b.from(column), depth, c.from(0, column));
}

/// Rows of a tile: 16 sums hide the latency of multiply-adds where there are registers for them.
constexpr std::size_t vectorTileRows = elements == 16 ? 4 : 2;

template <SumsFrom sumsFrom>
void vectorProduct(const VectorMatrix& a, std::size_t rows, const VectorMatrix& b, std::size_t columns,
                   std::size_t depth, const VectorResult& c) {
    std::size_t row = 0;
    for (; row + vectorTileRows <= rows; row += vectorTileRows)
        vectorRows<sumsFrom, vectorTileRows>(a.from(row), b, columns, depth, c.from(row, 0));
    if (vectorTileRows > 2 && rows - row >= 2) {
        vectorRows<sumsFrom, 2>(a.from(row), b, columns, depth, c.from(row, 0));
        row += 2;
    }
    for (; row < rows; ++row) vectorRows<sumsFrom, 1>(a.from(row), b, columns, depth, c.from(row, 0));
}

struct PopulationActivate {
    template <Activation activation> static void run(std::size_t count, float* outputs, float* sums) {
        if (activation == Activation::identity && sums == nullptr) return;
        for (std::size_t at = 0; at < count * elements; at += elements) {
            const Floats z = load(outputs + at);
            if (sums != nullptr) store(sums + at, z);
            store(outputs + at, activateElements<activation>(z));
        }
    }
};

/// dZ = dX f'(saved) of `count` vectors.
LOCKSTEP_INLINE void populationDerive(Activation activation, std::size_t count, const float* saved,
                                      float* dSums) {
    withActivation<DeriveBlock>(activation, std::size_t{1}, count * elements, std::size_t{0}, saved, dSums);
}

inline void populationDense(const PopulationShape& shape, const float* inputs, const float* parameters,
                            Activation activation, float* outputs, float* sums) {
    const float* bias = parameters + shape.outputs * shape.inputs * elements;
    vectorProduct<SumsFrom::bias>({inputs, shape.inputs, 1}, shape.rows, {parameters, shape.inputs, 1},
                                  shape.outputs, shape.inputs, {outputs, shape.outputs, bias});
    withActivation<PopulationActivate>(activation, shape.rows * shape.outputs, outputs, sums);
}

inline void populationBackwardInputs(const PopulationShape& shape, const float* dSums,
                                     const float* parameters, Activation previous, const float* saved,
                                     float* dPreviousSums) {
    vectorProduct<SumsFrom::zero>({dSums, shape.outputs, 1}, shape.rows, {parameters, 1, shape.inputs},
                                  shape.inputs, shape.outputs, {dPreviousSums, shape.inputs, nullptr});
    populationDerive(previous, shape.rows * shape.inputs, saved, dPreviousSums);
}

/// to [count] = the sums of this many rows of A, computed together; one alone would wait for its own
/// additions.
template <std::size_t count>
LOCKSTEP_INLINE void addRows(const VectorMatrix& a, std::size_t depth, bool add, float* to) {
    Floats sums[count];
    for (std::size_t row = 0; row < count; ++row) sums[row] = add ? load(to + row * elements) : Floats{};
    for (std::size_t k = 0; k < depth; ++k)
        for (std::size_t row = 0; row < count; ++row) sums[row] += a.at(row, k);
    for (std::size_t row = 0; row < count; ++row) store(to + row * elements, sums[row]);
}

inline void populationBackwardWeights(const PopulationShape& shape, const float* dSums, const float* inputs,
                                      bool add, float* gradients) {
    const VectorMatrix a{dSums, 1, shape.outputs};
    const VectorMatrix b{inputs, 1, shape.inputs};
    const VectorResult c{gradients, shape.inputs, nullptr};
    if (add)
        vectorProduct<SumsFrom::result>(a, shape.outputs, b, shape.inputs, shape.rows, c);
    else
        vectorProduct<SumsFrom::zero>(a, shape.outputs, b, shape.inputs, shape.rows, c);
    float* dBias = gradients + shape.outputs * shape.inputs * elements;
    std::size_t o = 0;
    for (; o + 4 <= shape.outputs; o += 4) addRows<4>(a.from(o), shape.rows, add, dBias + o * elements);
    for (; o < shape.outputs; ++o) addRows<1>(a.from(o), shape.rows, add, dBias + o * elements);
}

} // namespace
} // namespace lockstep
