#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// The picture of what every network of a population answers over the plane (population_picture.glsl).
// Small networks: everything in registers, every loop unrolled.
#include "population_picture.glsl"
