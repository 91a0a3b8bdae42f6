// Where a run ends.
#pragma once

#include <cstdint>
#include <string>

#include "engine/net/batch_order.h"
#include "engine/net/dataset.h"

namespace lockstep {

/// Every line that is not 0 counts, and the first one reached ends the run. Steps and epochs are counted from
/// the very first step, also in a resumed run; seconds are training seconds of this run, evaluation and
/// warm-up not counted.
struct FinishLine {
    std::uint64_t epochs = 0;
    std::uint64_t steps = 0;
    double seconds = 0;
    double accuracy = 0; ///< test accuracy of at least this share (0 to 1)
    double loss = 0;     ///< test loss of at most this

    /// Accuracy and loss lines are looked for several times per epoch, not only at its end.
    bool needsEvaluation() const { return accuracy > 0 || loss > 0; }
    /// The step at which `epochs` or `steps` end the run; the largest number when neither does.
    std::uint64_t lastStep(const BatchOrder& order) const;
    /// 0 to 1 towards the nearest of epochs, steps and seconds; 0 when there is none of them.
    double progress(const BatchOrder& order, std::uint64_t step, double trainingSeconds) const;
    /// "10 epochs", "85 % test accuracy or 100 epochs".
    std::string text() const;
    /// Throws std::invalid_argument when there is no line at all, when one makes no sense (an accuracy above
    /// 1), or when `data` cannot answer it (no test split; an accuracy in regression).
    void validate(const Dataset& data) const;
};

} // namespace lockstep
