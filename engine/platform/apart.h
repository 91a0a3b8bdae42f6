// Work that may crash, or never end, without harm to the program.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace lockstep::platform {

struct ApartLimits {
    unsigned seconds = 10;                             ///< of processor time
    std::uint64_t moreMemory = std::uint64_t{1} << 30; ///< bytes, beside what the program has
};

/// How work apart has ended.
enum class ApartEnd {
    finished,
    threw,
    outOfMemory, ///< beyond ApartLimits::moreMemory
    outOfTime,   ///< beyond ApartLimits::seconds
    division,    ///< crashed by a division of integers: SIGFPE
    crashed,     ///< in another way
    notStarted,  ///< the system has no room for a copy
};

struct ApartOutcome {
    ApartEnd end = ApartEnd::notStarted;
    std::string output; ///< what the work returned, if it has finished
};

/// Runs `work` in a copy of this process (fork). One at a time: others wait.
/// Only the calling thread is in the copy: `work` must not wait for others, nor for locks that they may hold.
/// Windows cannot copy a process: there, `work` runs in this one, its exceptions are outcomes, and a crash or
/// an endless loop is the program's.
ApartOutcome runApart(const std::function<std::string()>& work, const ApartLimits& limits);

} // namespace lockstep::platform
