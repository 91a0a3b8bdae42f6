// The optimizer's step inside the product that computes the gradients: they never leave the registers, and `update` has nothing
// left to do. parameters, state1 and state2 are what one layer has of each: its weights, then its bias.
// The values before the step are read the way that the operands are.
#include "params.h"
#include "update.glsl"

layout(set = 0, binding = 2) readonly buffer Status { uint failedStep; };
layout(set = 0, binding = 3) buffer Parameters { vec4 parameters[]; };
layout(set = 0, binding = 4) buffer State1 { vec4 state1[]; };
layout(set = 0, binding = 5) buffer State2 { vec4 state2[]; };
#ifdef TEXELS
layout(set = 0, binding = 6) uniform textureBuffer oldParameters;
layout(set = 0, binding = 7) uniform textureBuffer oldState1;
layout(set = 0, binding = 8) uniform textureBuffer oldState2;
#define OLD(now, before, at) texelFetch(before, int(at))
#else
#define OLD(now, before, at) now[at]
#endif
#ifndef FIRST_PARAMETER // of the layer, in the buffers; then the including shader declares params and how, too
#define FIRST_PARAMETER 0
layout(push_constant) uniform Params { // DenseUpdateParams
    DenseParams params;
    UpdateParams how;
};
#endif

// Nothing is learned once a step's loss was not finite.
bool learns() { return failedStep == noStep; }

// The weights of outputs' rows: four neighbours, at vec4 `at`.
void updateWeights(uint at, vec4 gradient) {
    vec4 first = keepsFirst() ? OLD(state1, oldState1, at) : vec4(0.0);
    vec4 second = keepsSecond() ? OLD(state2, oldState2, at) : vec4(0.0);
    parameters[at] = updated(how, OLD(parameters, oldParameters, at), gradient, first, second);
    if (keepsFirst()) state1[at] = first;
    if (keepsSecond()) state2[at] = second;
}

// One parameter: number `at`.
void updateOne(uint at, float gradient) {
    uint four = at / 4;
    uint j = at % 4;
    vec4 first = vec4(keepsFirst() ? state1[four][j] : 0.0);
    vec4 second = vec4(keepsSecond() ? state2[four][j] : 0.0);
    parameters[four][j] = updated(how, vec4(parameters[four][j]), vec4(gradient), first, second).x;
    if (keepsFirst()) state1[four][j] = first.x;
    if (keepsSecond()) state2[four][j] = second.x;
}

// The bias begins where the weights end, at the next multiple of 64 floats (engine/net/param_layout.h).
void updateBias(uint o, float gradient) {
    uint weights = params.outputs * params.inputStride;
    updateOne(FIRST_PARAMETER + (weights + 63) / 64 * 64 + o, gradient);
}

// What product_block.glsl asks for.
vec4 loadColumns(uint i) { return vec4(learns() ? 1.0 : 0.0); }
void store(uint o, uint i, vec4 product, vec4 learning) {
    if (learning.x != 0.0) updateWeights((FIRST_PARAMETER + o * params.inputStride + i) / 4, product);
}
void store(uint o, uint i, float product) { // product_tiled.glsl
    if (learns()) updateOne(FIRST_PARAMETER + o * params.inputStride + i, product);
}
void storeRowSum(uint o, float sum) {
    if (learns()) updateBias(o, sum);
}
void finish(uint o, uint i) {}
