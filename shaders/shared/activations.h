// Every activation of the project, one row each: y = f(z) for a layer's sum z, with the definitions and defaults of torch.nn.
// To add one, add a row: C++ compiles it for single floats and doubles (engine/net/activation.h) and for SIMD vectors
// (engine/cpu/simd/math.inl), GLSL for the kernels (shaders/common/activation.glsl), and options, files, help and menus list it.
//
// Columns:
//   number, id   kernels know the activation by its number, C++ as Activation::id, GLSL as activation_id
//   name         in options and files
//   formula      for people
//   length       of f's code: `brief` is a handful of instructions; kernels keep `lengthy` code out of unrolled loops
//   value        f(z)
//   from         fromOutput: the derivative is a brief formula of the output y; fromSum: it needs z, which costs an array
//   derivative   f'(z)
//
// Formulas use the operators + - * / < > ?: and words that each language defines once (engine/net/activation.h,
// engine/cpu/simd/math.inl, shaders/common/math.glsl): number(x), a constant; positivePart(x) = max(0, x);
// exponential, exponentialMinusOne, logOnePlus (for x in [0, 1]), absolute, squareRoot, hyperbolicTangent, sigmoid; and
// normalCdf and normalDensity, of the standard normal distribution. Constants that are not integers are written number(x).
#ifndef LOCKSTEP_ACTIVATIONS_H
#define LOCKSTEP_ACTIVATIONS_H
#include "shared.h"

SHARED_BEGIN

SHARED_CONST bool brief = true;
SHARED_CONST bool lengthy = false;
SHARED_CONST bool fromOutput = false;
SHARED_CONST bool fromSum = true;

SHARED_END

#define LOCKSTEP_ACTIVATIONS(ROW)                                                                                             \
    ROW(0, relu, "relu", "max(0, z)",                                                                                         \
        brief, positivePart(z), fromOutput, y > 0 ? number(1) : number(0))                                                    \
    ROW(1, leakyRelu, "leaky-relu", "max(0.01 z, z)",                                                                         \
        brief, z > 0 ? z : number(0.01) * z, fromOutput, y > 0 ? number(1) : number(0.01))                                    \
    ROW(2, elu, "elu", "z, or exp(z) - 1 below 0",                                                                            \
        lengthy, z > 0 ? z : exponentialMinusOne(z), fromSum, z > 0 ? number(1) : exponential(z)) /* y + 1: 0 below -17 */    \
    ROW(3, gelu, "gelu", "z Φ(z)",                                                                                            \
        lengthy, z * normalCdf(z), fromSum, normalCdf(z) + z * normalDensity(z))                                              \
    ROW(4, silu, "silu", "z / (1 + exp(-z))",                                                                                 \
        lengthy, z / (1 + exponential(-z)), fromSum, sigmoid(z) * (1 + z * (1 - sigmoid(z))))                                 \
    ROW(5, tanh, "tanh", "tanh(z)",                                                                                           \
        lengthy, hyperbolicTangent(z), fromOutput, 1 - y * y)                                                                 \
    ROW(6, sigmoid, "sigmoid", "1 / (1 + exp(-z))",                                                                           \
        lengthy, sigmoid(z), fromOutput, y * (1 - y))                                                                         \
    ROW(7, identity, "identity", "z",                                                                                         \
        brief, z, fromOutput, number(1))

#ifndef __cplusplus
#define ROW(number, id, name, formula, length, value, from, derivative) const uint activation_##id = number;
LOCKSTEP_ACTIVATIONS(ROW)
#undef ROW
#endif

#endif
