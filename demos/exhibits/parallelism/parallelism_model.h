// "Parallelism" without its looks: which experiment is open, what was predicted, what has been measured, and
// which kernels are edited.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "demos/kit/machines.h"
#include "demos/kit/shader_edits.h"
#include "demos/kit/worker.h"
#include "demos/lab/experiment.h"
#include "demos/lab/lab_trial.h"

namespace lockstep::demos {

class ParallelismModel {
  public:
    ParallelismModel() = default;
    /// Stops what is being measured, and waits for that.
    ~ParallelismModel() { stop(); }
    ParallelismModel(const ParallelismModel&) = delete;
    ParallelismModel& operator=(const ParallelismModel&) = delete;

    const Experiment& open() const { return *open_; }
    void open(const Experiment& experiment) { open_ = &experiment; }

    /// The choice predicted in the open experiment; empty: none yet.
    std::optional<std::size_t> predicted() const { return predictedOf(*open_); }
    std::optional<std::size_t> predictedOf(const Experiment& experiment) const;
    /// From Measure on, the first answer stays: with the measurement, until that is dropped.
    bool frozen(const Experiment& experiment) const;
    /// Nothing where it is frozen.
    void predict(const Experiment& experiment, std::size_t choice) {
        if (!frozen(experiment)) predicted_[experiment.name] = choice;
    }
    /// But not those that are frozen.
    void forgetPredictions();
    /// The curve drawn for the open experiment; may be empty.
    Sketch& sketch() { return sketches_[open_->name]; }
    const Sketch& sketchOf(const Experiment& experiment) const;
    void setSketch(const Experiment& experiment, Sketch sketch) {
        sketches_[experiment.name] = std::move(sketch);
    }

    /// The open experiment's result with the kernels in use, edited ones or the built-in ones; nothing is
    /// measured yet where it has no series.
    const LabResult& result() const { return edited() ? edited()->edited : resultOf(*open_); }
    /// The trial that result() comes from; null: those are the built-in kernels.
    const LabTrialOutcome* edited() const { return editedOf(*open_); }
    const LabTrialOutcome* editedOf(const Experiment& experiment) const;
    /// How the trial of its kernels ended, as they are typed; null: they are built in, or not tried yet.
    const TrialReport* triedOf(const Experiment& experiment) const;
    /// With the built-in kernels.
    const LabResult& resultOf(const Experiment& experiment) const;
    void setResult(const Experiment& experiment, LabResult result);
    /// What the open experiment's result says; empty: nothing is measured.
    std::string explanation() const;
    /// Drops what was measured of the open experiment.
    void forgetResult();

    /// Edited kernels of the open experiment. They are used once they have passed their trial.
    ShaderEdits& edits() { return editsOf(*open_); }
    ShaderEdits& editsOf(const Experiment& experiment) { return kernels_[experiment.name].edits; }
    /// Their texts; empty: none.
    const ShaderTexts& editedTexts(const Experiment& experiment) const;

    /// Measures the open experiment in the background, with the kernels in use; nothing where something is
    /// being measured. Throws gpu::GpuError for a device that cannot be opened.
    void measure(Machines& machines, bool rough);
    void stop();
    bool measuring() const { return work_ && !work_->idle(); }
    bool measuring(const Experiment& experiment) const { return measuring() && underWay_ == &experiment; }
    /// The experiment being measured, and how far it is: "Reading as neighbours: gpu anywhere".
    std::string doing() const;

    /// Once per frame: begins trials, and brings what is new. With `wait`, everything asked for is there when
    /// this returns. Throws std::runtime_error with what went wrong.
    void update(Machines& machines, bool rough, bool wait);
    /// Gives up everything on the device, and waits for it. Returns whether it was measuring.
    bool releaseDevice();

  private:
    struct EditedKernels {
        ShaderEdits edits = {};
        std::shared_ptr<LabTrialOutcome> trial = nullptr;        // the last one that was begun
        std::shared_ptr<const LabTrialOutcome> passed = nullptr; // the last one that has
    };

    WorkQueue& queue();
    void beginTrial(const Experiment& experiment, EditedKernels& kernels, Machines& machines, bool rough);

    const Experiment* open_ = experiments().front();
    std::map<std::string_view, std::size_t> predicted_; // by experiment
    std::map<std::string_view, Sketch> sketches_;       // likewise
    std::map<std::string_view, LabResult> results_;     // likewise
    std::map<std::string_view, EditedKernels> kernels_; // by experiment
    std::string doing_;
    const Experiment* underWay_ = nullptr; // being measured, or measured last
    std::unique_ptr<WorkQueue> work_;      // last: its thread uses none of the above, but tells news to them
};

} // namespace lockstep::demos
