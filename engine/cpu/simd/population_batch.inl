// Many small networks, one per vector element: which examples come next, and copies of them. Layout:
// population_kernels.h.
#pragma once

namespace lockstep {
namespace {

/// Round keys, a network's in each element.
struct VectorKeys {
    Words k0, k1, k2, k3;
};

/// A row of a batch at a time, with an order of its own in each element.
inline void orderElements(const PopulationBatch& batch, std::uint32_t count, const PopulationKeys& all,
                          std::uint32_t* examples) {
    constexpr std::size_t orderRows = 4; // that are permuted together
    const VectorKeys keys{loadWords(all.k0), loadWords(all.k1), loadWords(all.k2), loadWords(all.k3)};
    for (std::size_t first = 0; first < batch.rows; first += orderRows) {
        Words indices[orderRows];
        for (std::size_t row = 0; row < orderRows; ++row) {
            // Positions after the last one may lie outside the permutation: the last one takes their place.
            const auto at = static_cast<std::uint32_t>(batch.first + first + row);
            indices[row] = (at < count ? at : count - 1) - Words{};
        }
        permutePositions<orderRows>(count, shared::orderBits(count), keys, indices);
        const std::size_t rows = batch.rows - first < orderRows ? batch.rows - first : orderRows;
        __builtin_memcpy(examples + first * elements, indices, rows * sizeof(Words));
    }
}

inline void populationOrderExamples(const PopulationBatch& batch, std::size_t count,
                                    const PopulationKeys& keys, std::uint32_t* examples) {
    const auto size = static_cast<std::uint32_t>(count);
    if (batch.shuffled && batch.alike)
        return smallOrderExamples(batch.first, batch.rows, count,
                                  {keys.k0[0], keys.k1[0], keys.k2[0], keys.k3[0]}, examples);
    if (batch.shuffled) return orderElements(batch, size, keys, examples);
    for (std::size_t row = 0; row < batch.rows; ++row) {
        const auto position = static_cast<std::uint32_t>(batch.first + row);
        if (batch.alike)
            examples[row] = position;
        else
            storeWords(examples + row * elements, position - Words{});
    }
}

/// `width` words of one example for all networks.
LOCKSTEP_INLINE void spreadWords(const void* from, std::size_t example, std::size_t width, void* to) {
    for (std::size_t k = 0; k < width; ++k) {
        std::uint32_t word;
        __builtin_memcpy(&word, static_cast<const char*>(from) + (example * width + k) * sizeof(word),
                         sizeof(word));
        storeWords(static_cast<std::uint32_t*>(to) + k * elements, word - Words{});
    }
}

/// Words first, first + 1, ... of each network's own example. `count` of them, of `width` that it has.
template <std::size_t count>
LOCKSTEP_INLINE void gatherSome(const void* const* from, const std::uint32_t* examples, std::size_t width,
                                std::size_t first, void* to) {
    for (std::size_t element = 0; element < elements; ++element) {
        std::uint32_t words[count];
        __builtin_memcpy(words,
                         static_cast<const char*>(from[element]) +
                             (examples[element] * width + first) * sizeof(std::uint32_t),
                         sizeof(words));
        for (std::size_t k = 0; k < count; ++k)
            __builtin_memcpy(static_cast<char*>(to) +
                                 ((first + k) * elements + element) * sizeof(std::uint32_t),
                             words + k, sizeof(std::uint32_t));
    }
}

LOCKSTEP_INLINE void gatherWords(const void* const* from, const std::uint32_t* examples, std::size_t width,
                                 void* to) {
    std::size_t first = 0;
    for (; first + 2 <= width; first += 2) gatherSome<2>(from, examples, width, first, to);
    if (first < width) gatherSome<1>(from, examples, width, first, to);
}

inline void populationGatherExamples(const PopulationData& data, std::size_t rows, bool alike,
                                     const std::uint32_t* examples, float* inputs, TargetWord* targets) {
    for (std::size_t row = 0; row < rows; ++row) {
        float* x = inputs + row * data.inputs * elements;
        TargetWord* t = targets + row * data.targetWidth * elements;
        if (alike) {
            spreadWords(data.values[0], examples[row], data.inputs, x);
            spreadWords(data.targets[0], examples[row], data.targetWidth, t);
        } else {
            gatherWords(data.values, examples + row * elements, data.inputs, x);
            gatherWords(data.targets, examples + row * elements, data.targetWidth, t);
        }
    }
}

} // namespace
} // namespace lockstep
