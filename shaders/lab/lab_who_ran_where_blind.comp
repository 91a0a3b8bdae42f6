#version 450
#extension GL_GOOGLE_include_directive : require

// lab_who_ran_where for devices whose shaders cannot read a clock: the work alone.
#include "lab_who_ran_where.glsl"

void main() { workOfGroup(); }
