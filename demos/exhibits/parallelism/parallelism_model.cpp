#include "demos/exhibits/parallelism/parallelism_model.h"

#include <stdexcept>
#include <utility>

namespace lockstep::demos {

std::optional<std::size_t> ParallelismModel::predictedOf(const Experiment& experiment) const {
    const auto found = predicted_.find(experiment.name);
    return found == predicted_.end() ? std::nullopt : std::optional(found->second);
}

const LabResult& ParallelismModel::resultOf(const Experiment& experiment) const {
    static const LabResult nothing;
    const auto found = results_.find(experiment.name);
    return found == results_.end() ? nothing : found->second;
}

void ParallelismModel::measure(Machines& machines, bool rough) {
    if (measuring()) return;
    machines.deviceOf({true, Rung::best, {}}); // opened on this thread
    if (!work_) work_ = std::make_unique<WorkQueue>();
    const Experiment* experiment = open_;
    doing_ = experiment->title;
    WorkQueue* queue = work_.get(); // work_ itself is empty while it is being given up
    work_->post(std::string(experiment->name), [this, queue, experiment, &machines,
                                                rough](const std::atomic<bool>& cancelled) {
        const auto progress = [&](const std::string& what) {
            queue->tell([this, experiment, what] { doing_ = std::string(experiment->title) + ": " + what; });
        };
        LabBench bench(machines, rough, progress, cancelled);
        LabResult result = runExperiment(*experiment, bench);
        if (cancelled) return;
        queue->tell([this, experiment, result = std::move(result)]() mutable {
            results_.insert_or_assign(experiment->name, std::move(result));
        });
    });
}

void ParallelismModel::stop() {
    if (work_) work_->cancel();
}

std::string ParallelismModel::doing() const { return measuring() ? doing_ : std::string(); }

void ParallelismModel::update(bool wait) {
    if (!work_) return;
    if (wait) work_->wait();
    for (const auto& news : work_->takeNews()) news();
    const std::string failure = work_->takeFailure();
    if (!failure.empty()) throw std::runtime_error(failure);
}

bool ParallelismModel::releaseDevice() {
    const bool was = measuring();
    work_.reset();
    return was;
}

} // namespace lockstep::demos
