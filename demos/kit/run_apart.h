// Work that may crash, or never end, without harm to the program.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace lockstep::demos {

struct ApartLimits {
    unsigned seconds = 10;                             ///< of processor time
    std::uint64_t moreMemory = std::uint64_t{1} << 30; ///< bytes, beside what the program has
};

/// Runs `work` in a copy of this process (fork), and returns what it returns; nothing if it crashed, threw or
/// went beyond the limits, or if the system has no room for a copy. One at a time: others wait.
/// Only the calling thread is in the copy: `work` must not wait for others, nor for locks that they may hold.
std::optional<std::string> runApart(const std::function<std::string()>& work, const ApartLimits& limits);

} // namespace lockstep::demos
