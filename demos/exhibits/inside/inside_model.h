// "Inside a step" without its looks: what is trained, and the last step of each machine taken apart.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "demos/exhibits/inside/shader_trial.h"
#include "demos/kit/futures.h"
#include "demos/kit/machines.h"
#include "demos/kit/pacer.h"
#include "demos/kit/run_settings.h"
#include "demos/kit/shader_edits.h"
#include "engine/step/step_trace.h"

namespace lockstep::demos {

/// The machines of the exhibit, in the order of its rows.
inline constexpr std::size_t machineCount = 2;

class TraceSession; // inside_model.cpp

/// A traced step and what it was traced with. All that is shown of a step comes from one of these, never from
/// the settings, which may be those of a run that is still being prepared: a name, a time and a source beside
/// each other are of the same kernel.
struct ShownStep {
    RunOptions settings;
    NetShape shape;
    std::shared_ptr<const Dataset> data;
    ShaderTexts shaders;               ///< the changed ones that it ran with
    std::vector<OperationTimes> times; ///< of its operations with changed shaders
    /// Of machine 0 (CPU) and 1 (GPU), both of the same step. The GPU's may be missing while a network is
    /// new.
    std::array<std::optional<StepTrace>, machineCount> traces;
};

/// What is traced at the first start: on the CPU the best rung, on the GPU one that every device has and that
/// keeps all tensors ("best" may fold operations together).
RunOptions firstTracedRun();
/// The run of a state, which may have fields of its `own` and those of older ones, "cpu" and "gpu". Throws
/// std::invalid_argument naming the field.
RunOptions tracedRunFromJson(const nlohmann::ordered_json& state, std::span<const std::string_view> own);

/// The field "shaders" of a state; none where it is missing. Throws std::invalid_argument naming the field.
ShaderTexts editedShadersFromJson(const nlohmann::ordered_json& state);

class InsideModel {
  public:
    InsideModel();
    ~InsideModel();

    const RunOptions& settings() const { return settings_; }
    /// Throws std::invalid_argument, and then nothing has changed. Other settings start from the first step.
    void change(const RunOptions& settings);

    /// Once per frame: loads, prepares, asks for steps and brings their traces. The first step is traced
    /// without being asked for. The machines take turns, so that neither takes anything from the other. With
    /// `wait`, everything asked for is there when this returns. Changed shaders run on a device of their own,
    /// opened as `window` was unless the lane names another. Throws what is wrong with settings, data or
    /// devices.
    void update(Machines& machines, const gpu::Device& window, double seconds, bool wait);

    bool running() const { return running_; }
    void run() { running_ = true; }
    void pause() { running_ = false; }
    /// Traces so many steps more.
    void step(std::uint64_t steps) { wanted_ += steps; }
    /// Steps asked for from now on also note when the workgroups of the GPU's operations run.
    void clockWorkgroups(bool on) { clockWorkgroups_ = on; }
    /// Traces the first step once more where it is shown without them. Later steps are kept as they are:
    /// their weights are gone.
    void clockFirst();
    void setRate(double stepsPerSecond) { pacer_.setSpeed(stepsPerSecond); }
    /// Back to the first step and the initial weights; it is traced again.
    void reset();
    void reroll();
    /// Gives up the lanes, and waits for them. Traces stay; the next step asked for is the one after them.
    void releaseDevice();

    /// The last step that was traced; null before the first.
    const ShownStep* shown() const { return shown_ ? &*shown_ : nullptr; }
    /// What is shown is of earlier settings; the first step of the present ones is not there yet.
    bool outdated() const { return shown_ && !(shown_->settings == settings_); }
    /// A step of the present settings is shown, of both machines.
    bool complete() const { return shown_ && shown_->traces.back() && !outdated(); }
    /// Of the step that is shown; null where there is none.
    const StepTrace* trace(std::size_t machine) const {
        return shown_ && shown_->traces[machine] ? &*shown_->traces[machine] : nullptr;
    }
    /// The lane of the machine that the shown step ran on; before the first step, the one that is prepared.
    const LaneSpec& lane(std::size_t machine) const {
        return (trace(machine) != nullptr ? shown_->settings : settings_).lanes[machine];
    }
    /// Grows whenever the traces change.
    std::uint64_t revision() const { return revision_; }
    /// What keeps the machine from being traced: being prepared, or an error. Empty: nothing.
    std::string status(std::size_t machine) const;
    /// The comparison of kernels that the GPU's lane makes; it is skipped by skipTuning().
    TuningProgress tuning() const;
    void skipTuning();
    bool failed() const;
    /// A step is on its way.
    bool busy() const;

    /// Changed shaders. They run once they have passed their trial, from the step at hand, which is then
    /// made.
    ShaderEdits& edits() { return edits_; }
    const ShaderEdits& edits() const { return edits_; }
    /// The times of an operation that runs with a changed shader; null for others.
    const OperationTimes* timesOf(const TracedOperation& operation) const;

  private:
    bool haveSession(Machines& machines, bool wait);
    void renewKernels(Machines& machines, const gpu::Device& window, bool wait);
    void beginTrial(TrialRequest request);
    void advance(bool wait);
    void show(std::array<std::optional<StepTrace>, machineCount> traces);
    void retire();
    void giveUp();

    RunOptions settings_ = firstTracedRun();
    DataLoader loader_;
    std::shared_ptr<const Dataset> data_; // of the session
    std::shared_ptr<TrialOutcome> trial_; // the last one that was begun, until its trainer runs
    std::vector<OperationTimes> runningTimes_;
    ShaderEdits edits_; // its trials use the data
    SessionSlot<TraceSession> session_;

    bool running_ = false;
    bool clockWorkgroups_ = false;
    Pacer pacer_{4};
    std::uint64_t wanted_ = 1;                                 // steps
    std::optional<std::size_t> turn_;                          // the machine that is tracing ...
    std::future<StepTrace> asked_;                             // ... and its trace
    std::array<std::optional<StepTrace>, machineCount> fresh_; // of the step under way
    std::optional<ShownStep> shown_;
    std::uint64_t revision_ = 0;
    std::uint64_t nextStep_ = 0; ///< of a session to be made
};

} // namespace lockstep::demos
