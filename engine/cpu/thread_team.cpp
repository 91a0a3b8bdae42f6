#include "engine/cpu/thread_team.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <system_error>

#include "engine/platform/library.h"
#include "engine/platform/sleep.h"

namespace lockstep {

namespace {

// oneDNN, as most systems build it, uses OpenMP. Its two functions are looked up in the running process
// rather than linked: the ones that count are those of the runtime which oneDNN brought along, GNU's or
// LLVM's, whichever compiler built this file.
struct OpenMp {
    platform::Library process = platform::Library::ofProcess();
    int (*getMaxThreads)() = process.function<int (*)()>("omp_get_max_threads");
    void (*setNumThreads)(int) = process.function<void (*)(int)>("omp_set_num_threads");
};

const OpenMp& openMp() {
    static const OpenMp functions{};
    return functions;
}

/// While it lives, OpenMP regions entered from this thread run on this thread alone. Does nothing in a
/// process without OpenMP. The setting belongs to the thread; other threads of the program keep theirs.
class OpenMpGuard {
  public:
    OpenMpGuard() {
        if (openMp().getMaxThreads == nullptr || openMp().setNumThreads == nullptr) return;
        threadsBefore_ = openMp().getMaxThreads();
        openMp().setNumThreads(1);
    }
    ~OpenMpGuard() {
        if (threadsBefore_ > 0) openMp().setNumThreads(threadsBefore_);
    }
    OpenMpGuard(const OpenMpGuard&) = delete;
    OpenMpGuard& operator=(const OpenMpGuard&) = delete;

  private:
    int threadsBefore_ = 0;
};

// A step is a few hundred microseconds and its shares are nearly equal, so a barrier's wait is short and
// spinning beats the system's wake-up call. But a thread that lost its core comes late, and
// spinning only takes more time from it. After this many spins a thread goes to sleep.
constexpr int spinsBeforeSleep = 400;

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

constexpr std::uint32_t calledBits = 12;
constexpr std::uint32_t mostThreads = (1u << calledBits) - 1;

/// Spins for a while, then sleeps, until `value` is no longer `old`.
void waitForChange(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
    for (int spin = 0; spin < spinsBeforeSleep; ++spin) {
        if (value.load(std::memory_order_acquire) != old) return;
        relax();
    }
    while (value.load(std::memory_order_acquire) == old) platform::sleepWhile(value, old);
}

} // namespace

ThreadTeam::ThreadTeam(std::size_t threads) : size_(std::clamp<std::size_t>(threads, 1, mostThreads)) {
    workers_.reserve(size_ - 1);
    try {
        for (std::size_t thread = 1; thread < size_; ++thread)
            workers_.emplace_back([this, thread] { workerLoop(thread); });
    } catch (const std::system_error& error) {
        const std::size_t started = workers_.size();
        dismiss();
        throw std::runtime_error("could not start thread " + std::to_string(started + 2) + " of " +
                                 std::to_string(size_) + ": " + error.what() + "; ask for fewer threads");
    }
}

ThreadTeam::~ThreadTeam() { dismiss(); }

void ThreadTeam::dismiss() {
    dismissed_.store(true, std::memory_order_relaxed);
    call(0);
    for (std::thread& worker : workers_) worker.join();
}

void ThreadTeam::call(std::uint32_t threads) {
    const std::uint32_t runs = call_.load(std::memory_order_relaxed) >> calledBits;
    call_.store((runs + 1) << calledBits | threads, std::memory_order_release);
    platform::wakeAll(call_);
}

void ThreadTeam::run(const std::function<void(std::size_t)>& work, std::size_t threads) {
    const OpenMpGuard guard;
    running_ = std::clamp<std::size_t>(threads, 1, size_);
    if (running_ == 1) return work(0);
    work_ = &work;
    finished_.store(0, std::memory_order_relaxed);
    call(static_cast<std::uint32_t>(running_));
    work(0);
    waitForWorkers();
}

void ThreadTeam::waitForWorkers() {
    const auto workers = static_cast<std::uint32_t>(running_ - 1);
    for (std::uint32_t done = finished_.load(std::memory_order_acquire); done != workers;
         done = finished_.load(std::memory_order_acquire))
        waitForChange(finished_, done);
}

void ThreadTeam::workerLoop(std::size_t thread) {
    const OpenMpGuard guard;
    for (std::uint32_t seen = 0;;) {
        waitForChange(call_, seen);
        seen = call_.load(std::memory_order_acquire);
        if (dismissed_.load(std::memory_order_relaxed)) return;
        if (thread >= (seen & mostThreads)) continue;
        (*work_)(thread);
        finished_.fetch_add(1, std::memory_order_release);
        platform::wakeOne(finished_);
    }
}

void ThreadTeam::waitForAll() {
    const std::uint32_t generation = generation_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == running_) {
        arrived_.store(0, std::memory_order_relaxed);
        generation_.store(generation + 1, std::memory_order_release);
        platform::wakeAll(generation_);
        return;
    }
    waitForChange(generation_, generation);
}

Share shareOf(std::size_t count, std::size_t thread, std::size_t threads, std::size_t grain) {
    const std::size_t grains = (count + grain - 1) / grain;
    const auto cut = [&](std::size_t t) { return std::min(count, grains * t / threads * grain); };
    return {cut(thread), cut(thread + 1)};
}

} // namespace lockstep
