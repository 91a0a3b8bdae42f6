// The shape of a population's networks, as constants from which private arrays can be cut and loops unrolled.
#ifndef LOCKSTEP_POPULATION_NETWORK_GLSL
#define LOCKSTEP_POPULATION_NETWORK_GLSL
#include "activation.glsl"

layout(constant_id = 2) const uint outputActivation = 0;
layout(constant_id = 4) const uint hiddenActivation = 0;
layout(constant_id = 9) const uint layers = 1;
layout(constant_id = 10) const uint width0 = 1; // of the inputs, then of every layer's outputs; 0 behind the last
layout(constant_id = 11) const uint width1 = 1;
layout(constant_id = 12) const uint width2 = 0;
layout(constant_id = 13) const uint width3 = 0;
layout(constant_id = 14) const uint width4 = 0;
layout(constant_id = 15) const uint width5 = 0;

const uint inputs = width0;
const uint outputs = layers == 1 ? width1 : layers == 2 ? width2 : layers == 3 ? width3 : layers == 4 ? width4 : width5;

// Where a layer's weights and then its biases begin, and how many there are of all layers.
const uint weights1 = (width0 + 1) * width1;
const uint weights2 = weights1 + (width1 + 1) * width2;
const uint weights3 = weights2 + (width2 + 1) * width3;
const uint weights4 = weights3 + (width3 + 1) * width4;
const uint parameterCount = weights4 + (width4 + 1) * width5;

// Where a level's values begin, the inputs' at 0, and how many there are of all levels.
const uint values2 = width0 + width1;
const uint values3 = values2 + width2;
const uint values4 = values3 + width3;
const uint values5 = values4 + width4;
const uint valueCount = values5 + width5;
const uint answersAt = valueCount - outputs;

// An example is its inputs, then the number that each output is compared with (cross-entropy: 1 for its class, else 0),
// then zeros up to a whole vec4.
const uint exampleQuads = (inputs + outputs + 3) / 4;

uint activationOf(uint layer) { return layer + 1 == layers ? outputActivation : hiddenActivation; }

#endif
