// Shaders that note when each of their workgroups ran.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lockstep::gpu {

/// A workgroup's time, on the device's clock (Limits::deviceClock), whose unit is the device's own.
struct WorkgroupTime {
    std::uint32_t group[3] = {0, 0, 0}; ///< gl_WorkGroupID
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

/// What a shader with a clock writes: the number of its workgroups that have ended, and from word
/// `clockHeaderWords` on a record of `clockRecordWords` for each, in the order of their ends: begin, end (low
/// word, high word), gl_WorkGroupID.
inline constexpr std::uint32_t clockHeaderWords = 8;
inline constexpr std::uint32_t clockRecordWords = 8;

inline constexpr std::uint32_t mostClockedGroups = 4096; ///< noted of a dispatch, those that end first

/// The records in such a buffer.
std::vector<WorkgroupTime> workgroupTimes(std::span<const std::uint32_t> words);

/// Returns the module with an entry point around its own: it reads the device's clock, runs main(), waits for
/// the whole workgroup at a barrier, reads the clock once more, and the first invocation writes the record
/// into the buffer at `binding` of set 0. Records beyond the buffer's size are left out.
/// Throws std::runtime_error, naming `shader`, for a module that is not what a GLSL compiler makes.
std::vector<std::uint32_t> withWorkgroupClock(std::span<const std::uint32_t> words, const std::string& shader,
                                              std::uint32_t binding);

} // namespace lockstep::gpu
