// A trained network's answers to four examples side by side. Its parameters are read once and kept, [parameter][place].
#include "population_network.glsl"

layout(set = 0, binding = 0) readonly buffer Parameters { float parameters[]; };

float w[parameterCount];

void load(uint place) {
    [[unroll]] for (uint p = 0; p < parameterCount; ++p) w[p] = parameters[p * params.places + place];
}

#define VALUE vec4
float parameter(uint at) { return w[at]; }
vec4 activated(uint activation, vec4 z) {
    return vec4(activateFast(activation, z.x), activateFast(activation, z.y), activateFast(activation, z.z),
                activateFast(activation, z.w));
}
#include "population_forward.glsl"
