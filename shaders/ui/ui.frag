#version 450
// The window's pixels: the vertex colour times a picture (text is a picture of its letters).

layout(location = 0) in vec2 textureAt;
layout(location = 1) in vec4 colour;
layout(set = 0, binding = 0) uniform sampler2D picture;

layout(location = 0) out vec4 pixel;

void main() { pixel = colour * texture(picture, textureAt); }
