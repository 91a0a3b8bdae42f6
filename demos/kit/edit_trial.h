// What trials of changed shaders have in common: compiled apart, on a device of their own, with a verdict.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "demos/kit/source_text.h"
#include "engine/gpu/device.h"
#include "engine/step/shaders.h"

namespace lockstep::demos {

enum class TrialPhase { compiling, checking, timing };

/// Between a trial and those who wait for it. Any thread.
struct TrialWatch {
    std::atomic<bool> cancelled{false}; ///< it ends soon; its outcome does not count
    std::atomic<TrialPhase> phase{TrialPhase::compiling};

    /// From the trial: goes on with `next`. Throws gpu::Cancelled if the trial was.
    void enter(TrialPhase next);
};

enum class Verdict {
    passed,
    notCompiled,
    notUsed, ///< nothing that runs is made of these shaders
    refused, ///< wrong results, other parameters or buffers, a lost device, ...
};

struct TrialReport {
    Verdict verdict = Verdict::refused;
    std::vector<CompileError> errors; ///< of notCompiled
    std::string message;              ///< of notUsed and refused: why
    std::string timing;               ///< of passed: how fast, beside the built-in ones; may be empty
    double seconds = 0;               ///< that the trial took

    bool passed() const { return verdict == Verdict::passed; }
};

/// Runs `trial`, which fills `report` in and leaves the verdict at refused unless it gets to its end. What it
/// throws is the report's message, so this throws nothing.
void runTrial(TrialReport& report, const std::function<void()>& trial);

/// Those of `shaders` whose file, or something that it includes, is changed.
std::vector<std::string> changedShaders(const ShaderTexts& texts, const std::vector<std::string>& shaders);

/// Compiles the shaders with the changed texts. Errors go to the report, each once, and make its verdict.
ReplacedShaders compileForTrial(const ShaderTexts& texts, const std::vector<std::string>& shaders,
                                TrialWatch& watch, TrialReport& report);

/// How to open the device that `select` names once more, for a trial.
/// select   empty: the same one as `window`
gpu::DeviceOptions ownDevice(const gpu::Device& window, const std::string& select = {});
/// A device of a trial's own: kernels that hang it do not take the window's with them, and what they read or
/// write out of bounds does no harm. Throws gpu::GpuError.
std::unique_ptr<gpu::Device> openForTrial(gpu::DeviceOptions options);

} // namespace lockstep::demos
