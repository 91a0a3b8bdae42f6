#include "demos/exhibits/playground/playground_model.h"

#include <utility>

namespace lockstep::demos {

PlaygroundSession::PlaygroundSession(const PlaygroundSettings& settings, PlaygroundData data)
    : data_(std::move(data)) {
    job_.data = &data_.dataset;
    job_.shape = settings.shape();
    job_.settings = settings.train;
}

void PlaygroundSession::begin(const TrainerMaker& maker, TrainerState start) {
    LaneOptions options;
    options.finish.steps = mostSteps;
    options.evaluateEvery = 0; // looks do that
    options.startPaused = true;
    options.start = std::move(start);
    lane_ = std::make_unique<Lane>("playground", job_, maker(job_), std::move(options));
    lane_->start();
}

bool PlaygroundSession::alive() const {
    if (!lane_) return false;
    const LaneStatus status = lane_->snapshot().status;
    return status == LaneStatus::ready || status == LaneStatus::running || status == LaneStatus::paused;
}

void PlaygroundSession::restore(TrainerState state) {
    lane_->resume(); // forgets steps that were still to be made
    lane_->pause();
    lane_->post([state = std::move(state)](Trainer& trainer) { trainer.restore(state); });
}

bool PlaygroundSession::changeOptimizer(const OptimizerSettings& wanted) {
    if (!alive() || wanted.kind != job_.settings.optimizer.kind) return false;
    lane_->post([wanted](Trainer& trainer) { trainer.setOptimizer(wanted); });
    job_.settings.optimizer = wanted;
    return true;
}

void PlaygroundSession::look(std::uint64_t generation) {
    {
        const std::lock_guard lock(mutex_);
        looking_ = true;
    }
    lane_->post([this, generation, kind = job_.settings.optimizer.kind](Trainer& trainer) {
        Moment moment = lookAt(trainer);
        moment.generation = generation;
        moment.optimizer = kind;
        const std::lock_guard lock(mutex_);
        mail_ = std::move(moment);
        looking_ = false;
    });
}

/// On the lane's thread.
Moment PlaygroundSession::lookAt(Trainer& trainer) const {
    const double begin = secondsNow();
    Moment moment;
    moment.state = trainer.state();
    const Evaluation train = trainer.evaluate(Split::train);
    moment.trainLoss = train.loss;
    moment.trainAccuracy = train.accuracy;
    if (data_.dataset.test.count > 0) {
        const Evaluation test = trainer.evaluate(Split::test);
        moment.testLoss = test.loss;
        moment.testAccuracy = test.accuracy;
    }
    moment.seconds = secondsNow() - begin;
    return moment;
}

bool PlaygroundSession::looking() const {
    const std::lock_guard lock(mutex_);
    return looking_;
}

std::optional<Moment> PlaygroundSession::takeMoment() {
    const std::lock_guard lock(mutex_);
    return std::exchange(mail_, std::nullopt);
}

} // namespace lockstep::demos
