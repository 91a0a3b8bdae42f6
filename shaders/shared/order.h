// The order of examples as a pure function: position in the epoch -> index of the example, a permutation of
// [0, count) that is never stored. A Feistel network permutes [0, 2^bits), the smallest power of two that holds
// `count` (at least 64); a result outside [0, count) is permuted again until it falls inside ("cycle walking", Black
// and Rogaway 2002), which keeps the map one-to-one and, above 32 examples, takes fewer than two walks on average.
#ifndef LOCKSTEP_ORDER_H
#define LOCKSTEP_ORDER_H
#include "shared.h"

SHARED_BEGIN

// Four round keys of one epoch, from philox(epoch, seed). count <= 2^30.
struct OrderKeys {
    uint k0;
    uint k1;
    uint k2;
    uint k3;
};

SHARED_FN uint orderMix(uint value, uint key) {
    value = (value ^ key) * 0x85EBCA6Bu;
    value ^= value >> 13;
    value *= 0xC2B2AE35u;
    return value ^ (value >> 16);
}

// One pass of six Feistel rounds over [0, 2^bits), bits >= 2. Odd rounds change `high` by `low`, even rounds the other
// way. Each is its own inverse for any widths of the halves, so the whole is one-to-one for odd `bits`, too.
SHARED_FN uint orderFeistel(uint value, uint bits, OrderKeys keys) {
    uint lowBits = bits / 2u;
    uint highBits = bits - lowBits;
    uint low = value & ((1u << lowBits) - 1u);
    uint high = value >> lowBits;
    uint highMask = (1u << highBits) - 1u;
    uint lowMask = (1u << lowBits) - 1u;
    high ^= orderMix(low, keys.k0) & highMask;
    low ^= orderMix(high, keys.k1) & lowMask;
    high ^= orderMix(low, keys.k2) & highMask;
    low ^= orderMix(high, keys.k3) & lowMask;
    high ^= orderMix(low, keys.k0 + 0x9E3779B9u) & highMask;
    low ^= orderMix(high, keys.k1 + 0x9E3779B9u) & lowMask;
    return (high << lowBits) | low;
}

SHARED_FN uint orderBits(uint count) {
    uint bits = 6u; // with fewer, six rounds mix too little
    while ((1u << bits) < count) ++bits;
    return bits;
}

SHARED_FN uint orderIndex(uint position, uint count, OrderKeys keys) {
    uint bits = orderBits(count);
    uint index = orderFeistel(position, bits, keys);
    while (index >= count) index = orderFeistel(index, bits, keys);
    return index;
}

SHARED_END

#endif
