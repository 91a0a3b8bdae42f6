#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// dW[l] = dZ[l]^T A[l] and db[l] = column sums of dZ[l] of all layers l, and the optimizer's step with them, in one dispatch:
// small layers alone would leave most of a GPU idle. The arithmetic is that of dense_backward_weights_update_tiled.
// dSums and inputs are the arenas of dZ and A, parameters and states those of all layers; `layers` says where each lies.
// Workgroups are numbered along x, layer by layer, and in a layer row by row of its tiles.
#include "dense_constants.glsl"

layout(push_constant) uniform Params { // WeightGradientsParams
    uint rows;
    uint layerCount;
    UpdateParams how;
};

WeightGradientsLayer place; // of this workgroup
DenseParams params;
#define FIRST_PARAMETER place.firstParameter
#include "fold_update.glsl"

layout(set = 0, binding = 0) readonly buffer DSums { vec4 dSums[]; };
layout(set = 0, binding = 1) readonly buffer Inputs { vec4 inputs[]; };
layout(set = 0, binding = 6) readonly buffer Layers { WeightGradientsLayer layers[]; };

void findLayer() {
    uint layer = layerCount - 1;
    while (layers[layer].firstGroup > gl_WorkGroupID.x) --layer;
    place = layers[layer];
    params = DenseParams(rows, place.inputs, place.outputs, place.inputStride, place.outputStride, 0, 0);
}
#define BEGIN findLayer();
uint groupRow() { return (gl_WorkGroupID.x - place.firstGroup) / place.groupsN; }
uint groupColumn() { return (gl_WorkGroupID.x - place.firstGroup) % place.groupsN; }

uint productM() { return params.outputs; }
uint productN() { return params.inputStride; }
uint productK() { return params.rows; }
const bool aAlongK = false;
const bool bAlongK = false;
const bool sumRowsOfA = true;

vec4 loadA(uint o, uint row) { return dSums[(place.firstDSum + row * params.outputStride + o) / 4]; }
vec4 loadB(uint row, uint i) { return inputs[(place.firstInput + row * params.inputStride + i) / 4]; }

#include "product_tiled.glsl"
