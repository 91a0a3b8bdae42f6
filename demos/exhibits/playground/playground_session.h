// One lane of the playground with all that it trains on. A change of what the trainer is made of makes a new
// one.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "demos/exhibits/playground/playground_settings.h"
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

class PlaygroundSession {
  public:
    using TrainerMaker = std::function<Lane::MakeTrainer(const TrainJob&)>;

    PlaygroundSession(const PlaygroundSettings& settings, PlaygroundData data);

    /// Starts the lane, held at step `start->step`. There has to be a training example.
    void begin(const TrainerMaker& maker, std::optional<TrainerState> start);
    bool begun() const { return lane_ != nullptr; }

    const PlaygroundSettings& settings() const { return settings_; }
    const TrainJob& job() const { return job_; }
    Lane& lane() { return *lane_; }
    const Lane& lane() const { return *lane_; }
    BatchOrder order() const;
    bool trainable() const { return data_.dataset.train.count > 0; }
    bool preparing() const;
    /// Takes weights: held or running, not while it is being prepared and not once it is over.
    bool alive() const;
    /// Goes on, held, from these weights instead.
    void restore(TrainerState state);

    /// From the next step on; false where that needs another trainer.
    bool changeOptimizer(const PlaygroundSettings& settings);

    /// Asks for a look at the weights and losses as they are then; takeMoment() has it later. One at a time.
    void look(std::uint64_t generation);
    bool looking() const;
    std::optional<Moment> takeMoment();

  private:
    PlaygroundSettings settings_;
    PlaygroundData data_;
    TrainJob job_;
    mutable std::mutex mutex_; // guards the next
    std::optional<Moment> mail_;
    bool looking_ = false;
    std::unique_ptr<Lane> lane_; // its thread uses all of the above
};

} // namespace lockstep::demos
