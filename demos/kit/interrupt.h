// Ctrl-C, and a closed terminal, as a wish to stop and still see the results.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "engine/platform/interrupt.h"

namespace lockstep::demos {

using platform::InterruptGuard;

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
