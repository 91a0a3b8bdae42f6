// Small networks: which examples come next, and copies of them. Layout: small_kernels.h.
#pragma once

namespace lockstep {
namespace {

using Words __attribute__((vector_size(LOCKSTEP_VECTOR_BYTES))) = std::uint32_t;

template <class Key> LOCKSTEP_INLINE Words smallOrderMix(Words value, Key key) {
    value = (value ^ key) * 0x85EBCA6Bu;
    value ^= value >> 13;
    value *= 0xC2B2AE35u;
    return value ^ (value >> 16);
}

/// shaders/shared/order.h, a vector of positions at once; the keys are the same for all elements, or vectors
/// too.
template <class Keys>
LOCKSTEP_INLINE Words smallOrderFeistel(Words value, std::uint32_t bits, const Keys& keys) {
    const std::uint32_t lowBits = bits / 2;
    const std::uint32_t lowMask = (1u << lowBits) - 1u;
    const std::uint32_t highMask = (1u << (bits - lowBits)) - 1u;
    Words low = value & lowMask;
    Words high = value >> lowBits;
    high ^= smallOrderMix(low, keys.k0) & highMask;
    low ^= smallOrderMix(high, keys.k1) & lowMask;
    high ^= smallOrderMix(low, keys.k2) & highMask;
    low ^= smallOrderMix(high, keys.k3) & lowMask;
    high ^= smallOrderMix(low, keys.k0 + 0x9E3779B9u) & highMask;
    low ^= smallOrderMix(high, keys.k1 + 0x9E3779B9u) & lowMask;
    return (high << lowBits) | low;
}

LOCKSTEP_INLINE bool anyElement(Words mask) {
#if LOCKSTEP_VECTOR_BYTES == 64
    return _mm512_test_epi32_mask(reinterpret_cast<__m512i>(mask), reinterpret_cast<__m512i>(mask)) != 0;
#elif LOCKSTEP_VECTOR_BYTES == 32
    return _mm256_movemask_epi8(reinterpret_cast<__m256i>(mask)) != 0;
#else
    std::uint32_t any = 0;
    for (std::size_t element = 0; element < elements; ++element) any |= mask[element];
    return any != 0;
#endif
}

/// Replaces vectors of positions by the examples there. They are permuted together: one alone would wait for
/// its own multiplications.
template <std::size_t vectors, class Keys>
LOCKSTEP_INLINE void permutePositions(std::uint32_t count, std::uint32_t bits, const Keys& keys,
                                      Words* positions) {
    Words outside{};
    for (std::size_t v = 0; v < vectors; ++v) {
        positions[v] = smallOrderFeistel(positions[v], bits, keys);
        outside |= reinterpret_cast<Words>(positions[v] >= count);
    }
    while (anyElement(outside)) {
        outside = Words{};
        for (std::size_t v = 0; v < vectors; ++v) {
            const Words again = smallOrderFeistel(positions[v], bits, keys);
            positions[v] = positions[v] >= count ? again : positions[v];
            outside |= reinterpret_cast<Words>(positions[v] >= count);
        }
    }
}

constexpr std::size_t orderVectors = 2;

/// The examples at positions position, position + 1, ... of an epoch's order.
LOCKSTEP_INLINE void smallOrderIndices(std::uint32_t position, std::uint32_t count, std::uint32_t bits,
                                       const shared::OrderKeys& keys, Words* indices) {
    for (std::size_t v = 0; v < orderVectors; ++v) {
        // Positions after the last one may lie outside the permutation: 0 takes their place.
        const Words at =
            reinterpret_cast<Words>(elementNumbers()) + (position + static_cast<std::uint32_t>(v * elements));
        indices[v] = at < count ? at : Words{};
    }
    permutePositions<orderVectors>(count, bits, keys, indices);
}

LOCKSTEP_INLINE void gatherExample(const Dataset& data, const Examples& examples, std::size_t example,
                                   std::size_t row, std::size_t stride, float* inputs, TargetWord* targets) {
    constexpr float scale = static_cast<float>(1.0 / 255.0);
    if (examples.pixels.empty()) {
        const float* from = examples.values.data() + example * data.inputs;
        for (std::size_t i = 0; i < data.inputs; ++i) inputs[i * stride + row] = from[i];
    } else {
        const std::uint8_t* from = examples.pixels.data() + example * data.inputs;
        for (std::size_t i = 0; i < data.inputs; ++i)
            inputs[i * stride + row] = static_cast<float>(from[i]) * scale;
    }
    if (examples.labels.empty())
        for (std::size_t j = 0; j < data.targetWidth; ++j)
            __builtin_memcpy(targets + j * stride + row,
                             examples.targets.data() + example * data.targetWidth + j, sizeof(float));
    else
        targets[row] = examples.labels[example];
}

/// Elements [count, end) become copies of the one before them.
template <class T> LOCKSTEP_INLINE void copyLast(T* to, std::size_t count, std::size_t end) {
    for (std::size_t at = count; at < end; ++at) to[at] = to[count - 1];
}

inline void smallGatherBatch(const Dataset& data, const Examples& examples, const SmallBatch& batch,
                             std::size_t stride, float* inputs, TargetWord* targets) {
    const auto count = static_cast<std::uint32_t>(examples.count);
    const std::uint32_t bits = shared::orderBits(count);
    constexpr std::size_t block = orderVectors * elements;
    for (std::size_t first = 0; first < batch.rows; first += block) {
        const auto position = static_cast<std::uint32_t>(batch.first + first);
        Words chosen[orderVectors] = {};
        if (batch.shuffled) smallOrderIndices(position, count, bits, batch.keys, chosen);
        std::uint32_t index[block];
        __builtin_memcpy(index, chosen, sizeof(index));
        const std::size_t left = batch.rows - first;
        const std::size_t rows = left < block ? left : block;
        for (std::size_t row = 0; row < rows; ++row)
            gatherExample(data, examples, batch.shuffled ? index[row] : position + row, first + row, stride,
                          inputs, targets);
    }
    // The last vector is filled up; a whole one is left as it is.
    const std::size_t end = vectorsFor(batch.rows) * elements;
    for (std::size_t i = 0; i < data.inputs; ++i) copyLast(inputs + i * stride, batch.rows, end);
    for (std::size_t j = 0; j < data.targetWidth; ++j) copyLast(targets + j * stride, batch.rows, end);
}

} // namespace
} // namespace lockstep
