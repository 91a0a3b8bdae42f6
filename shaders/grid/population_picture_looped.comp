#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// Decision maps of networks that are too large for that: loops, and parameters from their buffer as they are needed.
#define LOOPED
#include "population_picture.glsl"
