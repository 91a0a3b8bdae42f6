// The push constants of the experiments on parallelism (shaders/lab): all of them share one struct.
#ifndef LOCKSTEP_LAB_H
#define LOCKSTEP_LAB_H
#include "shared.h"

SHARED_BEGIN

// Each shader says what it takes.
struct LabParams {
    uint items;  // invocations that have work, or words that are read
    uint rounds; // of the loop in each invocation
    uint knob;   // what the experiment turns
    uint first;  // of the items, or a number to begin with
};

// Specialisation constants that every experiment's shader may have.
SHARED_CONST uint labGroupSize = 0u; // invocations of a workgroup
SHARED_CONST uint labChoice = 1u;    // which of several ways
SHARED_CONST uint labShared = 2u;    // words of shared memory

// One step of Marsaglia's generator ("Xorshift RNGs", 2003): work that no compiler can shorten. Only 0 stays 0.
SHARED_FN uint xorshift(uint value) {
    value ^= value << 13u;
    value ^= value >> 17u;
    value ^= value << 5u;
    return value;
}

// Two orders that read every word of an array once. The array has 2^bits words; `last` is one less; the n-th read is of the word at
// the index returned. labStrided: neighbouring n read words 2^shift apart; at the end of the array, it starts again one word further.
SHARED_FN uint labStrided(uint n, uint shift, uint bits, uint last) {
    return ((n << shift) & last) | (n >> (bits - shift));
}

// labScatter: neighbouring n read words anywhere. Each operation maps the numbers up to `last` onto themselves.
SHARED_FN uint labScatter(uint n, uint last) {
    uint mixed = (n * 2654435769u) & last;
    mixed ^= mixed >> 7u;
    mixed = (mixed * 2246822519u) & last;
    mixed ^= mixed >> 5u;
    return (mixed * 3266489917u) & last;
}

SHARED_END

#endif
