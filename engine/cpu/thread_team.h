// Threads that march in lockstep: all of them run the same function, each on its own share of the data, and
// wait for each other at barriers, as the invocations of a workgroup do.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace lockstep {

/// The calling thread and `threads - 1` workers (at most 4,095), which sleep between calls of run(). Used by
/// one thread at a time. A team of one never waits.
class ThreadTeam {
  public:
    /// Throws std::runtime_error if the system cannot start that many threads.
    explicit ThreadTeam(std::size_t threads);
    ~ThreadTeam();
    ThreadTeam(const ThreadTeam&) = delete;
    ThreadTeam& operator=(const ThreadTeam&) = delete;

    std::size_t size() const { return size_; }

    /// work(0) on the calling thread and work(t) on worker t, for the first `threads` threads of the team, at
    /// the same time; returns when all are done. `work` must not throw, or the others would wait for ever.
    /// Libraries that it calls cannot start OpenMP threads meanwhile.
    void run(const std::function<void(std::size_t thread)>& work, std::size_t threads);
    void run(const std::function<void(std::size_t thread)>& work) { run(work, size_); }

    /// Returns when every thread of this run has called it. Everything written before it is visible to all
    /// threads after it.
    void barrier() {
        if (running_ > 1) waitForAll();
    }

  private:
    void waitForAll();
    void waitForWorkers();
    void workerLoop(std::size_t thread);
    void call(std::uint32_t threads);
    void dismiss();

    std::size_t size_;
    std::size_t running_ = 1; ///< threads of the current run
    /// Wakes the workers. It counts runs; its lowest bits say how many threads are called. The others may
    /// sleep through the run.
    alignas(64) std::atomic<std::uint32_t> call_{0};
    alignas(64) std::atomic<std::uint32_t> finished_{0};
    alignas(64) std::atomic<std::uint32_t> arrived_{0};
    alignas(64) std::atomic<std::uint32_t> generation_{0};
    const std::function<void(std::size_t)>* work_ = nullptr;
    std::atomic<bool> dismissed_{false};
    std::vector<std::thread> workers_;
};

/// The share [begin, end) of `count` items that falls to `thread` of `threads`, cut at multiples of `grain`.
struct Share {
    std::size_t begin = 0;
    std::size_t end = 0;
};
Share shareOf(std::size_t count, std::size_t thread, std::size_t threads, std::size_t grain = 1);

} // namespace lockstep
