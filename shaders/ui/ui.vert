#version 450
// The window's triangles: pixels to clip space. position, textureAt and colour are ImGui's vertex.

layout(location = 0) in vec2 position; // pixels from the top left corner
layout(location = 1) in vec2 textureAt;
layout(location = 2) in vec4 colour;

layout(push_constant) uniform Params {
    vec2 scale;     // 2 / size of the picture
    vec2 translate; // of the top left corner, to (-1, -1)
};

layout(location = 0) out vec2 fragmentTextureAt;
layout(location = 1) out vec4 fragmentColour;

void main() {
    fragmentTextureAt = textureAt;
    fragmentColour = colour;
    gl_Position = vec4(position * scale + translate, 0, 1);
}
