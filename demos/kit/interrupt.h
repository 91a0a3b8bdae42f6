// Ctrl-C, and a closed terminal, as a wish to stop and still see the results.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <stop_token>
#include <thread>

namespace lockstep::demos {

/// While it lives, the first interrupt (SIGINT, SIGTERM, SIGHUP) is only noted; a second SIGINT or SIGTERM
/// ends the program at once. A second SIGHUP does not: a terminal that closes may send two. Where SIGHUP is
/// ignored, as under nohup, it stays ignored. Keep it until the results are written.
class InterruptGuard {
  public:
    InterruptGuard() {
        seen_ = 0;
        previousInterrupt_ = std::signal(SIGINT, note);
        previousTerminate_ = std::signal(SIGTERM, note);
        previousHangUp_ = std::signal(SIGHUP, note);
        if (previousHangUp_ == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
    }
    ~InterruptGuard() {
        std::signal(SIGINT, previousInterrupt_);
        std::signal(SIGTERM, previousTerminate_);
        std::signal(SIGHUP, previousHangUp_);
    }
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    /// The exit code for the signal that came (130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP); 0 while none
    /// has.
    int exitCode() const { return seen_ == 0 ? 0 : 128 + static_cast<int>(seen_); }

  private:
    static void note(int signal) {
        seen_ = signal;
        if (signal != SIGHUP) std::signal(signal, SIG_DFL);
    }

    inline static volatile std::sig_atomic_t seen_ = 0;
    void (*previousInterrupt_)(int);
    void (*previousTerminate_)(int);
    void (*previousHangUp_)(int);
};

/// Sets `stop`, which long work watches, within 50 ms of the first interrupt.
class InterruptWatch {
  public:
    InterruptWatch(const InterruptGuard& guard, std::atomic<bool>& stop)
        : thread_([&guard, &stop](const std::stop_token& done) { watch(guard, stop, done); }) {}

  private:
    static void watch(const InterruptGuard& guard, std::atomic<bool>& stop, const std::stop_token& done) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any wakes;
        while (!done.stop_requested() && guard.exitCode() == 0)
            wakes.wait_for(lock, done, std::chrono::milliseconds(50), [] { return false; });
        if (guard.exitCode() != 0) stop = true;
    }

    std::jthread thread_;
};

} // namespace lockstep::demos
