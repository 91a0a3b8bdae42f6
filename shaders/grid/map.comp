#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// Networks of a map, everything unrolled: weights and gradients stay in registers.
#include "map_network.glsl"

float first[hidden * inputs];
float second[hidden];
float dFirst[hidden * inputs];
float dSecond[hidden];

void loadWeights() {
    [[unroll]] for (uint k = 0; k < hidden * inputs; ++k) first[k] = state[at(k)];
    [[unroll]] for (uint h = 0; h < hidden; ++h) second[h] = state[at(hidden * inputs + h)];
}

void saveWeights() {
    [[unroll]] for (uint k = 0; k < hidden * inputs; ++k) state[at(k)] = first[k];
    [[unroll]] for (uint h = 0; h < hidden; ++h) state[at(hidden * inputs + h)] = second[h];
}

// Adds an example's part to the gradients; returns its error.
float addExample(uint example) {
    readExample(example);
    float values[hidden];
    float answer = 0.0;
    [[unroll]] for (uint h = 0; h < hidden; ++h) {
        float z = 0.0;
        [[unroll]] for (uint i = 0; i < inputs; ++i) z = fma(first[h * inputs + i], x[i], z);
        values[h] = activated(z);
        answer = fma(second[h], values[h], answer);
    }
    float error = errorOf(answer);
    [[unroll]] for (uint h = 0; h < hidden; ++h) {
        dSecond[h] = fma(error, values[h], dSecond[h]);
        float d = derived(error * second[h], values[h]);
        [[unroll]] for (uint i = 0; i < inputs; ++i) dFirst[h * inputs + i] = fma(d, x[i], dFirst[h * inputs + i]);
    }
    return error;
}

// And its gradients, in the same pass over the examples.
float loss() {
    [[unroll]] for (uint k = 0; k < hidden * inputs; ++k) dFirst[k] = 0.0;
    [[unroll]] for (uint h = 0; h < hidden; ++h) dSecond[h] = 0.0;
    float squares = 0.0;
    [[dont_unroll]] for (uint example = 0; example < params.examples; ++example) {
        float error = addExample(example);
        squares = fma(error, error, squares);
    }
    return squares;
}

void learn(MapStart start) {
    [[unroll]] for (uint k = 0; k < hidden * inputs; ++k) first[k] = fma(-start.firstStep, dFirst[k], first[k]);
    [[unroll]] for (uint h = 0; h < hidden; ++h) second[h] = fma(-start.secondStep, dSecond[h], second[h]);
}
