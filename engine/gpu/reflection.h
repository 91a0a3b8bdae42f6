// Reads a compute shader's interface from its SPIR-V, so that nothing has to be declared twice.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace lockstep::gpu {

/// How a shader reads a buffer.
enum class BindingKind {
    storage, ///< `buffer`: values of any type, read and written
    texels,  ///< `textureBuffer`: vec4s by texelFetch, through the texture units; read-only
};

/// The format of texels in memory. Shaders see floats in either case.
enum class TexelFormat { floats, halves };

struct ShaderBinding {
    std::uint32_t binding = 0;
    std::string name;
    BindingKind kind = BindingKind::storage;
    bool reads = true;
    bool writes = true;
};

/// Values of specialisation constants by id; others keep their defaults.
using SpecConstants = std::map<std::uint32_t, std::uint32_t>;

/// The extension that a shader uses for cooperative matrices.
enum class MatrixDialect { none, khr, nv };

struct ShaderInfo {
    MatrixDialect matrices = MatrixDialect::none;
    std::vector<ShaderBinding> bindings; ///< buffers of set 0, by binding; several names are one buffer
    std::uint32_t pushConstantBytes = 0;
    std::uint32_t groupSize[3] = {1, 1, 1}; ///< invocations per workgroup
    std::uint32_t sharedBytes = 0;          ///< size of all workgroup-shared variables
    std::uint32_t privateBytes = 0;         ///< size of an invocation's own variables; 2^32 - 1: unknown
    SpecConstants specConstants;            ///< every id in the shader, with its effective value
};

/// Reads the module, specialised by the given constants. Throws std::runtime_error, naming `shader`, if it is
/// not a SPIR-V compute shader, uses a set other than 0 or resources other than buffers, or lacks a constant.
ShaderInfo reflect(std::span<const std::uint32_t> words, const SpecConstants& constants,
                   const std::string& shader);

/// The values of the module's 32-bit integer constants by result id, specialised by the given constants, as
/// far as they are known. Throws as reflect().
std::map<std::uint32_t, std::uint32_t> integerConstants(std::span<const std::uint32_t> words,
                                                        const SpecConstants& constants,
                                                        const std::string& shader);

/// The sizes in bytes of the module's types by result id, specialised by the given constants; 2^32 - 1 where
/// they are unknown. Throws as reflect().
std::map<std::uint32_t, std::uint64_t> typeSizes(std::span<const std::uint32_t> words,
                                                 const SpecConstants& constants, const std::string& shader);

} // namespace lockstep::gpu
