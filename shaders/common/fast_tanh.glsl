// tanh for kernels that spend most of their time in it, 3e-7 from the exact one. The formula is in shaders/shared/tanh.h.
#ifndef LOCKSTEP_FAST_TANH_GLSL
#define LOCKSTEP_FAST_TANH_GLSL
#include "activation.glsl"
#include "tanh.h"

float fastTanh(float x) {
    float c = clamp(x, -tanhLimit, tanhLimit);
    float u = c * c;
    float result = LOCKSTEP_TANH_QUOTIENT(c, u, fma);
    return isNotNumber(x) ? x : result;
}

float activateFast(uint activation, float z) {
    return activation == activation_tanh ? fastTanh(z) : activate(activation, z);
}

#endif
