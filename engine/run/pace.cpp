#include "engine/run/pace.h"

#include <algorithm>

namespace lockstep {

namespace {

// A measurement older than this is dropped, so that the pace follows a machine that slows down.
constexpr double window = 0.25;
constexpr double mostStepsAtOnce = 1 << 20;

} // namespace

void Pace::restart(std::uint64_t completed, double now) {
    markCompleted_ = completed;
    markTime_ = now;
}

void Pace::note(std::uint64_t completed, double now) {
    const double elapsed = now - markTime_;
    if (completed <= markCompleted_ || elapsed <= 0) return;
    const double rate = static_cast<double>(completed - markCompleted_) / elapsed;
    const double wanted = std::clamp(rate * target_, 1.0, mostStepsAtOnce);
    steps_ = std::min(static_cast<std::uint64_t>(wanted), steps_ * 2);
    if (elapsed > window) restart(completed, now);
}

} // namespace lockstep
