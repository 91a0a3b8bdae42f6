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

LOCKSTEP_INLINE Words loadWords(const std::uint32_t* from) {
    Words words;
    __builtin_memcpy(&words, from, sizeof(words));
    return words;
}

LOCKSTEP_INLINE void storeWords(std::uint32_t* to, Words words) {
    __builtin_memcpy(to, &words, sizeof(words));
}

// All positions are permuted once; then those that fell outside, side by side, until none is left.
inline void smallOrderExamples(std::size_t first, std::size_t rows, std::size_t examples,
                               const shared::OrderKeys& keys, std::uint32_t* chosen) {
    const auto count = static_cast<std::uint32_t>(examples);
    const std::uint32_t bits = shared::orderBits(count);
    constexpr std::size_t block = 512;
    std::uint32_t outside[block], again[block];
    for (; rows > block; rows -= block, first += block, chosen += block)
        smallOrderExamples(first, block, examples, keys, chosen);
    for (std::size_t k = 0; k < rows; k += elements) {
        const auto position = static_cast<std::uint32_t>(first + k);
        storeWords(chosen + k,
                   smallOrderFeistel(reinterpret_cast<Words>(elementNumbers()) + position, bits, keys));
    }
    std::size_t left = 0;
    for (std::size_t k = 0; k < rows; ++k) {
        outside[left] = static_cast<std::uint32_t>(k);
        left += chosen[k] >= count ? 1 : 0;
    }
    while (left > 0) {
        for (std::size_t n = 0; n < left; ++n) again[n] = chosen[outside[n]];
        for (std::size_t n = 0; n < left; n += elements)
            storeWords(again + n, smallOrderFeistel(loadWords(again + n), bits, keys));
        std::size_t still = 0;
        for (std::size_t n = 0; n < left; ++n) {
            const std::uint32_t k = outside[n];
            chosen[k] = again[n];
            outside[still] = k;
            still += again[n] >= count ? 1 : 0;
        }
        left = still;
    }
}

/// `width` numbers of some examples: to[k] = the k-th of each, `stride` after the one before.
template <class From, class To>
LOCKSTEP_INLINE void gatherColumns(const From* from, std::size_t width, const std::uint32_t* examples,
                                   std::size_t stride, To* to) {
    constexpr float scale = static_cast<float>(1.0 / 255.0);
    for (std::size_t k = 0; k < width; ++k, to += stride) {
        To numbers[elements];
        for (std::size_t element = 0; element < elements; ++element) {
            const From number = from[examples[element] * width + k];
            if constexpr (sizeof(From) == 1)
                numbers[element] = static_cast<float>(number) * scale;
            else
                __builtin_memcpy(numbers + element, &number, sizeof(number));
        }
        __builtin_memcpy(to, numbers, sizeof(numbers));
    }
}

inline void smallGatherBatch(const Dataset& data, const Examples& examples, const std::uint32_t* chosen,
                             std::size_t rows, std::size_t stride, float* inputs, TargetWord* targets) {
    for (std::size_t first = 0; first < rows; first += elements) {
        std::uint32_t of[elements]; // the last vector is filled up with copies of the last example
        for (std::size_t element = 0; element < elements; ++element)
            of[element] = chosen[first + element < rows ? first + element : rows - 1];
        if (examples.pixels.empty())
            gatherColumns(examples.values.data(), data.inputs, of, stride, inputs + first);
        else
            gatherColumns(examples.pixels.data(), data.inputs, of, stride, inputs + first);
        if (examples.labels.empty())
            gatherColumns(examples.targets.data(), data.targetWidth, of, stride, targets + first);
        else
            gatherColumns(examples.labels.data(), 1, of, stride, targets + first);
    }
}

} // namespace
} // namespace lockstep
