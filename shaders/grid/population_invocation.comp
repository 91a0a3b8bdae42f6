#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// Training steps of a population, a network per invocation: parameters, gradients, the optimizer's state and one example's
// values are private, and every loop over them is unrolled, so that they stay in registers. Buffers are read once and written
// once per dispatch, [parameter][place]. Sums go over a batch's rows in their order.
// x: networks.
#include "population_step.glsl"

float w[parameterCount];
float first[parameterCount];
float second[parameterCount];

#include "population_example.glsl"

void load(uint place) {
    [[unroll]] for (uint p = 0; p < parameterCount; ++p) {
        w[p] = parameters[p * params.places + place];
        first[p] = keepsFirst() ? firstState[p * params.places + place] : 0.0;
        second[p] = keepsSecond() ? secondState[p * params.places + place] : 0.0;
    }
}

void store(uint place, PopulationState state) {
    [[unroll]] for (uint p = 0; p < parameterCount; ++p) {
        parameters[p * params.places + place] = w[p];
        if (keepsFirst()) firstState[p * params.places + place] = first[p];
        if (keepsSecond()) secondState[p * params.places + place] = second[p];
    }
    states[place] = state;
}

// Gradients of the batch; returns its loss.
float learnFrom(uint step, PopulationRecord record, uint place, uint firstExample) {
    [[unroll]] for (uint p = 0; p < parameterCount; ++p) gradients[p] = 0.0;
    float total = 0.0;
    for (uint row = 0; row < record.rows; ++row)
        total += learnFromExample(firstExample + exampleOf(step, record, row, place), record.scale);
    return total * record.scale;
}

void update(UpdateParams how, uint place) {
    [[unroll]] for (uint p = 0; p < parameterCount; ++p) w[p] = updated(how, w[p], gradients[p], first[p], second[p]);
}

void main() {
    if (gl_GlobalInvocationID.x < params.networks) train(params.first + gl_GlobalInvocationID.x);
}
