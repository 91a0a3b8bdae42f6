// Formats of floating-point numbers, and rounding to them. C++ and GLSL compile the same integer arithmetic, so every machine
// gets the same bits.
//
// A format has one bit of sign, `exponentBits` and `fractionBits`: a code is +-1.fraction * 2^(exponent - bias) or, where the
// exponent's bits are 0, +-0.fraction * 2^(1 - bias). Rounding goes to the nearest number, ties to the even code.
// The formats of 8 bits are those of the Open Compute Project's "8-bit Floating Point Specification" (OFP8), revision 1.0.
#ifndef LOCKSTEP_FORMATS_H
#define LOCKSTEP_FORMATS_H
#include "shared.h"

SHARED_BEGIN

// The numbers of the formats, in the order of engine/net/float_formats.h.
SHARED_CONST uint formatFp32 = 0u;
SHARED_CONST uint formatTf32 = 1u; // as NVIDIA's tensor cores read an fp32: its exponent, 10 bits of its fraction
SHARED_CONST uint formatBf16 = 2u;
SHARED_CONST uint formatFp16 = 3u;
SHARED_CONST uint formatE4m3 = 4u; // no infinities, and one NaN of each sign: 1.111 * 2^8 is taken for it
SHARED_CONST uint formatE5m2 = 5u;

struct FloatFormat {
    uint exponentBits;
    uint fractionBits;
    uint bias;
    uint largest;  // number, as the bits of a float
    uint infinity; // 1: what rounds beyond the largest becomes infinite; 0: not a number
};

SHARED_FN FloatFormat floatFormat(uint number) {
    FloatFormat format; // fp32
    format.exponentBits = 8u;
    format.fractionBits = 23u;
    format.bias = 127u;
    format.largest = 0x7F7FFFFFu;
    format.infinity = 1u;
    if (number == formatTf32) {
        format.fractionBits = 10u;
        format.largest = 0x7F7FE000u;
    } else if (number == formatBf16) {
        format.fractionBits = 7u;
        format.largest = 0x7F7F0000u;
    } else if (number == formatFp16) {
        format.exponentBits = 5u;
        format.fractionBits = 10u;
        format.bias = 15u;
        format.largest = 0x477FE000u; // 65504
    } else if (number == formatE4m3) {
        format.exponentBits = 4u;
        format.fractionBits = 3u;
        format.bias = 7u;
        format.largest = 0x43E00000u; // 448
        format.infinity = 0u;
    } else if (number == formatE5m2) {
        format.exponentBits = 5u;
        format.fractionBits = 2u;
        format.bias = 15u;
        format.largest = 0x47600000u; // 57344
    }
    return format;
}

// A tensor may be stored with a scale: its numbers times 2^scale, rounded, and divided by 2^scale again where they are read.
// That is to round to the same format with all of its exponents lower by `scale`. So nothing is multiplied here, and what a
// device does with subnormal floats does not matter.

// How many bits of a float's fraction rounding drops: more of them below the format's smallest normal number.
SHARED_FN uint droppedBits(uint size, FloatFormat format, int scale) {
    uint least = 128u - format.bias - uint(scale); // the smallest normal number's exponent, as a float stores it
    uint exponent = size >> 23 == 0u ? 1u : size >> 23;
    return 23u - format.fractionBits + (exponent < least ? least - exponent : 0u);
}

// A rounded number, or what it becomes beyond the format's largest.
SHARED_FN uint keptInRange(uint sign, uint size, FloatFormat format, int scale) {
    if (size <= format.largest - (uint(scale) << 23)) return sign | size;
    return sign | (format.infinity != 0u ? 0x7F800000u : 0x7FC00000u);
}

// Bits of the float nearest to the one with these bits among the format's numbers divided by 2^scale.
SHARED_FN uint roundedBits(uint bits, FloatFormat format, int scale) {
    uint sign = bits & 0x80000000u;
    uint size = bits & 0x7FFFFFFFu;
    if (size > 0x7F800000u) return sign | 0x7FC00000u;
    uint dropped = droppedBits(size, format, scale);
    if (dropped == 0u) return bits;
    if (dropped > 24u) return sign;
    uint exponent = size & 0x7F800000u;
    // Less than the format's smallest number, at least half of it: the tie goes to 0.
    if (dropped == 24u) return sign | (size > exponent && exponent != 0u ? exponent + 0x00800000u : 0u);
    // Of a float, the bit before the fraction is not stored: it is 1 except in subnormal ones.
    uint odd = dropped == 23u ? (exponent != 0u ? 1u : 0u) : (size >> dropped) & 1u;
    uint rounded = size + (1u << (dropped - 1u)) - 1u + odd; // a carry out of the fraction raises the exponent
    return keptInRange(sign, rounded & ~((1u << dropped) - 1u), format, scale);
}

// The same with one of the two neighbours, the nearer it is the more likely: on average, nothing is lost. `random` is any
// 32 random bits.
SHARED_FN uint stochasticallyRoundedBits(uint bits, FloatFormat format, int scale, uint random) {
    uint sign = bits & 0x80000000u;
    uint size = bits & 0x7FFFFFFFu;
    if (size >= 0x7F800000u) return roundedBits(bits, format, scale);
    uint dropped = droppedBits(size, format, scale);
    if (dropped == 0u) return bits;
    uint exponent = size >> 23;
    if (dropped < 24u) {
        uint mask = (1u << dropped) - 1u;
        return keptInRange(sign, (size + (random & mask)) & ~mask, format, scale);
    }
    // Between 0 and the smallest number, which is 2^dropped units of this float's last place.
    uint units = (size & 0x7FFFFFu) | (exponent != 0u ? 0x800000u : 0u);
    bool up = dropped <= 32u ? random >> (32u - dropped) < units
                             : dropped < 56u && random < units >> (dropped - 32u);
    return sign | (up ? ((exponent == 0u ? 1u : exponent) + dropped - 23u) << 23 : 0u);
}

// The largest scale, at most `most`, with which numbers up to this one (the bits of a float without its sign) stay in the
// format's range. 0 for a tensor of zeros, and for one with infinities.
SHARED_FN int scaleFor(uint largest, FloatFormat format, int most) {
    if (largest == 0u || largest >= 0x7F800000u) return 0;
    int exponent = int(largest >> 23 == 0u ? 1u : largest >> 23);
    int scale = int(format.largest >> 23) - exponent;
    if ((largest & 0x7FFFFFu) > (format.largest & 0x7FFFFFu)) --scale;
    int limit = 127 - int(format.bias); // beyond it, the format's exponents are not a float's
    if (limit > most) limit = most;
    return scale < limit ? scale : limit;
}

// The code of a number of the format, given as the bits of a float: sign, exponent, fraction.
SHARED_FN uint codeOf(uint bits, FloatFormat format) {
    uint size = bits & 0x7FFFFFFFu;
    uint sign = bits >> 31 << (format.exponentBits + format.fractionBits);
    uint specials = ((1u << format.exponentBits) - 1u) << format.fractionBits;
    if (size > 0x7F800000u)
        return sign | specials |
               (format.infinity != 0u ? 1u << (format.fractionBits - 1u) : (1u << format.fractionBits) - 1u);
    if (size == 0x7F800000u) return sign | specials;
    uint least = 128u - format.bias;
    uint exponent = size >> 23;
    if (exponent >= least)
        return sign | (exponent - least + 1u) << format.fractionBits | (size & 0x7FFFFFu) >> (23u - format.fractionBits);
    uint units = (size & 0x7FFFFFu) | (exponent != 0u ? 0x800000u : 0u);
    uint shift = 23u - format.fractionBits + least - (exponent == 0u ? 1u : exponent);
    return sign | (shift < 24u ? units >> shift : 0u);
}

// The bits of the float that a code stands for.
SHARED_FN uint bitsOf(uint code, FloatFormat format) {
    uint fractions = (1u << format.fractionBits) - 1u;
    uint exponents = (1u << format.exponentBits) - 1u;
    uint sign = code >> (format.exponentBits + format.fractionBits) << 31;
    uint exponent = (code >> format.fractionBits) & exponents;
    uint fraction = code & fractions;
    if (exponent == exponents && (format.infinity != 0u || fraction == fractions))
        return sign | (format.infinity != 0u && fraction == 0u ? 0x7F800000u : 0x7FC00000u);
    uint least = 128u - format.bias;
    uint places = fraction << (23u - format.fractionBits);
    if (exponent != 0u) return sign | (exponent - 1u + least) << 23 | places;
    if (fraction == 0u) return sign;
    for (exponent = least; exponent > 1u && (places & 0x800000u) == 0u; --exponent) places <<= 1;
    return sign | ((places & 0x800000u) != 0u ? exponent << 23 | (places & 0x7FFFFFu) : places);
}

SHARED_END

#endif
