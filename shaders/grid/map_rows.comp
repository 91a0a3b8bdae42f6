#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// Networks of a map that do not fit into registers: a few hidden neurons at a time, whose weights and gradients do.
// The weights stay in memory; behind the notes, state has a value per example: what the neurons so far add up to, then the error.
#include "map_network.glsl"

layout(constant_id = 4) const uint rows = 4; // hidden neurons at a time

float first[rows * inputs];
float second[rows];
float dFirst[rows * inputs];
float dSecond[rows];

void loadWeights() {}
void saveWeights() {}

uint atExample(uint example) { return at(weights + notes + example); }

// Neurons [from, from + rows); those behind the last one have no weights, and add nothing.
void loadRows(uint from) {
    [[unroll]] for (uint r = 0; r < rows; ++r) {
        bool there = from + r < hidden;
        [[unroll]] for (uint i = 0; i < inputs; ++i)
            first[r * inputs + i] = there ? state[at((from + r) * inputs + i)] : 0.0;
        second[r] = there ? state[at(hidden * inputs + from + r)] : 0.0;
    }
}

float valueOf(uint r) {
    float z = 0.0;
    [[unroll]] for (uint i = 0; i < inputs; ++i) z = fma(first[r * inputs + i], x[i], z);
    return activated(z);
}

float loss() {
    float squares = 0.0;
    [[dont_unroll]] for (uint from = 0; from < hidden; from += rows) {
        loadRows(from);
        [[dont_unroll]] for (uint example = 0; example < params.examples; ++example) {
            readExample(example);
            float answer = from == 0 ? 0.0 : state[atExample(example)];
            [[unroll]] for (uint r = 0; r < rows; ++r) answer = fma(second[r], valueOf(r), answer);
            bool whole = from + rows >= hidden;
            float error = errorOf(answer);
            state[atExample(example)] = whole ? error : answer;
            squares = whole ? fma(error, error, squares) : squares;
        }
    }
    return squares;
}

void addExample(uint example) {
    readExample(example);
    float error = state[atExample(example)];
    [[unroll]] for (uint r = 0; r < rows; ++r) {
        float value = valueOf(r);
        dSecond[r] = fma(error, value, dSecond[r]);
        float d = derived(error * second[r], value);
        [[unroll]] for (uint i = 0; i < inputs; ++i) dFirst[r * inputs + i] = fma(d, x[i], dFirst[r * inputs + i]);
    }
}

void updateRows(uint from, MapStart start) {
    [[unroll]] for (uint r = 0; r < rows; ++r) {
        if (from + r >= hidden) continue;
        [[unroll]] for (uint i = 0; i < inputs; ++i)
            state[at((from + r) * inputs + i)] = fma(-start.firstStep, dFirst[r * inputs + i], first[r * inputs + i]);
        state[at(hidden * inputs + from + r)] = fma(-start.secondStep, dSecond[r], second[r]);
    }
}

void learn(MapStart start) {
    [[dont_unroll]] for (uint from = 0; from < hidden; from += rows) {
        loadRows(from);
        [[unroll]] for (uint k = 0; k < rows * inputs; ++k) dFirst[k] = 0.0;
        [[unroll]] for (uint r = 0; r < rows; ++r) dSecond[r] = 0.0;
        [[dont_unroll]] for (uint example = 0; example < params.examples; ++example) addExample(example);
        updateRows(from, start);
    }
}
