// A shader of the program that also notes what it reads and writes. Nothing of its arithmetic is told a
// second time: the text that the program runs is taken, and every index into a buffer, a texture buffer or
// shared memory is passed through a function that writes it down and returns it.
#pragma once

#include <cstdint>
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

    bool operator==(const RecordedArray&) const = default;
};

inline constexpr std::uint32_t firstSharedId = 32;

struct RecordingShader {
    std::string text;
    std::vector<RecordedArray> arrays;
    std::uint32_t binding = 0; ///< of the buffer with the record, after the shader's own
};

/// The record: words at the buffer's beginning, then for each invocation of the recorded workgroup its number
/// of events and `capacity` events of two words, what and at.
struct RecordWords {
    static constexpr std::uint32_t bytesRead = 0;    ///< of all workgroups, from buffers: low word, high word
    static constexpr std::uint32_t bytesWritten = 2; ///< likewise
    static constexpr std::uint32_t capacity = 4;     ///< events of an invocation
    static constexpr std::uint32_t groupX = 5;       ///< the recorded workgroup
    static constexpr std::uint32_t groupY = 6;
    static constexpr std::uint32_t events = 8;        ///< of invocation 0
    static constexpr std::uint32_t barrier = 0xFFFFu; ///< what: all invocations waited for each other
    static constexpr std::uint32_t write = 0x100u;    ///< added to an id
};

enum class Recording {
    bytes,  ///< as fast as the kernel itself, or nearly: only sums
    events, ///< loops stay loops, so that small products alone fit into what software drivers allow a shader
};

/// The shader with its includes expanded, and recording. Throws std::runtime_error when it has nothing that
/// could be recorded, or an element of unknown size.
RecordingShader recordingShader(const std::string& stem, Recording recording);

/// The same of a text whose includes are expanded.
RecordingShader recordingShaderOf(const std::string& expandedText, const std::string& stem,
                                  Recording recording);

} // namespace lockstep::demos
