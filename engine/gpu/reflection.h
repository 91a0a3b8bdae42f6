// What a compute shader says about itself: read from its SPIR-V, so that nothing is written twice.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lockstep::gpu {

/// How a shader reads a buffer.
enum class BindingKind {
    storage, ///< `buffer`: values of any type, read and written
    texels,  ///< `textureBuffer`: vec4s of floats by texelFetch, through the units that read pictures; only
             ///< read
};

/// What four numbers of a texel buffer are in memory. A shader does not say: it sees floats.
enum class TexelFormat { floats, halves };

struct ShaderBinding {
    std::uint32_t binding = 0;
    std::string name;
    BindingKind kind = BindingKind::storage;
    bool reads = true;
    bool writes = true;
};

/// A specialisation constant's value by its id; constants not named keep their default.
using SpecConstants = std::map<std::uint32_t, std::uint32_t>;

/// The extension that a shader's cooperative matrices are written for.
enum class MatrixDialect { none, khr, nv };

struct ShaderInfo {
    MatrixDialect matrices = MatrixDialect::none;
    std::vector<ShaderBinding> bindings; ///< buffers of set 0, by binding; each once, whatever its names
    std::uint32_t pushConstantBytes = 0;
    std::uint32_t groupSize[3] = {1, 1, 1}; ///< invocations per workgroup
    std::uint32_t sharedBytes = 0;          ///< of workgroup-shared variables
    SpecConstants specConstants;            ///< every id that the shader knows, with the value it will have
};

/// Reads the module with the constants set. Throws std::runtime_error, naming `shader`, when it is not a
/// compute shader in SPIR-V, uses another set than 0 or another resource than buffers, or has no constant of
/// a given id.
ShaderInfo reflect(std::span<const std::uint32_t> words, const SpecConstants& constants,
                   const std::string& shader);

} // namespace lockstep::gpu
