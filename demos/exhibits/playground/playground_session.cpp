#include "demos/exhibits/playground/playground_session.h"

#include <utility>

#include "demos/kit/pacer.h"

namespace lockstep::demos {

namespace {

Moment lookAt(Trainer& trainer, const Dataset& data, std::uint64_t generation) {
    const double begin = secondsNow();
    Moment moment;
    moment.generation = generation;
    moment.state = trainer.state();
    const Evaluation train = trainer.evaluate(Split::train);
    moment.trainLoss = train.loss;
    moment.trainAccuracy = train.accuracy;
    if (data.test.count > 0) {
        const Evaluation test = trainer.evaluate(Split::test);
        moment.testLoss = test.loss;
        moment.testAccuracy = test.accuracy;
    }
    moment.seconds = secondsNow() - begin;
    return moment;
}

} // namespace

PlaygroundSession::PlaygroundSession(const PlaygroundSettings& settings, PlaygroundData data)
    : settings_(settings), data_(std::move(data)) {
    job_.data = &data_.dataset;
    job_.shape = settings.shape();
    job_.settings = settings.train;
}

void PlaygroundSession::begin(const TrainerMaker& maker, std::optional<TrainerState> start) {
    LaneOptions options;
    options.finish.steps = mostSteps;
    options.evaluateEvery = 0; // looks do that
    options.startPaused = true;
    options.start = std::move(start);
    lane_ = std::make_unique<Lane>("playground", job_, maker(job_), std::move(options));
    lane_->start();
}

BatchOrder PlaygroundSession::order() const {
    const TrainSettings& train = job_.settings;
    return {data_.dataset.train.count, train.batch, train.seed, train.shuffle};
}

bool PlaygroundSession::alive() const {
    if (!lane_) return false;
    const LaneStatus status = lane_->snapshot().status;
    return status == LaneStatus::ready || status == LaneStatus::running || status == LaneStatus::paused;
}

bool PlaygroundSession::preparing() const {
    return lane_ != nullptr && lane_->snapshot().status == LaneStatus::preparing;
}

void PlaygroundSession::restore(TrainerState state) {
    lane_->resume(); // forgets steps that were still to be made
    lane_->pause();
    lane_->post([state = std::move(state)](Trainer& trainer) { trainer.restore(state); });
}

bool PlaygroundSession::changeOptimizer(const PlaygroundSettings& settings) {
    const OptimizerSettings& wanted = settings.train.optimizer;
    if (!alive() || wanted.kind != settings_.train.optimizer.kind) return false;
    lane_->post([wanted](Trainer& trainer) { trainer.setOptimizer(wanted); });
    settings_.train.optimizer = job_.settings.optimizer = wanted;
    return true;
}

void PlaygroundSession::look(std::uint64_t generation) {
    {
        const std::lock_guard lock(mutex_);
        looking_ = true;
    }
    lane_->post([this, generation](Trainer& trainer) {
        Moment moment = lookAt(trainer, data_.dataset, generation);
        moment.optimizer = job_.settings.optimizer.kind;
        const std::lock_guard lock(mutex_);
        mail_ = std::move(moment);
        looking_ = false;
    });
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
