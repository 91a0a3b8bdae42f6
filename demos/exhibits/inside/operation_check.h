// Whether a traced step is right: every operation computed again by its plain twin, from the very tensors
// that it read. So errors do not add up, and the operation that makes one is known.
#pragma once

#include <optional>
#include <string>

#include "engine/step/step_trace.h"

namespace lockstep::demos {

/// The first number of a step that the plain twin does not agree with.
struct Difference {
    std::string operation; ///< "forward, layer 1 of 3"
    std::string source;    ///< the stem of its shader
    std::string tensor;    ///< "A[1]"; "the loss"
    std::size_t row = 0;
    std::size_t column = 0;
    double value = 0;
    double expected = 0;
    std::size_t differing = 0; ///< how many values of the tensor differ, of those that were computed again
    std::size_t compared = 0;
};

/// "forward, layer 1 of 3: A[1] is 0.25 at row 0, column 3, the plain twin says 0.31 (4096 of 4096 values
/// differ)".
std::string describe(const Difference& difference);

/// Differences count from 1e-5 (1 + sqrt(length of the sum)) times the tensor's largest value. Of products
/// that would take the twin long, some rows (of weight gradients: some neurons) are computed, the first and
/// the last among them. `trace` has to hold whole tensors. Throws std::invalid_argument where it does not.
std::optional<Difference> firstDifference(const TrainJob& job, const StepTrace& trace);

} // namespace lockstep::demos
