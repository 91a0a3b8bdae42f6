// Shaders that record what they read and write.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lockstep::demos {

/// Something that a shader indexes.
struct RecordedArray {
    std::string name;          ///< as in the shader: "inputs", "aSlab"
    std::uint32_t id = 0;      ///< its binding; shared memory: firstSharedId and up
    std::uint32_t bytes = 4;   ///< of one element
    std::uint32_t numbers = 1; ///< in one element: 4 of a vec4, or of halves in two words
    bool shared = false;
};

inline constexpr std::uint32_t firstSharedId = 32;

enum class Recording {
    bytes,  ///< as fast as the kernel itself, or nearly: only sums
    events, ///< loops stay loops, so that small products alone fit into what software drivers allow a shader
};

/// The record: words at the buffer's beginning, then for each invocation of the recorded workgroup its number
/// of events and `capacity` events of two words, what and at.
namespace recordLayout {

inline constexpr std::uint32_t bytesRead = 0;    // of all workgroups, from buffers: low word, high word
inline constexpr std::uint32_t bytesWritten = 2; // likewise
inline constexpr std::uint32_t capacity = 4;     // events of an invocation
inline constexpr std::uint32_t groupX = 5;       // the recorded workgroup
inline constexpr std::uint32_t groupY = 6;
inline constexpr std::uint32_t events = 8;        // of invocation 0
inline constexpr std::uint32_t barrier = 0xFFFFu; // what: all invocations waited for each other
inline constexpr std::uint32_t write = 0x100u;    // added to an id

} // namespace recordLayout

struct RecordingShader {
    std::vector<std::uint32_t> words;
    std::vector<RecordedArray> arrays;
    std::uint32_t binding = 0; ///< of the buffer with the record, after the shader's own
};

/// The module with every load, store and fetch of a texel recorded, and every barrier. It has been compiled
/// with the names of its variables. Throws std::runtime_error when it has nothing that could be recorded, or
/// elements other than 32-bit numbers and vectors of two or four of them.
///   stem         its name for messages
///   texelBytes   of a texel buffer's elements, which are four numbers each
RecordingShader recordingShaderOf(std::span<const std::uint32_t> words, const std::string& stem,
                                  Recording recording, std::uint32_t texelBytes);

} // namespace lockstep::demos
