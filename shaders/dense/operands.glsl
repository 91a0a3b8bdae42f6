// How kernels that read vec4s see their operands: as storage buffers, or, where the including shader defines TEXELS, as texture
// buffers. A GPU reads both through the same cache, or texture buffers through one more; software Vulkan fetches texels for
// a whole vector of invocations at once, and storage buffers one invocation after another.
// Where it defines HALVES, operands and results are halves, and still vec4s of floats in registers (half.glsl). Where it defines
// WORDS, four halves can also be had as they lie in memory.
#ifdef HALVES
#include "half.glsl"
#define STORED uvec2
#define PACK(four) packFour(four)
#define UNPACK(words) unpackFour(words)
#else
#define STORED vec4
#define PACK(four) four
#define UNPACK(four) four
#endif

#ifdef TEXELS
#define OPERAND(where, Block, name) layout(set = 0, binding = where) uniform textureBuffer name;
#define FOUR(name, at) texelFetch(name, int(at))
#else
#define OPERAND(where, Block, name) layout(set = 0, binding = where) readonly buffer Block { STORED name[]; };
#define FOUR(name, at) UNPACK(name[at])
#endif
