#include "demos/exhibits/parallelism/parallelism_measured.h"

#include <optional>
#include <string>

namespace lockstep::demos {

namespace {

/// Adds what was measured with kernels as they are typed: who types on has not measured that.
void addEdited(MeasuredValues& values, const ParallelismModel& model, const Experiment& experiment,
               const std::string& name) {
    const TrialReport* tried = model.triedOf(experiment);
    values[name + "passed"] = measuredVerdict(tried);
    values[name + "failed"] = measuredFailure(tried);
    values[name + "speed_up"] = {};
    const LabTrialOutcome* outcome = model.editedOf(experiment);
    if (tried == nullptr || !tried->passed() || outcome == nullptr) return;
    for (const auto& [number, value] : valuesOf(experiment, outcome->edited)) values[name + number] = value;
    if (const auto speedUp = labSpeedUp(experiment, outcome->edited, outcome->builtIn))
        values[name + "speed_up"].number = *speedUp;
}

void addSketch(MeasuredValues& values, const ParallelismModel& model, const Experiment& experiment,
               const std::string& name) {
    const Sketch& sketch = model.sketchOf(experiment);
    values[name + "sketched"].number = sketch.empty() ? Measured().number : 1;
    const std::optional<SketchMiss> miss = sketchMiss(experiment, model.resultOf(experiment), sketch);
    values[name + "sketch_factor"].number = miss ? miss->typical : Measured().number;
}

} // namespace

void addMeasured(MeasuredValues& values, const ParallelismModel& model) {
    for (const Experiment* each : experiments()) {
        const std::string name = "lab." + std::string(each->name) + ".";
        const LabResult& result = model.resultOf(*each);
        values[name + "finished"].number = result.measured() ? 1 : Measured().number;
        for (const auto& [number, value] : valuesOf(*each, result)) {
            values[name + number] = value;
            values[name + "edited." + number] = {};
        }
        addEdited(values, model, *each, name + "edited.");
        if (!each->sketched.empty()) addSketch(values, model, *each, name);
    }
}

} // namespace lockstep::demos
