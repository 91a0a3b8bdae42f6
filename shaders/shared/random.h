// The project's random generator, shared by C++ and GLSL: Philox4x32-10, a counter-based
// generator (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
// A number is a pure function of (counter, key): nothing is stored, positions can be computed in any order, and every
// device sees the same stream.
#ifndef LOCKSTEP_RANDOM_H
#define LOCKSTEP_RANDOM_H
#include "shared.h"

SHARED_BEGIN

struct Random4 {
    uint x;
    uint y;
    uint z;
    uint w;
};

// The upper 32 bits of the 64-bit product a * b.
SHARED_FN uint multiplyHigh(uint a, uint b) {
#ifdef __cplusplus
    return static_cast<uint>((static_cast<std::uint64_t>(a) * b) >> 32);
#else
    uint high;
    uint low;
    umulExtended(a, b, high, low);
    return high;
#endif
}

// Four independent uniform 32-bit words for a 128-bit counter and a 64-bit key. Ten rounds.
SHARED_FN Random4 philox(Random4 counter, uint keyLow, uint keyHigh) {
    for (int round = 0; round < 10; ++round) {
        uint high0 = multiplyHigh(0xD2511F53u, counter.x);
        uint low0 = 0xD2511F53u * counter.x;
        uint high1 = multiplyHigh(0xCD9E8D57u, counter.z);
        uint low1 = 0xCD9E8D57u * counter.z;
        counter.x = high1 ^ counter.y ^ keyLow;
        counter.y = low1;
        counter.z = high0 ^ counter.w ^ keyHigh;
        counter.w = low0;
        keyLow += 0x9E3779B9u;
        keyHigh += 0xBB67AE85u;
    }
    return counter;
}

// The words by which parameters [4 four, 4 four + 4) of the arena are rounded after a step: a stream of random numbers of its
// own, whose index is the step. They depend on nothing else, so every machine, any number of threads and a resumed run round alike.
SHARED_CONST uint roundingStream = 7u;
SHARED_FN Random4 roundingWords(uint four, uint stepLow, uint stepHigh, uint seedLow, uint seedHigh) {
    Random4 counter;
    counter.x = stepLow;
    counter.y = stepHigh;
    counter.z = four;
    counter.w = roundingStream;
    return philox(counter, seedLow, seedHigh);
}

SHARED_END

#endif
