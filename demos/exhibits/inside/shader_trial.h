// Changed shaders on trial: compiled, checked against the plain twin, timed beside the built-in ones. All of
// it on a device of its own, so that a shader which hangs it does not take the window's with it.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "demos/kit/shader_compiler.h"
#include "engine/gpu/device.h"
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

enum class TrialPhase { compiling, checking, timing };

/// Between a trial and those who wait for it. Any thread.
struct TrialWatch {
    std::atomic<bool> cancelled{false}; ///< it ends soon, with whatever outcome
    std::atomic<TrialPhase> phase{TrialPhase::compiling};
};

enum class Verdict {
    passed,
    notCompiled,
    notUsed, ///< the rung has no operation of these shaders
    refused, ///< wrong results, other parameters or buffers, a lost device, ...
};

/// How long an operation takes, medians of a few steps; 0 on a device without a clock.
struct OperationTimes {
    std::string name; ///< as in TracedOperation
    std::string source;
    std::size_t layer = 0;
    double flops = 0;
    double builtInMs = 0;
    double changedMs = 0;
};

struct TrialReport {
    Verdict verdict = Verdict::refused;
    std::vector<CompileError> errors;  ///< of notCompiled
    std::string message;               ///< of notUsed and refused: why
    std::vector<OperationTimes> times; ///< of operations with changed shaders, in the order of the step
    double seconds = 0;                ///< that the trial took
};

/// What was checked is what runs: the trainer, at some step, with some weights.
struct TrialOutcome {
    TrialReport report;
    std::unique_ptr<gpu::Device> device;
    std::unique_ptr<Trainer> trainer; ///< on that device; null unless passed
};

/// Tries the shaders out. Results are compared operation by operation (operation_check.h), over random
/// numbers, a whole batch and the last of an epoch, and over the job's own data. Never throws for what is
/// wrong with shaders or device: that is the outcome.
TrialOutcome tryShaders(const TrialRequest& request, TrialWatch& watch);

} // namespace lockstep::demos
