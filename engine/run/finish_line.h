// The conditions that end a run.
#pragma once

#include <cstdint>
#include <string>

#include "engine/net/batch_order.h"
#include "engine/net/dataset.h"

namespace lockstep {

/// Each non-zero member is a condition; the first one reached ends the run, and without any it goes on. Steps
/// and epochs include those before a resume. Seconds are training seconds of this run, without evaluation and
/// warm-up.
struct FinishLine {
    std::uint64_t epochs = 0;
    std::uint64_t steps = 0;
    double seconds = 0;
    double accuracy = 0; ///< test accuracy of at least this (0 to 1)
    double loss = 0;     ///< test loss of at most this

    /// True for a target accuracy or loss, which are checked several times per epoch.
    bool needsEvaluation() const { return accuracy > 0 || loss > 0; }
    /// The step at which `epochs` or `steps` ends the run; the largest number if neither is set.
    std::uint64_t lastStep(const BatchOrder& order) const;
    /// Progress, 0 to 1, towards the nearest of epochs, steps and seconds; 0 if none is set.
    double progress(const BatchOrder& order, std::uint64_t step, double trainingSeconds) const;
    /// "10 epochs", "85 % test accuracy or 100 epochs".
    std::string text() const;
    /// Throws std::invalid_argument if a condition is out of range (an accuracy above 1), or if `data` cannot
    /// decide it (no test split; accuracy in regression).
    void validate(const Dataset& data) const;

    bool operator==(const FinishLine&) const = default;
};

} // namespace lockstep
