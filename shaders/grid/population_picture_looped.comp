#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// The picture of what every network of a population answers over the plane (population_picture.glsl).
// Larger networks: loops, and parameters from their buffer as they are needed.
#define LOOPED
#include "population_picture.glsl"
