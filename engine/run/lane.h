// A lane: one trainer on a thread of its own. Whoever watches it reads snapshots and leaves requests; neither
// ever waits for training.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/run/finish_line.h"
#include "engine/run/pace.h"
#include "engine/run/telemetry.h"
#include "engine/run/trainer.h"

namespace lockstep {

enum class LaneStatus {
    waiting,   ///< made, not started
    preparing, ///< warm-up: uploads, compilation, choice of kernels
    ready,     ///< prepared, and held at the starting line
    running,
    paused,
    finished, ///< the finish line was reached
    stopped,  ///< by request, before the finish line
    failed,   ///< by an error; LaneSnapshot::message says which
};

/// "waiting", "running", ...
std::string_view name(LaneStatus status);

/// What can be seen of a lane at one moment.
struct LaneSnapshot {
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

    LaneStatus status = LaneStatus::waiting;
    std::string message;             ///< why it failed; empty otherwise
    std::uint64_t step = 0;          ///< steps done, counted from the very first
    std::uint64_t runSteps = 0;      ///< steps done in this run: `step` unless it was resumed or moved
    std::uint64_t examples = 0;      ///< trained in this run
    double progress = 0;             ///< towards the finish line, 1 once finished; 0 where it is not known
    double loss = unknown;           ///< of training, a mean over about 50 steps (Telemetry::runningLoss)
    double testLoss = unknown;       ///< of the last evaluation
    double testAccuracy = unknown;   ///< of the last evaluation
    std::uint64_t evaluatedStep = 0; ///< steps done at the last evaluation
    double recentRate = 0;           ///< examples per second over about the last half second
    double trainingSeconds = 0;      ///< evaluation, pauses and warm-up not counted
    double deviceSeconds = 0;
    double warmUpSeconds = 0;
    double evaluationSeconds = 0;

    /// Examples per training second over the whole run; 0 before the first.
    double rate() const { return trainingSeconds > 0 ? static_cast<double>(examples) / trainingSeconds : 0; }
    bool over() const { return status >= LaneStatus::finished; }
};

struct LaneOptions {
    FinishLine finish;
    std::uint64_t evaluateEvery = 1;   ///< epochs between evaluations of the test split; 0: only at the end
    std::uint64_t keepLossEvery = 0;   ///< Telemetry's keepEvery
    std::optional<TrainerState> start; ///< what to start from instead of fresh weights
    bool startPaused = false;          ///< hold at the starting line until resume() or step()
    std::uint64_t saveEvery = 0;       ///< epochs between calls of `save`; 0: none
    /// Called on the lane's thread with every step done. An exception from it fails the lane.
    std::function<void(Trainer&)> save;
};

class Lane {
  public:
    using MakeTrainer = std::function<std::unique_ptr<Trainer>()>;

    /// `make` is called on the lane's thread. Throws std::invalid_argument for a finish line that makes no
    /// sense.
    Lane(std::string title, const TrainJob& job, MakeTrainer make, LaneOptions options);
    /// Stops and joins.
    ~Lane();
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    const std::string& title() const { return title_; }

    /// Starts the thread: prepares the trainer, then runs it (or waits, with startPaused). Once only.
    void start();
    /// Requests. They return at once; the lane follows within about 50 ms, or after the evaluation under way.
    void pause();
    void resume();
    /// A paused lane makes `steps` more steps and pauses again.
    void step(std::uint64_t steps);
    /// A lane that was never started is stopped too.
    void stop();

    /// Runs `action` once on the lane's thread, in the order of posting, between two requests to the trainer
    /// and with every step asked for done: within about 50 ms while running, at once while paused or held at
    /// the start, never before the trainer is ready. Where it restores another state, the lane goes on from
    /// there, and step, losses and telemetry follow. An exception from it fails the lane. What has not run
    /// when the lane is over is dropped.
    void post(std::function<void(Trainer&)> action);
    /// Actions posted so far, and those of them that have run or were dropped.
    std::uint64_t posted() const;
    std::uint64_t done() const;
    /// Waits until everything posted has run or was dropped, at most so long; true when it has.
    bool waitForPosted(std::chrono::milliseconds limit) const;

    LaneSnapshot snapshot() const;
    Telemetry telemetry() const;
    MachineInfo machine() const;                  ///< names are empty before the lane is ready
    std::optional<Evaluation> evaluation() const; ///< the last one of the test split

    /// Waits until the lane is over, at most so long; true when it is.
    bool waitFor(std::chrono::milliseconds limit) const;

    /// The trainer, for weights, states and timings. Only once the lane is over; null when it could not be
    /// made.
    Trainer* trainer() { return trainer_.get(); }

  private:
    using Action = std::function<void(Trainer&)>;

    void work();
    void prepare();
    void train();
    std::uint64_t allowedSteps();
    void countDown(std::uint64_t steps);
    void hold();
    bool runPosted();
    Action takePosted();
    void endOfAction();
    void follow();
    std::uint64_t nextHalt(std::uint64_t step) const;
    void halt();
    void collect();
    void evaluate();
    bool lineReached() const;
    void setStatus(LaneStatus status, std::string message = {});

    std::string title_;
    TrainJob job_;
    BatchOrder order_;
    MakeTrainer make_;
    LaneOptions options_;

    // Used by the lane's thread only, until the lane is over.
    std::unique_ptr<Trainer> trainer_;
    Pace pace_;
    std::uint64_t asked_ = 0; // steps asked of the trainer, counted from the very first
    bool evaluated_ = false;  // evaluation_ is of the weights at hand
    std::vector<LossPoint> newLosses_;
    std::uint64_t rateExamples_ = 0; // where the measurement of recentRate began
    double rateSeconds_ = 0;

    mutable std::mutex mutex_; // guards all below; held only to copy
    mutable std::condition_variable changed_;
    bool pauseWanted_ = false;
    bool stopWanted_ = false;
    std::uint64_t extraSteps_ = 0; // that a paused lane may make
    std::deque<Action> posted_;    // not yet taken
    std::uint64_t postedCount_ = 0;
    std::uint64_t doneCount_ = 0;
    LaneSnapshot snapshot_;
    Telemetry telemetry_;
    MachineInfo machine_;
    std::optional<Evaluation> evaluation_;

    std::thread thread_;
};

} // namespace lockstep
