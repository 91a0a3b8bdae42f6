// Matrix products from register tiles:  C [rows][columns] = keep C + scale A B (+ bias)
//
// Three loops around a tile of 6 rows by `tileVectors` vectors of C, which stays in registers while it walks
// along the depth of the product: per step of the depth a few loads of B, six numbers of A sent to all
// elements, and 6 * tileVectors multiply-adds. B comes from a packed panel [depth][columns of the tile], so
// that it is read without gaps and out of the first-level cache, however far apart its rows lie in memory.
#pragma once

namespace lockstep {
namespace {

// Accumulators fill the register file: 24 of 32 registers, or 12 of 16.
#if LOCKSTEP_VECTOR_BYTES == 64 || defined(__aarch64__)
constexpr std::size_t tileVectors = 4;
#else
constexpr std::size_t tileVectors = 2;
#endif
constexpr std::size_t tileRows = 6;
constexpr std::size_t panelColumns = tileVectors * elements;
constexpr std::size_t panelDepth = 256; ///< a packed panel is at most 256 * 64 floats, 64 KiB of stack

/// A: element (row, depth) is at row * rowStride + depth * depthStride.
struct LeftMatrix {
    const float* data;
    std::size_t rowStride;
    std::size_t depthStride;
};

/// B, either as [depth][columns] or, transposed, as [columns][depth].
struct RightMatrix {
    const float* data;
    std::size_t stride;
    bool transposed;
};

/// What happens to a finished sum: C = keep C + scale sum + bias. C is not read when keep is 0.
struct TileEnd {
    float scale = 1;
    float keep = 0;
    const float* bias = nullptr; ///< per column; null: none
};

/// Panel columns [0, columns) of B's rows [0, depth), the rest of the panel 0.
inline void packRows(const RightMatrix& b, std::size_t depth, std::size_t columns, float* panel) {
    for (std::size_t k = 0; k < depth; ++k) {
        const float* from = b.data + k * b.stride;
        float* to = panel + k * panelColumns;
        std::size_t column = 0;
        for (; column + elements <= columns; column += elements) store(to + column, load(from + column));
        if (column < columns) {
            store(to + column, loadFirst(from + column, columns - column));
            column += elements;
        }
        for (; column < panelColumns; column += elements) store(to + column, Floats{});
    }
}

/// Transposes `elements` rows of four floats into four rows of the panel. Row 4 j + i of the block is group j
/// of the i-th vector, so that transposing each group by itself transposes the whole.
LOCKSTEP_INLINE void transposeBlock(const float* from, std::size_t stride, float* to) {
    const Floats a = loadGroups(from, 4 * stride);
    const Floats b = loadGroups(from + stride, 4 * stride);
    const Floats c = loadGroups(from + 2 * stride, 4 * stride);
    const Floats d = loadGroups(from + 3 * stride, 4 * stride);
    const Floats abLow = interleaveLow(a, b);
    const Floats abHigh = interleaveHigh(a, b);
    const Floats cdLow = interleaveLow(c, d);
    const Floats cdHigh = interleaveHigh(c, d);
    store(to, joinLow(abLow, cdLow));
    store(to + panelColumns, joinHigh(abLow, cdLow));
    store(to + 2 * panelColumns, joinLow(abHigh, cdHigh));
    store(to + 3 * panelColumns, joinHigh(abHigh, cdHigh));
}

/// The same for a transposed B: column c of the panel is row c of the array.
inline void packColumns(const RightMatrix& b, std::size_t depth, std::size_t columns, float* panel) {
    const std::size_t wholeColumns = columns / elements * elements;
    const std::size_t wholeDepth = depth / 4 * 4;
    for (std::size_t column = 0; column < wholeColumns; column += elements)
        for (std::size_t k = 0; k < wholeDepth; k += 4)
            transposeBlock(b.data + column * b.stride + k, b.stride, panel + k * panelColumns + column);
    for (std::size_t k = 0; k < depth; ++k) {
        for (std::size_t column = k < wholeDepth ? wholeColumns : 0; column < columns; ++column)
            panel[k * panelColumns + column] = b.data[column * b.stride + k];
        clearPadding(panel + k * panelColumns, columns, panelColumns);
    }
}

LOCKSTEP_INLINE void finishVector(Floats sum, const TileEnd& end, std::size_t column, float* c,
                                  std::size_t count) {
    const bool whole = count >= elements;
    Floats value = end.scale * sum;
    if (end.keep != 0) value += end.keep * (whole ? load(c) : loadFirst(c, count));
    if (end.bias != nullptr) value += whole ? load(end.bias + column) : loadFirst(end.bias + column, count);
    if (whole)
        store(c, value);
    else
        storeFirst(c, value, count);
}

/// `rows` x `vectors` vectors of C; the last vector may extend past `columns`.
template <std::size_t rows, std::size_t vectors>
void multiplyTile(const LeftMatrix& a, const float* panel, std::size_t depth, std::size_t columns,
                  const TileEnd& end, float* c, std::size_t cStride) {
    Floats sums[rows][vectors] = {};
    const float* left[rows];
    for (std::size_t row = 0; row < rows; ++row) left[row] = a.data + row * a.rowStride;
    for (std::size_t k = 0, offset = 0; k < depth; ++k, offset += a.depthStride) {
        Floats right[vectors];
#pragma GCC unroll 8
        for (std::size_t v = 0; v < vectors; ++v) right[v] = load(panel + k * panelColumns + v * elements);
#pragma GCC unroll 8
        for (std::size_t row = 0; row < rows; ++row) {
            const Floats number = splat(left[row][offset]);
#pragma GCC unroll 8
            for (std::size_t v = 0; v < vectors; ++v) sums[row][v] += number * right[v];
        }
    }
#pragma GCC unroll 8
    for (std::size_t row = 0; row < rows; ++row) {
#pragma GCC unroll 8
        for (std::size_t v = 0; v < vectors; ++v)
            finishVector(sums[row][v], end, v * elements, c + row * cStride + v * elements,
                         columns - v * elements);
    }
}

using TileFunction = void (*)(const LeftMatrix&, const float*, std::size_t, std::size_t, const TileEnd&,
                              float*, std::size_t);

/// tiles[rows - 1][vectors - 1].
constexpr TileFunction tiles[tileRows][tileVectors] = {
#if LOCKSTEP_VECTOR_BYTES == 64 || defined(__aarch64__)
#define LOCKSTEP_TILES(rows)                                                                                 \
    { multiplyTile<rows, 1>, multiplyTile<rows, 2>, multiplyTile<rows, 3>, multiplyTile<rows, 4> }
#else
#define LOCKSTEP_TILES(rows)                                                                                 \
    { multiplyTile<rows, 1>, multiplyTile<rows, 2> }
#endif
    LOCKSTEP_TILES(1), LOCKSTEP_TILES(2), LOCKSTEP_TILES(3),
    LOCKSTEP_TILES(4), LOCKSTEP_TILES(5), LOCKSTEP_TILES(6),
#undef LOCKSTEP_TILES
};

struct ProductSize {
    std::size_t rows;
    std::size_t columns;
    std::size_t depth;
};

/// One panel of C, all rows and the whole depth.
inline void multiplyPanel(const ProductSize& size, const LeftMatrix& a, const RightMatrix& b, TileEnd end,
                          float* c, std::size_t cStride) {
    alignas(64) float panel[panelDepth * panelColumns];
    const std::size_t vectors = (size.columns + elements - 1) / elements;
    const std::size_t rowTiles = (size.rows + tileRows - 1) / tileRows;
    for (std::size_t begin = 0; begin < size.depth; begin += panelDepth) {
        const std::size_t depth = size.depth - begin < panelDepth ? size.depth - begin : panelDepth;
        const RightMatrix block{b.data + (b.transposed ? begin : begin * b.stride), b.stride, b.transposed};
        if (b.transposed)
            packColumns(block, depth, size.columns, panel);
        else
            packRows(block, depth, size.columns, panel);
        // Tiles of nearly equal height: 64 rows are 9 tiles of 6 and 2 of 5, not 10 of 6 and a slow one of 4.
        for (std::size_t tile = 0; tile < rowTiles; ++tile) {
            const std::size_t row = size.rows * tile / rowTiles;
            const std::size_t height = size.rows * (tile + 1) / rowTiles - row;
            const LeftMatrix left{a.data + row * a.rowStride + begin * a.depthStride, a.rowStride,
                                  a.depthStride};
            tiles[height - 1][vectors - 1](left, panel, depth, size.columns, end, c + row * cStride, cStride);
        }
        end.keep = 1; // the next stretch of the depth is added to this one
        end.bias = nullptr;
    }
}

/// The whole product, panel by panel. Calls `finish(firstColumn, columns)` while a finished panel of C is
/// still in the cache.
template <class Finish>
LOCKSTEP_INLINE void multiply(const ProductSize& size, const LeftMatrix& a, const RightMatrix& b,
                              const TileEnd& end, float* c, std::size_t cStride, const Finish& finish) {
    for (std::size_t first = 0; first < size.columns; first += panelColumns) {
        const std::size_t left = size.columns - first;
        const std::size_t columns = left < panelColumns ? left : panelColumns;
        const RightMatrix panel{b.data + (b.transposed ? first * b.stride : first), b.stride, b.transposed};
        TileEnd panelEnd = end;
        if (end.bias != nullptr) panelEnd.bias = end.bias + first;
        multiplyPanel({size.rows, columns, size.depth}, a, panel, panelEnd, c + first, cStride);
        finish(first, columns);
    }
}

} // namespace
} // namespace lockstep
