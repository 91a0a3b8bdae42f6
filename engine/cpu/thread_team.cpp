#include "engine/cpu/thread_team.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <system_error>

#include "engine/cpu/openmp_guard.h"

namespace lockstep {

namespace {

// A step is a few hundred microseconds and its shares are nearly equal, so a barrier's wait is short and
// spinning beats the system's wake-up call. A thread whose core was taken away comes late, though, and
// spinning for it only steals more time: after this many looks a thread goes to sleep.
constexpr int spinsBeforeSleep = 400;

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

} // namespace

ThreadTeam::ThreadTeam(std::size_t threads) : size_(std::max<std::size_t>(threads, 1)) {
    workers_.reserve(size_ - 1);
    try {
        for (std::size_t thread = 1; thread < size_; ++thread)
            workers_.emplace_back([this, thread] { workerLoop(thread); });
    } catch (const std::system_error& error) {
        const std::size_t started = workers_.size();
        arrived_.fetch_add(static_cast<std::uint32_t>(size_ - 1 - started)); // for those that never will
        dismiss();
        throw std::runtime_error("could not start thread " + std::to_string(started + 2) + " of " +
                                 std::to_string(size_) + ": " + error.what() + "; ask for fewer threads");
    }
}

ThreadTeam::~ThreadTeam() { dismiss(); }

void ThreadTeam::dismiss() {
    dismissed_ = true;
    barrier();
    for (std::thread& worker : workers_) worker.join();
}

void ThreadTeam::run(const std::function<void(std::size_t)>& work) {
    const OpenMpGuard guard;
    work_ = &work;
    barrier(); // releases the workers
    work(0);
    barrier(); // collects them
}

void ThreadTeam::workerLoop(std::size_t thread) {
    const OpenMpGuard guard;
    for (;;) {
        barrier();
        if (dismissed_) return;
        (*work_)(thread);
        barrier();
    }
}

void ThreadTeam::waitForAll() {
    const std::uint32_t generation = generation_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
        arrived_.store(0, std::memory_order_relaxed);
        generation_.store(generation + 1, std::memory_order_release);
        generation_.notify_all();
        return;
    }
    for (int spin = 0; spin < spinsBeforeSleep; ++spin) {
        if (generation_.load(std::memory_order_acquire) != generation) return;
        relax();
    }
    generation_.wait(generation, std::memory_order_acquire);
}

Share shareOf(std::size_t count, std::size_t thread, std::size_t threads, std::size_t grain) {
    const std::size_t grains = (count + grain - 1) / grain;
    const auto cut = [&](std::size_t t) { return std::min(count, grains * t / threads * grain); };
    return {cut(thread), cut(thread + 1)};
}

} // namespace lockstep
