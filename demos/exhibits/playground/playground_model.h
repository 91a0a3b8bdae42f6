// The playground without its looks: settings, points, the lane that trains, and what was seen of it.
//
// Every setting but the network's shape changes while it trains: an optimizer's numbers in the trainer
// itself, the rest by a new lane that goes on from the old one's weights. The window's thread waits for
// neither.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "demos/exhibits/playground/playground_settings.h"
#include "demos/kit/futures.h"
#include "demos/kit/pacer.h"
#include "engine/net/param_layout.h"
#include "engine/run/lane.h"

namespace lockstep::demos {

/// The losses seen so far, for the curves; thinned out as they grow, so that a night of training still fits.
class LossHistory {
  public:
    /// Steps must not go down; the same step replaces its values.
    void add(std::uint64_t step, double trainLoss, double testLoss) {
        const auto at = static_cast<double>(step);
        // The newest is always there; it is replaced until it is far enough from the one before.
        const std::size_t count = steps().size();
        const bool close = count >= 2 && at - steps()[count - 2] < static_cast<double>(stride_);
        if (count > 0 && (close || steps().back() >= at)) resize(count - 1);
        columns_[0].push_back(at);
        columns_[1].push_back(trainLoss);
        columns_[2].push_back(testLoss);
        if (steps().size() < capacity) return;
        const std::size_t half = steps().size() / 2;
        for (std::vector<double>& column : columns_)
            for (std::size_t i = 0; i < half; ++i) column[i] = column[2 * i];
        resize(half);
        stride_ =
            static_cast<std::uint64_t>((steps().back() - steps().front()) / static_cast<double>(half)) + 1;
    }
    /// Forgets what came after `step`.
    void goBackTo(std::uint64_t step) {
        const auto after = std::ranges::upper_bound(steps(), static_cast<double>(step));
        resize(static_cast<std::size_t>(after - steps().begin()));
    }

    std::span<const double> steps() const { return columns_[0]; }
    std::span<const double> train() const { return columns_[1]; }
    std::span<const double> test() const { return columns_[2]; }

    struct Lowest {
        double step = std::numeric_limits<double>::quiet_NaN();
        double loss = step;
    };
    /// The first of the lowest losses on test points that are kept; NaN: there is none.
    Lowest lowestTest() const {
        Lowest lowest;
        for (std::size_t i = 0; i < steps().size(); ++i)
            if (!std::isnan(test()[i]) && !(test()[i] >= lowest.loss)) lowest = {steps()[i], test()[i]};
        return lowest;
    }

  private:
    void resize(std::size_t count) {
        for (std::vector<double>& column : columns_) column.resize(count);
    }

    static constexpr std::size_t capacity = 2048;
    std::array<std::vector<double>, 3> columns_;
    std::uint64_t stride_ = 1; // between points kept
};

/// What a saved state may have trained: at a million steps per second, 17 years.
inline constexpr std::uint64_t mostSteps = std::uint64_t{1} << 49;

/// What was seen of the training at one step.
struct Moment {
    static constexpr double unknown = LaneSnapshot::unknown;

    TrainerState state;
    Optimizer optimizer = Optimizer::sgd; ///< whose state it is
    Evaluation train{.loss = unknown, .accuracy = unknown, .confusion = {}};
    Evaluation test = train;
    double seconds = 0;           ///< that the look took
    std::uint64_t generation = 0; ///< of the weights: looks at those before are out of date
};

class PlaygroundSession;

class PlaygroundModel {
  public:
    using TrainerMaker = std::function<Lane::MakeTrainer(const TrainJob&)>;

    PlaygroundModel();
    ~PlaygroundModel();

    const PlaygroundSettings& settings() const { return settings_; }
    /// Throws std::invalid_argument, and then nothing has changed. Another shape starts with fresh weights.
    /// This and everything below that sets weights is an edit, which undoEdit() takes back.
    void change(const PlaygroundSettings& settings);
    /// Changes what `action(settings)` changes.
    template <class Action> void edit(Action action) {
        PlaygroundSettings settings = settings_;
        action(settings);
        change(settings);
    }

    /// Once per frame: brings news, follows changes. `maker` makes trainers for the settings' lane.
    /// scripted   trains a fixed number of steps and waits until all that was asked for has been done
    void update(const TrainerMaker& maker, double seconds, bool scripted);

    /// Takes the last edit back, or makes it again: settings, points, and the weights where it replaced them.
    void undoEdit() { travel(edits_, undone_); }
    void redoEdit() { travel(undone_, edits_); }
    std::size_t edits() const { return edits_.size(); } ///< that can be undone
    /// Number of the edit (nextEditNumber()) that undoEdit() takes back, or redoEdit() makes again; 0: none.
    std::uint64_t undoableEdit() const { return edits_.empty() ? 0 : edits_.back().number; }
    std::uint64_t redoableEdit() const { return undone_.empty() ? 0 : undone_.back().number; }
    void forgetEdits() { edits_.clear(), undone_.clear(); }
    /// While held, as the mouse holds a slider, all changes are one edit.
    void holdEdit(bool held) {
        held_ = held;
        if (!held) editOpen_ = false;
    }

    bool running() const { return running_; }
    void run() {
        if (failed()) rebuildWanted_ = true; // once more from what was seen last
        running_ = true;
        pacer_.restart();
    }
    void pause();
    /// Pauses, and makes that many steps more.
    void step(std::uint64_t steps) {
        if (failed()) return;
        pause();
        queued_ += steps;
    }
    std::uint64_t stepsToEpochEnd() const {
        const std::uint64_t epoch = order().stepsPerEpoch();
        return epoch - step() % epoch;
    }
    /// Steps per second; 0: as fast as it goes.
    void setSpeed(double stepsPerSecond);
    bool flatOut() const { return pacer_.flatOut(); }
    /// Fresh weights of the same seed.
    void reset() { setWeights(initialWeights(shape(), settings_.train.seed), 0); }
    void reroll() {
        holdEdit(true);
        edit([](PlaygroundSettings& settings) { ++settings.train.seed; });
        reset();
        holdEdit(false);
    }
    /// Back by so many steps, exactly where no setting has changed since; else to the state kept before it.
    void undo(std::uint64_t steps);
    bool canUndo() const { return step() > 0 || failed(); }
    /// One number of the parameter arena (ParamLayout), as it is from the next step on.
    void setParameter(std::size_t index, float value);
    /// All of them, as if trained for so many steps.
    void setWeights(std::vector<float> parameters, std::uint64_t step);

    NetShape shape() const { return settings_.shape(); }
    const std::vector<PlanePoint>& points() const { return data_.points; }
    const Dataset& dataset() const { return data_.dataset; }
    const Moment& moment() const { return moment_; }
    std::uint64_t step() const { return moment_.state.step; }
    /// The weights are not those that the seed gives.
    bool changed() const {
        return step() > 0 || parameters() != initialWeights(shape(), settings_.train.seed);
    }
    const std::vector<float>& parameters() const { return moment_.state.parameters; }
    /// The weights that were seen before, of the same shape; empty at the start.
    const std::vector<float>& earlier() const { return earlier_; }
    std::uint64_t stepsSinceEarlier() const { return step() - earlierStep_; }
    /// Grows whenever parameters() change.
    std::uint64_t revision() const { return revision_; }
    const LossHistory& history() const { return history_; }
    LaneSnapshot laneSnapshot() const;
    /// Ends the comparison of kernels of a lane that prepares (Lane::skipTuning()).
    void skipTuning();
    MachineInfo machine() const;

    bool failed() const { return !failure_.empty(); }
    const std::string& failure() const { return failure_; } ///< with a hint
    /// The dense layer (from 0) whose numbers went wrong, where that is known.
    std::optional<std::size_t> failedLayer() const;
    /// Something is under way, so that frames are wanted.
    bool busy() const;
    bool trainable() const { return data_.dataset.train.count > 0; }
    BatchOrder order() const;

    /// Gives up the lane, and waits for it. Weights, as they were seen last, curves and settings stay; what
    /// was running goes on from there at the next update(). True when something was.
    bool releaseDevice();

  private:
    // A state on the way back.
    struct Kept {
        TrainerState state;
        Optimizer optimizer = Optimizer::sgd;
        std::uint64_t settingsRevision = 0;
    };
    // The playground on the other side of an edit.
    struct Edit {
        std::uint64_t number = 0;
        PlaygroundSettings settings;
        std::optional<Kept> weights; // where it replaced them, with the losses up to there
        LossHistory history;
    };

    void note(bool weights);
    Edit present(bool weights) const;
    void travel(std::vector<Edit>& from, std::vector<Edit>& to);
    void apply(const PlaygroundSettings& wanted);
    void begin(std::vector<float> parameters, std::uint64_t step);
    bool follow(const TrainerMaker& maker);
    void collect();
    void drive(double seconds);
    void settle(const TrainerMaker& maker);
    void adopt(TrainerState state, Optimizer optimizer);
    void remember();
    TrainerState fitted(TrainerState state, Optimizer optimizer) const;
    bool alive() const;

    PlaygroundSettings settings_;
    PlaygroundData data_;
    SessionSlot<PlaygroundSession> session_;
    bool rebuildWanted_ = true; // the lane is not the settings' one
    bool lastLook_ = false;     // before it goes, its weights are needed

    Moment moment_;
    bool seen_ = false; // the moment is the lane's own, not what it was told to begin with
    std::uint64_t revision_ = 0;
    std::vector<float> earlier_;
    std::uint64_t earlierStep_ = 0;
    double sinceLook_ = 0;

    bool running_ = false;
    bool ranUntilFailure_ = false;
    Pacer pacer_;
    std::uint64_t queued_ = 0; // steps to be made while held

    LossHistory history_;
    std::deque<Kept> ring_; // the first is where it all began
    std::uint64_t settingsRevision_ = 0;
    std::string failure_;
    std::optional<NonFinitePlace> nonFinite_; // of that failure, as LaneSnapshot
    bool deviceLost_ = false;                 // likewise

    std::vector<Edit> edits_;
    std::vector<Edit> undone_;
    bool held_ = false;
    bool editOpen_ = false; // further changes belong to the last edit
};

} // namespace lockstep::demos
