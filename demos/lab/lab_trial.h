// Edited kernels of an experiment on trial: compiled, checked in a quick run, and measured beside the
// built-in ones. All of it on a device of its own, so that a kernel which hangs it does not take the window's
// with it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/kit/edit_trial.h"
#include "demos/kit/source_text.h"
#include "demos/lab/experiment.h"

namespace lockstep::demos {

/// Whether a file may be edited: kernels whose results the experiment checks, and what they include.
bool isEditable(const Experiment& experiment, std::string_view file);

struct LabTrialOutcome {
    TrialReport report;
    ShaderTexts texts; ///< that were tried
    /// Where it has passed: with the edited kernels, and with the built-in ones on the same device, with the
    /// same limits on loops and buffers. Machines are as runExperiment() has them.
    LabResult edited = {}, builtIn = {};
    std::vector<std::string> shaders = {}; ///< that were replaced
};

struct LabTrialRequest {
    const Experiment* experiment = nullptr;
    ShaderTexts texts;
    gpu::DeviceOptions device; ///< selects the device to open once more
    std::string noDevice = {}; ///< why there is none; empty: there is
    std::size_t threads = 0;   ///< 0: one per core
    bool rough = false;        ///< as LabBench
    LabResult known = {};      ///< its CPU series are not measured again, where this machine measured them
    std::shared_ptr<const LabTrialOutcome> before = nullptr; ///< that passed: its built-in times are kept
    LabBench::Progress progress = [](const std::string&) {};
};

/// Tries the kernels out. What is measured wrongly has the verdict refused, with the note of its series.
/// Never throws for what is wrong with kernels or device: that is the outcome.
LabTrialOutcome tryLabKernels(const LabTrialRequest& request, TrialWatch& watch);

/// How many times as fast as built in the GPU's series that has changed most is, at the largest setting that
/// both have measured; where the axis has no unit, how many times as large. 1: what changed is within the
/// noise. Empty where nothing can be compared.
std::optional<double> labSpeedUp(const Experiment& experiment, const LabResult& edited,
                                 const LabResult& builtIn);

/// "GPU with a stride 1.8 times as fast as built in": of the series that have changed most, two at most;
/// those whose middle halves mostly overlap have not changed. Empty where nothing can be compared.
std::string labComparison(const Experiment& experiment, const LabResult& edited, const LabResult& builtIn);

} // namespace lockstep::demos
