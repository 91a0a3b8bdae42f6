// parts[part][place] = the sum of a network's loss terms over `rows` examples from example part * rows on, and how many of them
// it answers rightly. The answer is the class of the largest output (the first among equals), or of the sign of a single one.
// x: networks, y: parts.
// Small networks have everything in registers and every loop unrolled; larger ones define LOOPED (population_answers.glsl).
#include "population.h"

layout(local_size_x_id = 0) in;
layout(push_constant) uniform Params { PopulationScoreParams params; };

#include "population_answers.glsl"

layout(set = 0, binding = 1) readonly buffer Networks { PopulationNetwork networks[]; };
layout(set = 0, binding = 2) readonly buffer Examples { vec4 examples[]; }; // [data set][example][exampleQuads]
layout(set = 0, binding = 3) writeonly buffer Parts { vec2 parts[]; };

vec4 wanted[outputs];
uint element; // of the four examples, the one at hand

float outputOf(uint j) { return values[answersAt + j][element]; }
float wantedOf(uint j) { return wanted[j][element]; }
#include "population_loss.glsl"

void gather(uint example, uint column) {
    [[unroll]] for (uint quad = 0; quad < exampleQuads; ++quad) {
        vec4 four = examples[example * exampleQuads + quad];
        [[unroll]] for (uint k = 0; k < 4; ++k) {
            uint at = 4 * quad + k;
            if (at < inputs) values[at][column] = four[k];
            else if (at < inputs + outputs) wanted[at - inputs][column] = four[k];
        }
    }
}

bool right() {
    if (outputs == 1) return (outputOf(0) > (outputActivation == activation_sigmoid ? 0.5 : 0.0)) == (wantedOf(0) > 0.5);
    uint answer = 0;
    uint label = 0;
    float largest = outputOf(0);
    [[unroll]] for (uint j = 0; j < outputs; ++j) {
        if (wantedOf(j) > 0.5) label = j;
        if (!(outputOf(j) > largest)) continue; // nor does a NaN win
        answer = j;
        largest = outputOf(j);
    }
    return answer == label;
}

void main() {
    uint place = params.first + gl_GlobalInvocationID.x;
    uint part = params.firstPart + gl_GlobalInvocationID.y;
    if (gl_GlobalInvocationID.x >= params.networks) return;
    load(place);
    uint firstExample = networks[place].data * params.examples;
    uint end = min((part + 1) * params.rows, params.examples);
    vec2 total = vec2(0.0);
    for (uint row = part * params.rows; row < end; row += 4) {
        [[unroll]] for (uint k = 0; k < 4; ++k) gather(firstExample + min(row + k, end - 1), k);
        forward();
        UNROLLED for (uint k = 0; k < 4; ++k) {
            element = k;
            if (row + k < end) total += vec2(exampleLoss(softmaxOfOutputs()), params.classes > 0 && right() ? 1.0 : 0.0);
        }
    }
    parts[part * params.places + place] = total;
}
