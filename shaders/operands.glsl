// How kernels that read vec4s see their operands: as storage buffers, or, where the including shader defines TEXELS, as texture
// buffers. A GPU reads both through the same cache, or texture buffers through one more; software Vulkan fetches texels for
// a whole vector of invocations at once, and storage buffers one invocation after another.
#ifdef TEXELS
#define OPERAND(where, Block, name) layout(set = 0, binding = where) uniform textureBuffer name;
#define FOUR(name, at) texelFetch(name, int(at))
#else
#define OPERAND(where, Block, name) layout(set = 0, binding = where) readonly buffer Block { vec4 name[]; };
#define FOUR(name, at) name[at]
#endif
