// Half precision (IEEE 754 binary16) as bits: 1 of sign, 5 of exponent, 10 of fraction; largest 65504, smallest 2^-24.
// Rounds in integer arithmetic, because packHalf2x16 differs between devices: some truncate.
#ifndef LOCKSTEP_HALF_H
#define LOCKSTEP_HALF_H
#include "shared.h"

SHARED_BEGIN

// The half nearest to the float with these bits, ties to even. 65520 and above become infinite.
SHARED_FN uint halfFromFloatBits(uint bits) {
    uint sign = (bits >> 16) & 0x8000u;
    uint size = bits & 0x7FFFFFFFu;
    if (size > 0x7F800000u) return sign | 0x7E00u;   // not a number
    if (size >= 0x477FF000u) return sign | 0x7C00u;  // 65520: halfway to 2^16
    if (size < 0x33000001u) return sign;             // 2^-25, halfway to the smallest: the even one is 0
    if (size >= 0x38800000u)                         // 2^-14: from here on the exponents differ by 112
        return sign | ((size - 0x38000000u + 0x0FFFu + ((size >> 13) & 1u)) >> 13);
    uint shift = 126u - (size >> 23); // below, a half is a multiple of 2^-24
    uint fraction = (size & 0x7FFFFFu) | 0x800000u;
    uint kept = fraction >> shift;
    uint rest = fraction & ((1u << shift) - 1u);
    uint middle = 1u << (shift - 1u);
    return sign | (kept + (rest > middle || (rest == middle && (kept & 1u) != 0u) ? 1u : 0u));
}

SHARED_END

#endif
