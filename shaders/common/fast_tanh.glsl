// tanh for kernels that spend most of their time in it (tanh.h), 3e-7 from the exact one.
#ifndef LOCKSTEP_FAST_TANH_GLSL
#define LOCKSTEP_FAST_TANH_GLSL
#include "activation.glsl"
#include "tanh.h"

float fastTanh(float x) {
    float c = clamp(x, -tanhLimit, tanhLimit);
    float u = c * c;
    float p = fma(fma(fma(fma(tanhP4, u, tanhP3), u, tanhP2), u, tanhP1), u, tanhP0);
    float q = fma(fma(fma(fma(tanhQ4, u, tanhQ3), u, tanhQ2), u, tanhQ1), u, 1.0);
    float result = c * p / q;
    return isNotNumber(x) ? x : result;
}

float activateFast(uint activation, float z) {
    return activation == activationTanh ? fastTanh(z) : activate(activation, z);
}

#endif
