// Changed shaders on trial: compiled, checked against the plain loops, timed beside the built-in ones. All of
// it on a device of its own, so that a shader which hangs it does not take the window's with it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "demos/kit/edit_trial.h"
#include "demos/kit/source_text.h"
#include "engine/gpu/device.h"
#include "engine/net/dataset.h"
#include "engine/run/trainer.h"
#include "engine/step/rungs.h"
#include "engine/step/step_trace.h"

namespace lockstep::demos {

struct TrialRequest {
    TrainJob job; ///< its data has to outlive the outcome
    Rung rung = Rung::naive;
    gpu::DeviceOptions device; ///< selects the device to open once more
    ShaderTexts texts;
};

/// How long an operation takes, medians of a few steps; 0 on a device without a clock.
struct OperationTimes {
    std::string source;
    std::size_t layer = 0;
    double flops = 0;
    double builtInMs = 0;
    double changedMs = 0;
};

/// What was checked is what runs: the trainer, at some step, with some weights.
struct TrialOutcome {
    TrialReport report;
    std::vector<OperationTimes> times; ///< of operations with changed shaders, in the order of the step
    std::unique_ptr<gpu::Device> device;
    std::unique_ptr<Trainer> trainer; ///< on that device; null unless passed
};

/// Tries the shaders out. Results are compared operation by operation (operation_check.h), over random
/// numbers, a whole batch and the last of an epoch, and over the job's own data. Never throws for what is
/// wrong with shaders or device: that is the outcome.
TrialOutcome tryShaders(const TrialRequest& request, TrialWatch& watch);

/// The first number of a step that the plain loops do not agree with.
struct Difference {
    std::string source;  ///< the stem of the operation's shader
    bool ofLoss = false; ///< not of a tensor
    /// "forward, layer 1 of 3: A[1] is 0.25 at row 0, column 3; expected 0.31 (4096 of 4096 values differ)"
    std::string text;
};

/// Differences count from 1e-5 (1 + sqrt(length of the sum)) times the tensor's largest value. Of products
/// that would take the plain loops long, some rows (of weight gradients: some neurons) are computed, the
/// first and the last among them. `trace` has to hold whole tensors. Throws std::invalid_argument where it
/// does not.
std::optional<Difference> firstDifference(const TrainJob& job, const StepTrace& trace);

} // namespace lockstep::demos
