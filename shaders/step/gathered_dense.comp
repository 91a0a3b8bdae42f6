#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// The batch and the first layer forward in one dispatch: A[0] and the targets as in gather_batch.comp, A[1] = f(A[0] W^T + b) as
// in dense_tiled.comp, bit for bit. Workgroups fetch the examples' values themselves; those of the first columns store them.
// source as in gather_batch.comp; inputs [rows][inputStride], weights [outputs][inputStride], outputs, sums [rows][outputStride].
#include "activation.glsl"
#include "dense_constants.glsl"
#include "params.h"

layout(constant_id = gatheredPixels) const bool pixels = true;

layout(set = 0, binding = 0) readonly buffer Source { uint source[]; };
layout(set = 0, binding = 0) readonly buffer SourceFours { uvec4 sourceFours[]; };
layout(set = 0, binding = 1) readonly buffer Answers { uint answers[]; };
layout(set = 0, binding = 2) readonly buffer Weights { vec4 weights[]; };
layout(set = 0, binding = 3) readonly buffer Bias { float bias[]; };
layout(set = 0, binding = 4) writeonly buffer Outputs { float outputs[]; };
layout(set = 0, binding = 5) writeonly buffer Sums { float sums[]; };
layout(set = 0, binding = 6) writeonly buffer Inputs { vec4 inputs[]; };
layout(set = 0, binding = 7) writeonly buffer Targets { uint targets[]; };
layout(push_constant) uniform Params { // GatheredDenseParams
    GatherBatchParams batch;
    DenseParams params;
};

uint productM() { return params.rows; }
uint productN() { return params.outputStride; }
uint productK() { return params.inputStride; }
const bool aAlongK = true;
const bool bAlongK = true;
const bool sumRowsOfA = false;

shared uint exampleOf[groupM * tileM]; // of the workgroup's rows

// Once, and not for every value: the order is a permutation that takes a while to compute.
void findExamples() {
    uint firstRow = gl_WorkGroupID.y * groupM * tileM;
    for (uint m = gl_LocalInvocationIndex; m < groupM * tileM; m += groupSize) {
        uint row = firstRow + m;
        if (row >= params.rows) continue;
        uint position = batch.first + row;
        uint example = batch.shuffle != 0 ? orderIndex(position, batch.count, batch.keys) : position;
        exampleOf[m] = example;
        if (gl_WorkGroupID.x == 0)
            for (uint t = 0; t < batch.targetWidth; ++t)
                targets[row * batch.targetWidth + t] = answers[example * batch.targetWidth + t];
    }
    barrier();
}
#define BEGIN findExamples();
uint groupRow() { return gl_WorkGroupID.y; }
uint groupColumn() { return gl_WorkGroupID.x; }

vec4 valuesOf(uint example, uint i) {
    if (!pixels) return uintBitsToFloat(sourceFours[(example * batch.sourceStride + i) / 4]);
    uint word = source[example * batch.sourceStride + i / 4];
    return vec4(bitfieldExtract(word, 0, 8), bitfieldExtract(word, 8, 8), bitfieldExtract(word, 16, 8),
                bitfieldExtract(word, 24, 8)) *
           (1.0 / 255.0);
}

vec4 loadA(uint row, uint i) {
    vec4 four = valuesOf(exampleOf[row % (groupM * tileM)], i);
    if (gl_WorkGroupID.x == 0) inputs[(row * params.inputStride + i) / 4] = four;
    return four;
}
vec4 loadB(uint i, uint o) { return weights[(min(o, params.outputs - 1) * params.inputStride + i) / 4]; }

void store(uint row, uint o, float product) {
    bool inside = o < params.outputs;
    float sum = inside ? product + bias[o] : 0.0;
    uint at = row * params.outputStride + o;
    outputs[at] = inside ? activate(activation, sum) : 0.0;
    if (derivativeNeedsSum(activation)) sums[at] = sum;
}

void storeRowSum(uint m, float sum) {}

#include "product_tiled.glsl"
