// Work that may crash, or never end, without harm to the program.
#pragma once

#include <cstdint>
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

/// Work that is done apart: a function of bytes. One object for each, of static storage duration: on Windows,
/// where a process cannot be copied, the program is started once more and finds the work by its name.
class ApartWork {
  public:
    using Function = std::string (*)(const std::string& input);

    /// `name` has letters and hyphens.
    ApartWork(const char* name, Function function);
    ApartWork(const ApartWork&) = delete;
    ApartWork& operator=(const ApartWork&) = delete;

    /// Does it in a copy of this process (fork), or on Windows in a new process, and waits. One at a time:
    /// others wait. In a copy there is only the calling thread: the function must not wait for others, nor
    /// for locks that they may hold. In a new process, nothing is as the program has made it since main()
    /// began.
    ApartOutcome run(const std::string& input, const ApartLimits& limits = {}) const;

  private:
    friend void serveApart();

    [[maybe_unused]] const char* name_;
    Function function_;
    [[maybe_unused]] const ApartWork* next_; // of all, in a list
};

/// The first line of every main() of a program that runs such work. In a process that ApartWork::run() has
/// started it does the work and ends the process; in any other, it does nothing.
void serveApart();

} // namespace lockstep::platform
