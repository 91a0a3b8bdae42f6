// Matrix products from register tiles:  C [rows][columns] = keep C + scale A B (+ bias)
//
// Three loops around a tile of some rows by `tileVectors` vectors of C, which stays in registers while it
// walks along the depth of the product: each step loads three vectors of B, sends one number of each row of A
// to all elements, and does one multiply-add per register of the tile. B comes from a packed panel
// [depth][columns of the tile], so that it is read without gaps, however far apart its rows lie in memory.
// While the tiles work on a panel, the memory of the next one is fetched into the cache. A is read row by
// row; a transposed A is transposed first, a block at a time.
//
// Every element of C is a sum along the depth in the same order, wherever rows and columns are cut.
#pragma once

namespace lockstep {
namespace {

// Accumulators fill the register file: 24 of 32 registers, or 12 of 16. Tiles of fewer vectors are taller:
// a multiply-add takes four cycles, and eight of them keep a processor busy that begins two per cycle.
constexpr std::size_t tileVectors = 3;
constexpr std::size_t tileRows([[maybe_unused]] std::size_t vectors) {
#if LOCKSTEP_VECTOR_BYTES == 64 || defined(__aarch64__)
    return 8;
#else
    return 10 - 2 * vectors;
#endif
}
constexpr std::size_t panelColumns = tileVectors * elements;
constexpr std::size_t panelDepth = 256;
// Rows of a transposed block of A: with fewer, B is packed too often; with more, the stack grows.
constexpr std::size_t blockRows = 256;
constexpr std::size_t blockStride = panelDepth + 16; ///< not a power of two: rows share no cache sets

inline std::size_t smaller(std::size_t a, std::size_t b) { return a < b ? a : b; }

/// A matrix [rows][columns] in memory or, transposed, [columns][rows].
struct Matrix {
    const float* data;
    std::size_t stride;
    bool transposed;

    Matrix from(std::size_t row, std::size_t column) const {
        return {data + (transposed ? column * stride + row : row * stride + column), stride, transposed};
    }
};

/// What happens to a finished sum: C = keep C + scale sum + bias. C is not read when keep is 0.
struct TileEnd {
    float scale = 1;
    float keep = 0;
    const float* bias = nullptr; ///< per column; null: none
};

/// Panel columns [0, columns) of B's rows [0, depth), filled up with zeros to whole vectors.
inline void packRows(const Matrix& b, std::size_t depth, std::size_t columns, float* panel) {
    for (std::size_t k = 0; k < depth; ++k) {
        const float* from = b.data + k * b.stride;
        float* to = panel + k * panelColumns;
        std::size_t column = 0;
        for (; column + elements <= columns; column += elements) store(to + column, load(from + column));
        if (column < columns) store(to + column, loadFirst(from + column, columns - column));
    }
}

/// Transposes `elements` rows of four floats into four rows. Row 4 j + i of the block is group j of the i-th
/// vector, so that transposing each group by itself transposes the whole.
LOCKSTEP_INLINE void transposeBlock(const float* from, std::size_t stride, float* to, std::size_t toStride) {
    const Floats a = loadGroups(from, 4 * stride);
    const Floats b = loadGroups(from + stride, 4 * stride);
    const Floats c = loadGroups(from + 2 * stride, 4 * stride);
    const Floats d = loadGroups(from + 3 * stride, 4 * stride);
    const Floats abLow = interleaveLow(a, b);
    const Floats abHigh = interleaveHigh(a, b);
    const Floats cdLow = interleaveLow(c, d);
    const Floats cdHigh = interleaveHigh(c, d);
    store(to, joinLow(abLow, cdLow));
    store(to + toStride, joinHigh(abLow, cdLow));
    store(to + 2 * toStride, joinLow(abHigh, cdHigh));
    store(to + 3 * toStride, joinHigh(abHigh, cdHigh));
}

/// to [columns][rows] = from [rows][columns]
inline void transpose(const float* from, std::size_t stride, std::size_t rows, std::size_t columns, float* to,
                      std::size_t toStride) {
    const std::size_t wholeRows = rows / elements * elements;
    const std::size_t wholeColumns = columns / 4 * 4;
    for (std::size_t row = 0; row < wholeRows; row += elements)
        for (std::size_t column = 0; column < wholeColumns; column += 4)
            transposeBlock(from + row * stride + column, stride, to + column * toStride + row, toStride);
    for (std::size_t column = 0; column < columns; ++column)
        for (std::size_t row = column < wholeColumns ? wholeRows : 0; row < rows; ++row)
            to[column * toStride + row] = from[row * stride + column];
}

/// Panel columns [0, columns) of B's rows [0, depth), filled up with zeros to whole vectors.
inline void packPanel(const Matrix& b, std::size_t depth, std::size_t columns, float* panel) {
    if (!b.transposed) return packRows(b, depth, columns, panel);
    transpose(b.data, b.stride, columns, depth, panel, panelColumns);
    const std::size_t padded = (columns + elements - 1) / elements * elements;
    for (std::size_t k = 0; columns < padded && k < depth; ++k)
        clearPadding(panel + k * panelColumns, columns, padded);
}

/// C of a tile from its sums; the last vector may extend past `columns`.
template <std::size_t rows, std::size_t vectors>
LOCKSTEP_INLINE void finishTile(const Floats (&sums)[rows][vectors], std::size_t columns, const TileEnd end,
                                float* c, std::size_t cStride) {
    const std::size_t last = columns - (vectors - 1) * elements; // of the last vector: 1 to `elements`
#pragma GCC unroll 8
    for (std::size_t v = 0; v < vectors; ++v) {
        const bool whole = v + 1 < vectors || last == elements;
        const std::size_t at = v * elements;
        Floats bias{};
        if (end.bias != nullptr) bias = whole ? load(end.bias + at) : loadFirst(end.bias + at, last);
#pragma GCC unroll 8
        for (std::size_t row = 0; row < rows; ++row) {
            float* to = c + row * cStride + at;
            Floats value = end.scale * sums[row][v] + bias;
            if (end.keep != 0) value += end.keep * (whole ? load(to) : loadFirst(to, last));
            if (whole)
                store(to, value);
            else
                storeFirst(to, value, last);
        }
    }
}

/// `rows` x `vectors` vectors of C from as many rows of A [rows][depth] and a panel; the last vector may
/// extend past `columns`.
template <std::size_t rows, std::size_t vectors>
void multiplyTile(const float* a, std::size_t aStride, const float* panel, std::size_t depth,
                  std::size_t columns, const TileEnd& end, float* c, std::size_t cStride) {
    if (end.keep != 0) // C has not been used for long
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t v = 0; v < vectors; ++v) __builtin_prefetch(c + row * cStride + v * elements, 1);
    Floats sums[rows][vectors] = {};
    const float* left[rows];
    for (std::size_t row = 0; row < rows; ++row) left[row] = a + row * aStride;
    for (std::size_t k = 0; k < depth; ++k) {
        Floats right[vectors];
#pragma GCC unroll 8
        for (std::size_t v = 0; v < vectors; ++v) right[v] = load(panel + k * panelColumns + v * elements);
#pragma GCC unroll 8
        for (std::size_t row = 0; row < rows; ++row) {
            const Floats number = splat(left[row][k]);
#pragma GCC unroll 8
            for (std::size_t v = 0; v < vectors; ++v) sums[row][v] += number * right[v];
        }
    }
    finishTile<rows, vectors>(sums, columns, end, c, cStride);
}

using TileFunction = void (*)(const float*, std::size_t, const float*, std::size_t, std::size_t,
                              const TileEnd&, float*, std::size_t);

template <std::size_t rows, std::size_t vectors> constexpr TileFunction tileOf() {
    if constexpr (rows <= tileRows(vectors))
        return multiplyTile<rows, vectors>;
    else
        return nullptr;
}

/// tiles[rows - 1][vectors - 1].
constexpr TileFunction tiles[][tileVectors] = {
#define LOCKSTEP_TILES(rows)                                                                                 \
    { tileOf<rows, 1>(), tileOf<rows, 2>(), tileOf<rows, 3>() }
    LOCKSTEP_TILES(1), LOCKSTEP_TILES(2), LOCKSTEP_TILES(3), LOCKSTEP_TILES(4),
    LOCKSTEP_TILES(5), LOCKSTEP_TILES(6), LOCKSTEP_TILES(7), LOCKSTEP_TILES(8),
#undef LOCKSTEP_TILES
};

struct ProductSize {
    std::size_t rows;
    std::size_t columns;
    std::size_t depth;
};

/// As few parts as possible of at most `most` items, nearly equal: 65 rows are 7 tiles of 7 and 2 of 8, not 8
/// of 8 and a slow one of 1.
struct Parts {
    std::size_t items;
    std::size_t count;

    std::size_t begin(std::size_t part) const { return items * part / count; }
    std::size_t size(std::size_t part) const { return begin(part + 1) - begin(part); }
};
inline Parts partsOf(std::size_t items, std::size_t most) { return {items, (items + most - 1) / most}; }

/// What the next panel is packed from: fetched into the second-level cache bit by bit, between tiles.
class Ahead {
  public:
    Ahead(const Matrix& b, std::size_t depth, std::size_t columns)
        : b_(b), rows_(b.transposed ? columns : depth), width_(b.transposed ? depth : columns) {}
    void fetch(std::size_t part, std::size_t parts) const {
        constexpr std::size_t cacheLine = 64 / sizeof(float);
        const std::size_t end = rows_ * (part + 1) / parts;
        for (std::size_t row = rows_ * part / parts; row < end; ++row)
            for (std::size_t at = 0; at < width_; at += cacheLine)
                __builtin_prefetch(b_.data + row * b_.stride + at, 0, 2);
    }

  private:
    Matrix b_;
    std::size_t rows_;
    std::size_t width_;
};

/// One panel of C, all rows and the whole depth. B has `columnsAfter` columns more for the next panel.
inline void multiplyPanel(const ProductSize& size, const float* a, std::size_t aStride, const Matrix& b,
                          std::size_t columnsAfter, TileEnd end, float* c, std::size_t cStride) {
    alignas(64) float panel[panelDepth * panelColumns];
    const std::size_t vectors = (size.columns + elements - 1) / elements;
    const Parts heights = partsOf(size.rows, tileRows(vectors));
    for (std::size_t begin = 0; begin < size.depth; begin += panelDepth) {
        const std::size_t depth = smaller(size.depth - begin, panelDepth);
        packPanel(b.from(begin, 0), depth, size.columns, panel);
        const std::size_t next = begin + depth;
        const Ahead ahead =
            next < size.depth ? Ahead(b.from(next, 0), smaller(size.depth - next, panelDepth), size.columns)
                              : Ahead(b.from(0, size.columns), smaller(size.depth, panelDepth), columnsAfter);
        for (std::size_t tile = 0, row = 0, height = 0; tile < heights.count; ++tile, row += height) {
            height = heights.begin(tile + 1) - row;
            ahead.fetch(tile, heights.count);
            tiles[height - 1][vectors - 1](a + row * aStride + begin, aStride, panel, depth, size.columns,
                                           end, c + row * cStride, cStride);
        }
        end.keep = 1; // the next stretch of the depth is added to this one
        end.bias = nullptr;
    }
}

/// The whole product, panel by panel, of A [rows][depth]. Calls `finish(firstColumn, columns)` while a
/// finished panel of C is still in the cache.
template <class Finish>
LOCKSTEP_INLINE void multiply(const ProductSize& size, const float* a, std::size_t aStride, const Matrix& b,
                              const TileEnd& end, float* c, std::size_t cStride, const Finish& finish) {
    const Parts panels = partsOf((size.columns + elements - 1) / elements, tileVectors);
    const auto begin = [&](std::size_t panel) {
        return smaller(panels.begin(panel) * elements, size.columns);
    };
    for (std::size_t panel = 0; panel < panels.count; ++panel) {
        const std::size_t first = begin(panel);
        const std::size_t next = begin(panel + 1);
        const std::size_t after = panel + 1 < panels.count ? begin(panel + 2) - next : 0;
        TileEnd panelEnd = end;
        if (end.bias != nullptr) panelEnd.bias = end.bias + first;
        multiplyPanel({size.rows, next - first, size.depth}, a, aStride, b.from(0, first), after, panelEnd,
                      c + first, cStride);
        finish(first, next - first);
    }
}

/// The same for a transposed A [depth][rows], without bias. Its columns lie far apart, and every panel would
/// walk through all of them again.
inline void multiplyTransposed(const ProductSize& size, const float* a, std::size_t aStride, const Matrix& b,
                               TileEnd end, float* c, std::size_t cStride) {
    alignas(64) float block[blockRows * blockStride];
    const Parts blocks = partsOf(size.rows, blockRows);
    for (std::size_t begin = 0; begin < size.depth; begin += panelDepth) {
        const std::size_t depth = smaller(size.depth - begin, panelDepth);
        for (std::size_t part = 0; part < blocks.count; ++part) {
            const std::size_t row = blocks.begin(part);
            transpose(a + begin * aStride + row, aStride, depth, blocks.size(part), block, blockStride);
            multiply({blocks.size(part), size.columns, depth}, block, blockStride, b.from(begin, 0), end,
                     c + row * cStride, cStride, [](std::size_t, std::size_t) {});
        }
        end.keep = 1;
    }
}

} // namespace
} // namespace lockstep
