// Ends a piece of work that takes too long, through the flag that it watches.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace lockstep::demos {

class TimeLimit {
  public:
    /// Sets flag() after so many seconds, or once `stop` is set.
    TimeLimit(double seconds, const std::atomic<bool>& stop)
        : over_(seconds <= 0 || stop),
          thread_([this, seconds, &stop](const std::stop_token& done) { watch(seconds, stop, done); }) {}
    TimeLimit(const TimeLimit&) = delete;
    TimeLimit& operator=(const TimeLimit&) = delete;

    const std::atomic<bool>* flag() const { return &over_; }
    bool over() const { return over_; }

  private:
    void watch(double seconds, const std::atomic<bool>& stop, const std::stop_token& done) {
        using Clock = std::chrono::steady_clock;
        const std::chrono::duration<double> most(std::min(seconds, 1e8)); // the clock counts nanoseconds
        const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(most);
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any wakes;
        while (!over_ && !done.stop_requested()) {
            wakes.wait_for(lock, done, std::chrono::milliseconds(50), [] { return false; });
            if (stop || Clock::now() >= end) over_ = true;
        }
    }

    std::atomic<bool> over_;
    std::jthread thread_;
};

} // namespace lockstep::demos
