// Stores the gradients of the weights, for the operation `update`; those of a later part of a batch are added. dWeights [outputs][inputStride], rows are contiguous.
#include "dense_constants.glsl"
#include "params.h"
layout(set = 0, binding = 2) buffer DWeights { vec4 dWeights[]; };
layout(set = 0, binding = 3) buffer DBias { float dBias[]; };
layout(push_constant) uniform Params { DenseParams params; };

vec4 loadColumns(uint i) { return vec4(0.0); }
void store(uint o, uint i, vec4 product, vec4 unused) {
    uint at = (o * params.inputStride + i) / 4;
    dWeights[at] = adds ? dWeights[at] + product : product;
}
void storeRowSum(uint o, float sum) { dBias[o] = adds ? dBias[o] + sum : sum; }
void finish(uint o, uint i) {}
