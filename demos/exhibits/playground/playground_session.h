// One lane of the playground, and what is seen of its training.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "demos/exhibits/playground/playground_settings.h"
#include "demos/kit/pacer.h"
#include "engine/run/lane.h"

namespace lockstep::demos {

/// Where a lane ends: at a million steps per second, 35 years from its first one.
inline constexpr std::uint64_t mostSteps = std::uint64_t{1} << 50;

/// What was seen of the training at one step.
struct Moment {
    static constexpr double unknown = LaneSnapshot::unknown;

    TrainerState state;
    Optimizer optimizer = Optimizer::sgd; ///< whose state it is
    double trainLoss = unknown;
    double testLoss = unknown;
    double trainAccuracy = unknown;
    double testAccuracy = unknown;
    double seconds = 0;           ///< that the look took
    std::uint64_t generation = 0; ///< of the weights: looks from before a reset are out of date
};

/// One lane with all that it trains on. A change of what the trainer is made of makes a new one.
class PlaygroundSession {
  public:
    using TrainerMaker = std::function<Lane::MakeTrainer(const TrainJob&)>;

    /// Starts the lane, held at step `start.step`. There has to be a training example.
    PlaygroundSession(const PlaygroundSettings& settings, PlaygroundData data, const TrainerMaker& maker,
                      TrainerState start)
        : data_(std::move(data)) {
        job_.data = &data_.dataset;
        job_.shape = settings.shape();
        job_.settings = settings.train;
        LaneOptions options;
        options.finish.steps = mostSteps;
        options.evaluateEvery = 0; // looks do that
        options.startPaused = true;
        options.start = std::move(start);
        lane_ = std::make_unique<Lane>("playground", job_, maker(job_), std::move(options));
        lane_->start();
    }

    Lane& lane() const { return *lane_; }
    bool preparing() const { return lane_->snapshot().status == LaneStatus::preparing; }
    /// Takes weights: held or running, not while it is being prepared and not once it is over.
    bool alive() const {
        const LaneStatus status = lane_->snapshot().status;
        return status == LaneStatus::ready || status == LaneStatus::running || status == LaneStatus::paused;
    }
    /// Goes on, held, from these weights instead.
    void restore(TrainerState state) {
        lane_->resume(); // forgets steps that were still to be made
        lane_->pause();
        lane_->post([state = std::move(state)](Trainer& trainer) { trainer.restore(state); });
    }

    /// From the next step on; false where that needs another trainer.
    bool changeOptimizer(const OptimizerSettings& wanted) {
        if (!alive() || wanted.kind != job_.settings.optimizer.kind) return false;
        lane_->post([wanted](Trainer& trainer) { trainer.setOptimizer(wanted); });
        job_.settings.optimizer = wanted;
        return true;
    }

    /// Asks for a look at the weights and losses as they are then; takeMoment() has it later. One at a time.
    void look(std::uint64_t generation) {
        {
            const std::lock_guard lock(mutex_);
            looking_ = true;
        }
        lane_->post([this, generation, kind = job_.settings.optimizer.kind](Trainer& trainer) {
            const double begin = secondsNow();
            Moment moment{.state = trainer.state(), .optimizer = kind, .generation = generation};
            const Evaluation train = trainer.evaluate(Split::train);
            moment.trainLoss = train.loss;
            moment.trainAccuracy = train.accuracy;
            if (data_.dataset.test.count > 0) {
                const Evaluation test = trainer.evaluate(Split::test);
                moment.testLoss = test.loss;
                moment.testAccuracy = test.accuracy;
            }
            moment.seconds = secondsNow() - begin;
            const std::lock_guard lock(mutex_);
            mail_ = std::move(moment);
            looking_ = false;
        });
    }
    bool looking() const {
        const std::lock_guard lock(mutex_);
        return looking_;
    }
    std::optional<Moment> takeMoment() {
        const std::lock_guard lock(mutex_);
        return std::exchange(mail_, std::nullopt);
    }

  private:
    PlaygroundData data_;
    TrainJob job_;
    mutable std::mutex mutex_; // guards the next
    std::optional<Moment> mail_;
    bool looking_ = false;
    std::unique_ptr<Lane> lane_; // its thread uses all of the above
};

} // namespace lockstep::demos
