// Four halves as two words, the first in the lower bits.
#ifndef LOCKSTEP_HALF_GLSL
#define LOCKSTEP_HALF_GLSL
#include "half.h"

uint packTwo(float first, float second) {
    return halfFromFloatBits(floatBitsToUint(first)) | halfFromFloatBits(floatBitsToUint(second)) << 16;
}

uvec2 packFour(vec4 four) { return uvec2(packTwo(four.x, four.y), packTwo(four.z, four.w)); }

vec4 unpackFour(uvec2 words) { return vec4(unpackHalf2x16(words.x), unpackHalf2x16(words.y)); }

#endif
