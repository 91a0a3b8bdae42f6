#version 450
#extension GL_GOOGLE_include_directive : require

// What is known of every network: results[member] from the parts of its score and from its weights. A network without a step
// has no loss.
// x: networks.
#include "math.glsl"
#include "population.h"
#include "population_network.glsl"

layout(local_size_x_id = 0) in;
layout(set = 0, binding = 0) readonly buffer Parameters { float parameters[]; }; // [parameter][place]
layout(set = 0, binding = 1) readonly buffer Networks { PopulationNetwork networks[]; };
layout(set = 0, binding = 2) readonly buffer States { PopulationState states[]; };
layout(set = 0, binding = 3) readonly buffer Parts { vec2 parts[]; }; // [part][place]: loss, hits
layout(set = 0, binding = 4) writeonly buffer Results { PopulationResult results[]; };
layout(push_constant) uniform Params { PopulationScoreParams params; };

float squares(uint place, uint first, uint count, float unit) {
    float sum = 0.0;
    for (uint p = first; p < first + count; ++p) {
        float weight = parameters[p * params.places + place] * unit;
        sum = fma(weight, weight, sum);
    }
    return sum;
}

float squaresOfWeights(uint place, float unit) {
    float sum = squares(place, 0, width0 * width1, unit);
    if (layers > 1) sum += squares(place, weights1, width1 * width2, unit);
    if (layers > 2) sum += squares(place, weights2, width2 * width3, unit);
    if (layers > 3) sum += squares(place, weights3, width3 * width4, unit);
    if (layers > 4) sum += squares(place, weights4, width4 * width5, unit);
    return sum;
}

// Where the squares leave the range of a float, of weights in another unit.
float weightNorm(uint place) {
    const float large = 1.2089258196146292e24; // 2^80
    const float small = 8.2718061255302767e-25;
    float sum = squaresOfWeights(place, 1.0);
    if (isNotFinite(sum)) return sqrt(squaresOfWeights(place, small)) * large;
    if (sum < small) return sqrt(squaresOfWeights(place, large)) * small;
    return sqrt(sum);
}

void main() {
    uint place = gl_GlobalInvocationID.x;
    if (place >= params.networks) return;
    vec2 sum = vec2(0.0);
    for (uint part = 0; part < params.parts; ++part) sum += parts[part * params.places + place];
    PopulationState state = states[place];
    bool begun = state.steps > 0 || state.diverged != 0;
    float unknown = uintBitsToFloat(0x7FC00000u); // not a number
    float loss = begun ? sum.x / params.terms : unknown;
    float accuracy = begun && params.classes > 0 ? sum.y / float(params.examples) : unknown;
    uint member = networks[place].member;
    results[member] = PopulationResult(state.steps, state.diverged, state.batchLoss, loss, accuracy, weightNorm(place));
}
