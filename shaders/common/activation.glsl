// Activations and their derivatives, side by side, as in engine/net/activation.h.
#ifndef LOCKSTEP_ACTIVATION_GLSL
#define LOCKSTEP_ACTIVATION_GLSL
#include "math.glsl"
#include "params.h"

// Whether the derivative is computed from the sum z; else from the output f(z).
bool derivativeNeedsSum(uint activation) { return activation == activationGelu || activation == activationSilu; }

// Whether f, or its derivative from what is saved, is a handful of instructions. The others are kept out of unrolled code, where
// hundreds of copies would take a compiler seconds.
bool activationIsShort(uint activation) {
    return activation == activationIdentity || activation == activationRelu || activation == activationLeakyRelu;
}
bool derivativeIsShort(uint activation) { return !derivativeNeedsSum(activation); }

// f(z).
float activate(uint activation, float z) {
    if (activation == activationRelu) return z > 0.0 ? z : (isNotNumber(z) ? z : 0.0);
    if (activation == activationLeakyRelu) return z > 0.0 ? z : 0.01 * z;
    if (activation == activationElu) return z > 0.0 ? z : exactExpm1(z);
    if (activation == activationGelu) return 0.5 * z * (1.0 + exactErf(z * 0.707106781186547524));
    if (activation == activationTanh) return exactTanh(z);
    if (activation == activationSigmoid) return exactSigmoid(z);
    if (activation == activationSilu) return z * exactSigmoid(z);
    return z;
}

// f'(z), from z where derivativeNeedsSum, else from f(z).
float activationDerivative(uint activation, float saved) {
    if (activation == activationRelu) return saved > 0.0 ? 1.0 : 0.0;
    if (activation == activationLeakyRelu) return saved > 0.0 ? 1.0 : 0.01;
    if (activation == activationElu) return saved > 0.0 ? 1.0 : saved + 1.0;
    if (activation == activationGelu) {
        float cumulative = 0.5 * (1.0 + exactErf(saved * 0.707106781186547524));
        return cumulative + saved * 0.398942280401432678 * exactExp(-0.5 * saved * saved);
    }
    if (activation == activationTanh) return 1.0 - saved * saved;
    if (activation == activationSigmoid) return saved * (1.0 - saved);
    if (activation == activationSilu) {
        float sigmoid = exactSigmoid(saved);
        return sigmoid * (1.0 + saved * (1.0 - sigmoid));
    }
    return 1.0;
}

#endif
