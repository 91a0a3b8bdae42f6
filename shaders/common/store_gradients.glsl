// Stores the gradients of the weights, for the operation `update`. dWeights [outputs][inputStride], rows are contiguous.
#include "params.h"
layout(set = 0, binding = 2) writeonly buffer DWeights { vec4 dWeights[]; };
layout(set = 0, binding = 3) writeonly buffer DBias { float dBias[]; };
layout(push_constant) uniform Params { DenseParams params; };

vec4 loadColumns(uint i) { return vec4(0.0); }
void store(uint o, uint i, vec4 product, vec4 unused) { dWeights[(o * params.inputStride + i) / 4] = product; }
void storeRowSum(uint o, float sum) { dBias[o] = sum; }
void finish(uint o, uint i) {}
