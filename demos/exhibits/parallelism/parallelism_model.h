// "Parallelism" without its looks: which experiment is open, what was predicted, what has been measured.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "demos/kit/machines.h"
#include "demos/kit/worker.h"
#include "demos/lab/experiment.h"

namespace lockstep::demos {

class ParallelismModel {
  public:
    const Experiment& open() const { return *open_; }
    void open(const Experiment& experiment) { open_ = &experiment; }

    /// Of the open experiment; empty: nothing yet.
    std::optional<std::size_t> predicted() const { return predictedOf(*open_); }
    std::optional<std::size_t> predictedOf(const Experiment& experiment) const;
    void predict(const Experiment& experiment, std::size_t choice) { predicted_[experiment.name] = choice; }
    void forgetPredictions() { predicted_.clear(); }

    /// Of the open experiment; nothing is measured in it yet where it has no series.
    const LabResult& result() const { return resultOf(*open_); }
    const LabResult& resultOf(const Experiment& experiment) const;
    void setResult(const Experiment& experiment, LabResult result) {
        results_[experiment.name] = std::move(result);
    }
    /// Drops what was measured of the open experiment.
    void forgetResult() { results_.erase(open_->name); }

    /// Measures the open experiment in the background; nothing where something is being measured. Throws
    /// gpu::GpuError for a device that cannot be opened.
    void measure(Machines& machines, bool rough);
    void stop();
    bool measuring() const { return work_ && !work_->idle(); }
    /// The experiment being measured, and how far it is: "Reading as neighbours: gpu anywhere".
    std::string doing() const;

    /// Once per frame: brings what is new. With `wait`, everything asked for is there when this returns.
    /// Throws std::runtime_error with what went wrong.
    void update(bool wait);
    /// Gives up everything on the device, and waits for it. Returns whether it was measuring.
    bool releaseDevice();

  private:
    const Experiment* open_ = experiments().front();
    std::map<std::string_view, std::size_t> predicted_; // by experiment
    std::map<std::string_view, LabResult> results_;     // likewise
    std::string doing_;
    std::unique_ptr<WorkQueue> work_; // last: its thread uses none of the above, but tells news to them
};

} // namespace lockstep::demos
