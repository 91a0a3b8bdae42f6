#include "demos/exhibits/parallelism/parallelism_model.h"

#include <algorithm>
#include <future>
#include <stdexcept>
#include <utility>

namespace lockstep::demos {

std::optional<std::size_t> ParallelismModel::predictedOf(const Experiment& experiment) const {
    const std::string& first = resultOf(experiment).prediction;
    if (const auto choice = std::ranges::find(experiment.choices, first);
        !first.empty() && choice != experiment.choices.end())
        return static_cast<std::size_t>(choice - experiment.choices.begin());
    const auto found = predicted_.find(experiment.name);
    return found == predicted_.end() ? std::nullopt : std::optional(found->second);
}

bool ParallelismModel::frozen(const Experiment& experiment) const {
    return measuring(experiment) || resultOf(experiment).measured();
}

void ParallelismModel::forgetPredictions() {
    for (const Experiment* each : experiments())
        if (!frozen(*each)) predicted_.erase(each->name);
    sketches_.clear();
}

const Sketch& ParallelismModel::sketchOf(const Experiment& experiment) const {
    static const Sketch nothing;
    const auto found = sketches_.find(experiment.name);
    return found == sketches_.end() ? nothing : found->second;
}

const LabResult& ParallelismModel::resultOf(const Experiment& experiment) const {
    static const LabResult nothing;
    const auto found = results_.find(experiment.name);
    return found == results_.end() ? nothing : found->second;
}

void ParallelismModel::setResult(const Experiment& experiment, LabResult result) {
    results_[experiment.name] = std::move(result);
}

std::string ParallelismModel::explanation() const { return explanationText(*open_, result()); }

const LabTrialOutcome* ParallelismModel::editedOf(const Experiment& experiment) const {
    const auto found = kernels_.find(experiment.name);
    if (found == kernels_.end() || found->second.edits.runs({})) return nullptr;
    return found->second.passed.get();
}

const TrialReport* ParallelismModel::triedOf(const Experiment& experiment) const {
    const auto found = kernels_.find(experiment.name);
    return found == kernels_.end() ? nullptr : found->second.edits.tried();
}

const ShaderTexts& ParallelismModel::editedTexts(const Experiment& experiment) const {
    static const ShaderTexts none;
    const auto found = kernels_.find(experiment.name);
    return found == kernels_.end() ? none : found->second.edits.texts();
}

void ParallelismModel::forgetResult() {
    results_.erase(open_->name);
    edits().forget();
}

WorkQueue& ParallelismModel::queue() {
    if (!work_) work_ = std::make_unique<WorkQueue>();
    return *work_;
}

void ParallelismModel::measure(Machines& machines, bool rough) {
    if (measuring()) return;
    if (edited() != nullptr) return edits().repeat();
    machines.deviceOf({true, Rung::best, {}}); // opened on this thread
    const Experiment* experiment = open_;
    doing_ = translated(experiment->title);
    underWay_ = experiment;
    const auto choice = predicted();
    const std::string prediction(choice ? experiment->choices[*choice] : "");
    WorkQueue* work = &queue(); // work_ itself is empty while it is being given up
    work->post(std::string(experiment->name),
               [this, work, experiment, prediction, &machines, rough](const std::atomic<bool>& cancelled) {
                   const auto progress = [&](const std::string& what) {
                       work->tell([this, experiment, what] {
                           doing_ = std::string(translated(experiment->title)) + ": " + what;
                       });
                   };
                   LabBench bench(machines, rough, progress, cancelled);
                   LabResult result = runExperiment(*experiment, bench);
                   result.prediction = prediction;
                   if (cancelled) return;
                   work->tell([this, experiment, result = std::move(result)]() mutable {
                       setResult(*experiment, std::move(result));
                   });
               });
}

// After whatever is being measured, so that neither takes anything from the other.
void ParallelismModel::beginTrial(const Experiment& experiment, EditedKernels& kernels, Machines& machines,
                                  bool rough) {
    LabTrialRequest request{.experiment = &experiment,
                            .texts = kernels.edits.submitted(),
                            .device = {},
                            .threads = machines.threads(),
                            .rough = rough,
                            .known = resultOf(experiment),
                            .before = kernels.passed};
    request.noDevice = failureOf([&] {
        request.device = ownDevice(*machines.deviceOf({true, Rung::best, {}}));
    });
    doing_ = translated(experiment.title);
    WorkQueue* work = &queue();
    request.progress = [this, work, title = experiment.title](const std::string& what) {
        work->tell([this, title, what] { doing_ = std::string(translated(title)) + ": " + what; });
    };
    const auto watch = std::make_shared<TrialWatch>();
    const auto report = std::make_shared<std::promise<TrialReport>>();
    kernels.trial = std::make_shared<LabTrialOutcome>();
    kernels.edits.begin(watch, report->get_future());
    work->post(std::string(experiment.name), [request = std::move(request), watch, report,
                                              outcome = kernels.trial](const std::atomic<bool>&) {
        *outcome = tryLabKernels(request, *watch);
        report->set_value(outcome->report);
    });
}

void ParallelismModel::stop() {
    for (auto& [name, kernels] : kernels_) kernels.edits.stop();
    if (work_) work_->cancel();
}

std::string ParallelismModel::doing() const { return measuring() ? doing_ : std::string(); }

void ParallelismModel::update(Machines& machines, bool rough, bool wait) {
    for (auto& [name, kernels] : kernels_) {
        if (kernels.edits.builtInWanted()) kernels.edits.builtInRuns();
        if (kernels.edits.trialWanted()) beginTrial(experimentFromName(name), kernels, machines, rough);
    }
    if (!work_) return;
    if (wait) work_->wait();
    for (const auto& news : work_->takeNews()) news();
    for (auto& [name, kernels] : kernels_)
        if (kernels.edits.takePassed(false)) kernels.passed = kernels.trial;
    const std::string failure = work_->takeFailure();
    if (!failure.empty()) throw std::runtime_error(failure);
}

bool ParallelismModel::releaseDevice() {
    const bool was = measuring();
    // One of them may be why the device is given up.
    for (auto& [name, kernels] : kernels_) {
        kernels.edits.stop();
        kernels.edits.show(kernels.edits.texts());
        kernels.passed.reset(); // its built-in times are of that device
    }
    work_.reset();
    return was;
}

} // namespace lockstep::demos
