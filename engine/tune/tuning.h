// The comparison of kernels that gpu:best makes before it trains: how far it has come, and the wish to skip
// it. A trainer compares on the thread that makes it; other threads look, and may skip, by the Tuning that
// both have. Each comparison is made once per network and device, and remembered (kernel_cache.h).
//
//     Tuning tuning;
//     auto made = std::async(std::launch::async, [&] {
//         return makeGpuTrainer(job, Rung::best, device, {}, nullptr, 0, &tuning);
//     });
//     while (made.wait_for(100ms) != std::future_status::ready) {
//         const TuningProgress now = tuning.progress(); // draw a bar of now.share()
//         if (userIsImpatient) tuning.skip();           // made is ready soon after
//     }
//
// A Lane (run/lane.h) has one of its own: LaneSnapshot::tuning, Lane::skipTuning(), LaneOptions::tuneSeconds.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace lockstep {

/// TuningProgress::comparing of the last comparison: operations one by one, fused, or the step as a whole.
inline constexpr std::string_view wholeTrainingStep = "the training step";

/// How far a comparison of kernels is. All zeros and empty: there is none, or everything was known before.
struct TuningProgress {
    std::string comparing;       ///< what is compared now: "dense 128x784x256"; empty: nothing, or no more
    std::size_t at = 0;          ///< which comparison that is, from 1 on; 0: candidates are compiled before
    std::size_t comparisons = 0; ///< of so many. One may have tens of kernels
    double done = 0;             ///< comparisons that are over, and the part of this one that is
    std::uint64_t kernels = 0;   ///< timed so far
    double seconds = 0;          ///< since the first comparison began, until now or until the last has ended
    double expected = 0;         ///< seconds that all of them take, as far as can be told; 0: not yet
    bool skipped = false;        ///< somebody has skipped the rest
    std::size_t compared = 0;    ///< comparisons that came to their end: neither skipped nor out of time
    /// The file that remembers what was measured. Empty: it is remembered as long as the process lives.
    std::filesystem::path keptIn = {};

    bool going() const { return !comparing.empty(); }
    /// 0 to 1, and never less than before.
    double share() const {
        return comparisons == 0 ? 0 : std::min(done / static_cast<double>(comparisons), 1.0);
    }
};

class Tuning {
  public:
    /// seconds   for which kernels are compared, compilation included; 0: none are, as after skip(). Without
    ///           a value 0.9 on software Vulkan and 2.5 on a GPU. A few more may pass: at least one kernel of
    ///           every product is tried, and drivers take their time to compile it. The second at most in
    ///           which a GPU that idled reaches its speed is not counted
    explicit Tuning(std::optional<double> seconds = std::nullopt)
        : seconds_(seconds), skip_(seconds == 0.0) {}

    /// Ends the comparison after the kernel under way, or before it begins. Of each product, the fastest
    /// kernel that was measured so far is taken, or the likeliest one, unmeasured, which gpu:fused takes,
    /// too. A comparison that was cut short is not remembered: the next start makes it again, but for the
    /// kernels whose times are known. Any thread.
    void skip() { skip_ = true; }
    bool skipped() const { return skip_; }
    std::optional<double> seconds() const { return seconds_; }

    /// Any thread; never waits.
    TuningProgress progress() const {
        const std::lock_guard lock(mutex_);
        TuningProgress now = progress_;
        if (now.going()) now.seconds = secondsSinceBegin();
        if (now.expected > 0) now.expected = std::max(now.expected, now.seconds);
        now.skipped = skip_;
        return now;
    }

    // For what compares.

    /// What of progress() changes: change(progress), under a lock. The first change begins the clock.
    template <class Change> void tell(Change change) {
        const std::lock_guard lock(mutex_);
        if (!progress_.going())
            begin_ = Clock::now() - std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(progress_.seconds));
        const double before = progress_.done;
        change(progress_);
        progress_.done = std::max(progress_.done, before);
    }
    /// A comparison begins.
    void begin(const std::string& comparing) {
        tell([&](TuningProgress& now) {
            now.comparing = comparing;
            now.comparisons = std::max(now.comparisons, ++now.at);
            now.done = static_cast<double>(now.at - 1);
        });
    }
    /// The last comparison begins.
    void beginLast(const std::string& comparing) {
        tell([&](TuningProgress& now) {
            now.comparing = comparing;
            now.at = now.comparisons = std::max<std::size_t>(now.comparisons, 1);
            now.done = static_cast<double>(now.at - 1);
        });
    }
    /// The last comparison is over, if there was one.
    void end() {
        tell([this](TuningProgress& now) {
            if (now.going()) {
                now.seconds = secondsSinceBegin();
                now.compared += skip_ ? 0 : 1;
            }
            now.comparing.clear();
            now.done = static_cast<double>(now.comparisons);
        });
    }

  private:
    using Clock = std::chrono::steady_clock;
    double secondsSinceBegin() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

    const std::optional<double> seconds_;
    std::atomic<bool> skip_;
    mutable std::mutex mutex_; // guards all below
    TuningProgress progress_;
    Clock::time_point begin_;
};

} // namespace lockstep
