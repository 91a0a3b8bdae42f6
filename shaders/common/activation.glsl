// Activations and their derivatives. The formulas are in shaders/shared/activations.h, a row for each.
#ifndef LOCKSTEP_ACTIVATION_GLSL
#define LOCKSTEP_ACTIVATION_GLSL
#include "activations.h"
#include "math.glsl"
#include "tanh.h"

// f(z).
precise float activate(uint activation, float z) {
#define ROW(number_, id, name, formula, length_, value, from, derivative) if (activation == number_) return value;
    LOCKSTEP_ACTIVATIONS(ROW)
#undef ROW
    return z;
}

// f'(z), from z where derivativeNeedsSum, else from y = f(z).
precise float activationDerivative(uint activation, float saved) {
    float z = saved;
    float y = saved;
#define ROW(number_, id, name, formula, length_, value, from, derivative) if (activation == number_) return derivative;
    LOCKSTEP_ACTIVATIONS(ROW)
#undef ROW
    return 1.0;
}

// Whether the derivative is computed from the sum z; else from the output f(z).
bool derivativeNeedsSum(uint activation) {
#define ROW(number_, id, name, formula, length_, value, from, derivative) || (activation == number_ && from)
    return false LOCKSTEP_ACTIVATIONS(ROW);
#undef ROW
}

// Whether f, or its derivative, is a handful of instructions. The others are kept out of unrolled code, where hundreds of
// copies would take a compiler seconds.
bool activationIsShort(uint activation) {
#define ROW(number_, id, name, formula, length_, value, from, derivative) || (activation == number_ && length_)
    return false LOCKSTEP_ACTIVATIONS(ROW);
#undef ROW
}
bool derivativeIsShort(uint activation) { return !derivativeNeedsSum(activation); }

// tanh for kernels that spend most of their time in it, 3e-7 from the exact one. The formula is in shaders/shared/tanh.h.
precise float fastTanh(float x) {
    float c = clamp(x, -tanhLimit, tanhLimit);
    float u = c * c;
    float result = clamp(LOCKSTEP_TANH_QUOTIENT(c, u, fma), -1.0, 1.0);
    return isNotNumber(x) ? x : result;
}

float activateFast(uint activation, float z) {
    return activation == activation_tanh ? fastTanh(z) : activate(activation, z);
}

#endif
