// What trials of kernels have in common: random operands, the comparison, the clock. Used by
// product_trial.cpp and update_trial.cpp.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "engine/gpu/recorder.h"

namespace lockstep {

/// [rows][stride] of uniform numbers in [-1, 1), padding 0.
std::vector<float> randomMatrix(std::size_t rows, std::size_t width, std::size_t stride, std::uint64_t seed);

/// Of all values, in size; at least 1e-30.
double largestOf(std::span<const float> values);

/// Largest difference of two equally long arrays, divided by `scale`; infinite where a value is NaN.
double largestDifference(std::span<const float> expected, std::span<const float> actual, double scale);

/// Device time of what `record` records, per call: the best of `rounds` rounds of calls that take long enough
/// for a clock. The first call is timed by itself; something slow is not called again.
template <class Record> double bestMilliseconds(gpu::Recorder& recorder, int rounds, Record record) {
    constexpr double roundMilliseconds = 2; // long enough for a clock, short enough for many candidates
    constexpr double slow = 30;             // not worth a second look
    const auto timeOf = [&](int calls) {
        recorder.begin();
        for (int call = 0; call < calls; ++call) record();
        return recorder.submitAndTime() / calls;
    };
    double best = timeOf(1);
    if (best > slow) return best;
    const int calls = std::clamp(static_cast<int>(roundMilliseconds / std::max(best, 1e-3)), 1, 64);
    for (int round = 0; round < rounds; ++round) best = std::min(best, timeOf(calls));
    return best;
}

} // namespace lockstep
