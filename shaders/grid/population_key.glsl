// Losses as unsigned numbers of the same order: a float's bits grow with its size, and with the sign taken care of with its
// value. What is not finite counts as infinite; a network without a loss comes behind all others.
#ifndef LOCKSTEP_POPULATION_KEY_GLSL
#define LOCKSTEP_POPULATION_KEY_GLSL
#include "math.glsl"

const uint keyOfInfinity = 0xFF800000u;
const uint keyOfNone = 0xFFFFFFFFu;
const uint notNumberBits = 0x7FC00000u;

uint keyOf(float loss) {
    if (isNotFinite(loss)) return keyOfInfinity;
    if (loss == 0.0) return 0x80000000u; // either zero
    uint bits = floatBitsToUint(loss);
    return (bits & 0x80000000u) != 0u ? ~bits : bits | 0x80000000u;
}

uint lossBits(uint key) { return (key & 0x80000000u) != 0u ? key & 0x7FFFFFFFu : ~key; }

#endif
