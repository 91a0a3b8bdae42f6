// A trained network's answers to four examples side by side. Its parameters [parameter][place] are read once and kept, or, where
// the including shader has defined LOOPED, read as they are needed.
#include "population_network.glsl"

layout(set = 0, binding = 0) readonly buffer Parameters { float parameters[]; };

#ifdef LOOPED
uint ownPlace;

void load(uint place) { ownPlace = place; }

float parameter(uint at) { return parameters[at * params.places + ownPlace]; }
#else
float w[parameterCount];

void load(uint place) {
    [[unroll]] for (uint p = 0; p < parameterCount; ++p) w[p] = parameters[p * params.places + place];
}

float parameter(uint at) { return w[at]; }
#endif

#define VALUE vec4
vec4 activated(uint activation, vec4 z) {
    return vec4(activateFast(activation, z.x), activateFast(activation, z.y), activateFast(activation, z.z),
                activateFast(activation, z.w));
}
#include "population_forward.glsl"
