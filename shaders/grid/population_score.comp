#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// Scores of small networks: everything in registers, every loop unrolled.
#include "population_score.glsl"
