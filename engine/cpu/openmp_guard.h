// Keeps a library that uses OpenMP (oneDNN, as most systems build it) on the thread that calls it.
#pragma once

namespace lockstep {

/// While it lives, OpenMP regions entered from this thread run on this thread alone. Does nothing in a
/// process without OpenMP. The setting belongs to the thread; other threads of the program keep theirs.
class OpenMpGuard {
  public:
    OpenMpGuard();
    ~OpenMpGuard();
    OpenMpGuard(const OpenMpGuard&) = delete;
    OpenMpGuard& operator=(const OpenMpGuard&) = delete;

  private:
    int threadsBefore_ = 0;
};

} // namespace lockstep
