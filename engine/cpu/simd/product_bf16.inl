// Matrix products of numbers in bf16, with AVX-512's own instruction for them: C = keep C + scale A B (+
// bias)
//
// The loops are those of product.inl. What differs is an element: it holds a pair of numbers, neighbours
// along the depth of the product, and VDPBF16PS adds both of their products to a sum in fp32. A tile then
// takes half the instructions, and a panel half the bytes. A and B are fp32 in memory: they are rounded to
// the nearest bf16, ties to even, on the way into their block or panel, which copies them anyway. A depth
// that is odd ends in a pair with a zero.
//
// The instruction takes denormal numbers for 0 and rounds its sums by itself: results are close to those of
// fp32 products of rounded numbers, not the same. Every element of C is a sum in the same order, wherever
// rows and columns are cut.
#pragma once

namespace lockstep {
namespace {

// A vector of pairs is kept as Floats: loads, stores and transpose() move the bits, and nothing else computes
// with them.
static_assert(elements == 16);
constexpr std::size_t panelPairs = panelDepth;    ///< as many bytes as a panel of floats, twice as deep
constexpr std::size_t pairDepth = 2 * panelPairs; ///< numbers

/// 32 numbers, rounded: those of `first`, then those of `second`.
LOCKSTEP_INLINE __m512i roundBoth(Floats first, Floats second) {
    return reinterpret_cast<__m512i>(
        _mm512_cvtne2ps_pbh(reinterpret_cast<__m512>(second), reinterpret_cast<__m512>(first)));
}

/// Pairs of each number of `first` with the one of `second`.
LOCKSTEP_INLINE Floats pairUp(Floats first, Floats second) {
    const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23,
                                           7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return reinterpret_cast<Floats>(_mm512_permutexvar_epi16(order, roundBoth(first, second)));
}

/// to [(count + 1) / 2] = pairs of neighbours in a row of `count` numbers.
inline void pairRow(const float* from, std::size_t count, float* to) {
    std::size_t at = 0;
    for (; at + 2 * elements <= count; at += 2 * elements)
        store(to + at / 2, reinterpret_cast<Floats>(roundBoth(load(from + at), load(from + at + elements))));
    if (at == count) return;
    const std::size_t low = smaller(count - at, elements);
    const std::size_t high = count - at - low;
    const Floats second = high > 0 ? loadFirst(from + at + elements, high) : Floats{};
    storeFirst(to + at / 2, reinterpret_cast<Floats>(roundBoth(loadFirst(from + at, low), second)),
               (count - at + 1) / 2);
}

/// to [columns] = pairs of the numbers of two rows, up to whole vectors. `second` is null after the last row.
inline void pairRows(const float* first, const float* second, std::size_t columns, float* to) {
    for (std::size_t column = 0; column < columns; column += elements) {
        const std::size_t count = smaller(columns - column, elements);
        store(to + column, pairUp(loadFirst(first + column, count),
                                  second != nullptr ? loadFirst(second + column, count) : Floats{}));
    }
}

/// Rows r and r + 1 of a matrix [depth][...] as pairs, with what follows the last one = 0.
inline void pairRowsOf(const Matrix& matrix, std::size_t pair, std::size_t depth, std::size_t columns,
                       float* to) {
    const float* first = matrix.data + 2 * pair * matrix.stride;
    pairRows(first, 2 * pair + 1 < depth ? first + matrix.stride : nullptr, columns, to);
}

/// Panel columns [0, columns) of B's rows [0, depth): panel [pairs][panelColumns], zeros up to whole vectors.
inline void packPairs(const Matrix& b, std::size_t depth, std::size_t columns, float* panel) {
    const std::size_t pairs = (depth + 1) / 2;
    if (!b.transposed) {
        for (std::size_t pair = 0; pair < pairs; ++pair)
            pairRowsOf(b, pair, depth, columns, panel + pair * panelColumns);
        return;
    }
    alignas(64) float few[elements * blockStride];
    for (std::size_t column = 0; column < columns; column += elements) {
        const std::size_t count = smaller(columns - column, elements);
        for (std::size_t c = 0; c < count; ++c)
            pairRow(b.data + (column + c) * b.stride, depth, few + c * blockStride);
        for (std::size_t c = count; c < elements; ++c) clearPadding(few + c * blockStride, 0, pairs);
        transpose(few, blockStride, elements, pairs, panel + column, panelColumns);
    }
}

/// block [rows][pairs] of A's rows [0, rows) and depth [0, depth).
inline void packBlock(const Matrix& a, std::size_t rows, std::size_t depth, float* block) {
    if (!a.transposed) {
        for (std::size_t row = 0; row < rows; ++row)
            pairRow(a.data + row * a.stride, depth, block + row * blockStride);
        return;
    }
    alignas(64) float few[elements * blockStride];
    const std::size_t pairs = (depth + 1) / 2;
    for (std::size_t pair = 0; pair < pairs; pair += elements) {
        const std::size_t count = smaller(pairs - pair, elements);
        for (std::size_t p = 0; p < count; ++p) pairRowsOf(a, pair + p, depth, rows, few + p * blockStride);
        transpose(few, blockStride, count, rows, block + pair, blockStride);
    }
}

/// As multiplyTile(): `rows` x `vectors` vectors of C from a block and a panel.
template <std::size_t rows, std::size_t vectors>
void multiplyPairs(const float* block, const float* panel, std::size_t pairs, std::size_t columns,
                   const TileEnd& end, float* c, std::size_t cStride) {
    if (end.keep != 0)
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t v = 0; v < vectors; ++v) __builtin_prefetch(c + row * cStride + v * elements, 1);
    Floats sums[rows][vectors] = {};
    for (std::size_t k = 0; k < pairs; ++k) {
        Floats right[vectors];
#pragma GCC unroll 8
        for (std::size_t v = 0; v < vectors; ++v) right[v] = load(panel + k * panelColumns + v * elements);
#pragma GCC unroll 8
        for (std::size_t row = 0; row < rows; ++row) {
            std::int32_t pair;
            __builtin_memcpy(&pair, block + row * blockStride + k, sizeof(pair));
            const __m512i left = _mm512_set1_epi32(pair);
#pragma GCC unroll 8
            for (std::size_t v = 0; v < vectors; ++v)
                sums[row][v] = reinterpret_cast<Floats>(
                    _mm512_dpbf16_ps(reinterpret_cast<__m512>(sums[row][v]), reinterpret_cast<__m512bh>(left),
                                     reinterpret_cast<__m512bh>(right[v])));
        }
    }
    finishTile<rows, vectors>(sums, columns, end, c, cStride);
}

using PairsFunction = void (*)(const float*, const float*, std::size_t, std::size_t, const TileEnd&, float*,
                               std::size_t);

/// pairTiles[rows - 1][vectors - 1].
constexpr PairsFunction pairTiles[][tileVectors] = {
#define LOCKSTEP_TILES(rows)                                                                                 \
    { multiplyPairs<rows, 1>, multiplyPairs<rows, 2>, multiplyPairs<rows, 3> }
    LOCKSTEP_TILES(1), LOCKSTEP_TILES(2), LOCKSTEP_TILES(3), LOCKSTEP_TILES(4),
    LOCKSTEP_TILES(5), LOCKSTEP_TILES(6), LOCKSTEP_TILES(7), LOCKSTEP_TILES(8),
#undef LOCKSTEP_TILES
};
static_assert(std::size(pairTiles) == tileRows(tileVectors));

/// The whole product. Calls `finish(firstRow, rows, firstColumn, columns)` while that part of C, finished, is
/// still in the cache.
template <class Finish>
LOCKSTEP_INLINE void multiplyInBf16(const ProductSize& size, const Matrix& a, const Matrix& b, TileEnd end,
                                    float* c, std::size_t cStride, const Finish& finish) {
    alignas(64) float block[blockRows * blockStride];
    alignas(64) float panel[panelPairs * panelColumns];
    const Parts blocks = partsOf(size.rows, blockRows);
    const Parts panels = partsOf((size.columns + elements - 1) / elements, tileVectors);
    for (std::size_t begin = 0; begin < size.depth; begin += pairDepth) {
        const std::size_t depth = smaller(size.depth - begin, pairDepth);
        for (std::size_t part = 0; part < blocks.count; ++part) {
            const std::size_t firstRow = blocks.begin(part);
            const std::size_t rows = blocks.size(part);
            packBlock(a.from(firstRow, begin), rows, depth, block);
            for (std::size_t each = 0; each < panels.count; ++each) {
                const std::size_t first = panels.begin(each) * elements;
                const std::size_t columns = smaller(panels.begin(each + 1) * elements, size.columns) - first;
                packPairs(b.from(begin, first), depth, columns, panel);
                TileEnd panelEnd = end;
                if (end.bias != nullptr) panelEnd.bias = end.bias + first;
                const std::size_t vectors = panels.size(each);
                const Parts heights = partsOf(rows, tileRows(vectors));
                for (std::size_t tile = 0; tile < heights.count; ++tile) {
                    const std::size_t row = heights.begin(tile);
                    pairTiles[heights.size(tile) - 1][vectors - 1](
                        block + row * blockStride, panel, (depth + 1) / 2, columns, panelEnd,
                        c + (firstRow + row) * cStride + first, cStride);
                }
                if (begin + depth == size.depth) finish(firstRow, rows, first, columns);
            }
        }
        end.keep = 1; // the next stretch of the depth is added to this one
        end.bias = nullptr;
    }
}

inline void denseInBf16(const DenseShape& shape, const float* inputs, const float* weights, const float* bias,
                        Activation activation, float* outputs, float* sums) {
    TileEnd end;
    end.bias = bias;
    multiplyInBf16({shape.rows, shape.outputs, shape.inputs}, {inputs, shape.inputStride, false},
                   {weights, shape.inputStride, true}, end, outputs, shape.outputStride,
                   [&](std::size_t row, std::size_t rows, std::size_t column, std::size_t columns) {
                       const std::size_t first = row * shape.outputStride + column;
                       withActivation<ActivateBlock>(activation, rows, columns, shape.outputStride,
                                                     static_cast<const float*>(nullptr), outputs + first,
                                                     sums == nullptr ? nullptr : sums + first);
                   });
    clearPaddingOfRows(outputs, shape.rows, shape.outputs, shape.outputStride);
    clearPaddingOfRows(sums, shape.rows, shape.outputs, shape.outputStride);
}

inline void denseBackwardInputsInBf16(const DenseShape& shape, const float* dSums, const float* weights,
                                      Activation previous, const float* saved, float* dPreviousSums) {
    multiplyInBf16({shape.rows, shape.inputs, shape.outputs}, {dSums, shape.outputStride, false},
                   {weights, shape.inputStride, false}, TileEnd{}, dPreviousSums, shape.inputStride,
                   [&](std::size_t row, std::size_t rows, std::size_t column, std::size_t columns) {
                       const std::size_t first = row * shape.inputStride + column;
                       withActivation<DeriveBlock>(previous, rows, columns, shape.inputStride, saved + first,
                                                   dPreviousSums + first);
                   });
    clearPaddingOfRows(dPreviousSums, shape.rows, shape.inputs, shape.inputStride);
}

/// The biases' gradients are sums, not products: they stay fp32.
inline void denseBackwardWeightsInBf16(const DenseShape& shape, const float* dSums, const float* inputs,
                                       std::size_t begin, std::size_t end, float keep, float scale,
                                       float* weights, float* bias) {
    TileEnd tileEnd;
    tileEnd.scale = scale;
    tileEnd.keep = keep;
    float* rows = weights + begin * shape.inputStride;
    multiplyInBf16({end - begin, shape.inputs, shape.rows}, {dSums + begin, shape.outputStride, true},
                   {inputs, shape.inputStride, false}, tileEnd, rows, shape.inputStride,
                   [](std::size_t, std::size_t, std::size_t, std::size_t) {});
    clearPaddingOfRows(rows, end - begin, shape.inputs, shape.inputStride);
    sumColumns(shape, dSums, begin, end, keep, scale, bias);
}

} // namespace
} // namespace lockstep
