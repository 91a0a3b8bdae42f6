#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// Loss terms and correct predictions of every network of a population (population_score.glsl).
// Larger networks: loops, and parameters from their buffer as they are needed.
#define LOOPED
#include "population_score.glsl"
