// A lane: a trainer on its own thread. Other threads read snapshots and post requests without waiting for
// training.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/run/energy.h"
#include "engine/run/finish_line.h"
#include "engine/run/telemetry.h"
#include "engine/run/trainer.h"
#include "engine/step/work_sizer.h"
#include "engine/tune/tuning.h"

namespace lockstep {

enum class LaneStatus {
    waiting,   ///< not started yet
    preparing, ///< warm-up: uploads, compilation, choice of kernels
    ready,     ///< prepared, waiting at the starting line
    running,
    paused,
    finished, ///< the finish line was reached
    stopped,  ///< by request, before the finish line
    failed,   ///< by an error, given in LaneSnapshot::message
};

/// "waiting", "running", ...
std::string_view name(LaneStatus status);

/// The state of a lane at one moment.
struct LaneSnapshot {
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

    LaneStatus status = LaneStatus::waiting;
    std::string message; ///< why it failed; empty otherwise
    /// The comparison of kernels that gpu:best makes while the lane prepares; then, how it ended.
    TuningProgress tuning = {};
    std::optional<NonFinitePlace> nonFinite; ///< where, if it failed by a loss that is not finite
    bool deviceLost = false;                 ///< it failed by that, and can go on with the next device
    std::uint64_t step = 0;                  ///< steps done, including those before a resume
    std::uint64_t runSteps = 0;      ///< steps done in this run: equals `step` unless resumed or moved
    std::uint64_t examples = 0;      ///< examples trained in this run
    double progress = 0;             ///< 0 to 1 towards the finish line; 0 if unknown
    double loss = unknown;           ///< training loss, mean over about 50 steps (Telemetry::runningLoss)
    double testLoss = unknown;       ///< from the last evaluation
    double testAccuracy = unknown;   ///< from the last evaluation
    std::uint64_t evaluatedStep = 0; ///< steps done at the last evaluation
    double recentRate = 0;           ///< examples per second over about the last half second
    double trainingSeconds = 0;      ///< without evaluation, pauses and warm-up
    double extraSeconds = 0;         ///< timed beyond the finish line (LaneOptions::leastSeconds) ...
    std::uint64_t extraExamples = 0; ///< ... and the examples trained in them
    double deviceSeconds = 0;
    double warmUpSeconds = 0;
    double evaluationSeconds = 0;
    /// Mean power of the machine from the first step to the last, evaluations included, where the system
    /// counts energy (EnergyMeter). Of runs that are timed (LaneOptions::compareTimes), once they are over.
    double watts = unknown;

    /// Seconds that rate() is of.
    double timedSeconds() const { return trainingSeconds + extraSeconds; }
    /// Samples per second of training time over the whole run and beyond; 0 before the first.
    double rate() const {
        return timedSeconds() > 0 ? static_cast<double>(examples + extraExamples) / timedSeconds() : 0;
    }
    bool over() const { return status >= LaneStatus::finished; }
};

struct LaneOptions {
    FinishLine finish;                 ///< none set: the lane trains until stop()
    std::uint64_t evaluateEvery = 1;   ///< epochs between evaluations on the test split; 0: only at the end
    std::uint64_t keepLossEvery = 0;   ///< Telemetry's keepEvery
    std::optional<TrainerState> start; ///< initial state instead of random weights
    bool startPaused = false;          ///< wait at the starting line until resume() or step()
    std::optional<double> tuneSeconds; ///< Tuning::seconds(): 0 skips the comparison of kernels
    /// For times that can be compared. Before the first step, Trainer::rehearse() for at most so many
    /// seconds: a machine that idled is slow at first.
    double settleSeconds = 0;
    /// After the finish line the same until training was timed for so long: a few milliseconds say little.
    /// A pause does not end that, for a lane that is stepped is paused always.
    double leastSeconds = 0;
    void compareTimes() {
        settleSeconds = 2;
        timeOn();
    }
    void timeOn() { leastSeconds = 1; }
    /// Where ranks in other processes train with this lane, they make the same steps, and end together.
    /// Called with what this rank would do next, and returns what all do: the smallest of all ranks' numbers.
    std::function<std::uint64_t(std::uint64_t)> agree;
    /// Called on the lane's thread once it has failed, other than by a loss that is not finite: those ranks
    /// fail alike.
    std::function<void(const std::string& why)> lost;
    static constexpr std::uint64_t stops = 0;    ///< by request
    static constexpr std::uint64_t finishes = 1; ///< the line is reached; above, that many steps more
    std::uint64_t saveEvery = 0;                 ///< epochs between calls of `save`; 0: never
    /// Called on the lane's thread when no steps are pending. An exception from it, of whatever type, fails
    /// the lane.
    std::function<void(Trainer&)> save;
};

class Lane {
  public:
    /// What makes a trainer: a function without arguments; or with a flag; or with that and a Tuning*. Once
    /// the flag is set, the trainer is no longer wanted, and the function may throw (gpu::Cancelled, say).
    /// The Tuning is for makeTrainer(): by it, the lane shows and skips the comparison of kernels.
    class MakeTrainer {
      public:
        template <class Make>
        requires(!std::is_same_v<std::remove_cvref_t<Make>, MakeTrainer>) MakeTrainer(Make make) {
            if constexpr (std::is_invocable_v<Make&>)
                make_ = [make = std::move(make)](const std::atomic<bool>*, Tuning*) mutable {
                    return make();
                };
            else if constexpr (std::is_invocable_v<Make&, const std::atomic<bool>*>)
                make_ = [make = std::move(make)](const std::atomic<bool>* cancelled, Tuning*) mutable {
                    return make(cancelled);
                };
            else
                make_ = std::move(make);
        }
        std::unique_ptr<Trainer> operator()(const std::atomic<bool>* cancelled = nullptr,
                                            Tuning* tuning = nullptr) const {
            return make_(cancelled, tuning);
        }

      private:
        std::function<std::unique_ptr<Trainer>(const std::atomic<bool>* cancelled, Tuning* tuning)> make_;
    };

    /// `make` runs on the lane's thread. Throws std::invalid_argument for an invalid finish line.
    Lane(std::string title, const TrainJob& job, MakeTrainer make, LaneOptions options);
    /// Stops and joins.
    ~Lane();
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    const std::string& title() const { return title_; }

    /// Starts the thread, which prepares the trainer and runs it (or waits, if startPaused). Call once.
    void start();
    /// Requests return at once. The lane reacts within about 50 ms, or after the current evaluation; to
    /// stop() also while its trainer is made, if that watches the flag.
    void pause();
    void resume();
    /// Lets a paused lane make `steps` steps and pause again.
    void step(std::uint64_t steps);
    /// Also stops a lane that was never started.
    void stop();
    /// Tuning::skip() for the trainer in the making: the lane trains soon after. Nothing once it is made.
    void skipTuning() { tuning_.skip(); }

    /// Runs `action` once on the lane's thread, in the order of posting, when the trainer is ready and no
    /// steps are pending: within about 50 ms while running, at once while paused or at the starting line. If
    /// it restores another state, the lane continues from there; step, losses and telemetry follow. An
    /// exception from it, of whatever type, fails the lane. Actions that have not run when the lane ends are
    /// dropped.
    void post(std::function<void(Trainer&)> action);
    /// Like post(), for an action that has an answer: what it returns, or throws, which fails the lane, too.
    /// An action that was dropped leaves std::future_error (broken_promise).
    template <class Action> auto ask(Action action) {
        using Answer = std::invoke_result_t<Action&, Trainer&>;
        auto promise = std::make_shared<std::promise<Answer>>(); // a std::function copies what it holds
        std::future<Answer> answer = promise->get_future();
        post([promise = std::move(promise), action = std::move(action)](Trainer& trainer) mutable {
            try {
                if constexpr (std::is_void_v<Answer>) {
                    action(trainer);
                    promise->set_value();
                } else {
                    promise->set_value(action(trainer));
                }
            } catch (...) {
                promise->set_exception(std::current_exception());
                throw;
            }
        });
        return answer;
    }
    /// The number of posted actions that have neither run to their end nor been dropped.
    std::uint64_t pending() const { return copyOf(pending_); }
    /// Waits until none is pending, with a time limit. Returns true if none is.
    bool waitForPosted(std::chrono::milliseconds limit) const;

    LaneSnapshot snapshot() const {
        LaneSnapshot now = copyOf(snapshot_);
        now.tuning = tuning_.progress();
        return now;
    }
    Telemetry telemetry() const { return copyOf(telemetry_); }
    MachineInfo machine() const { return copyOf(machine_); } ///< names are empty until the lane is ready
    /// The last one on the test split.
    std::optional<Evaluation> evaluation() const { return copyOf(evaluation_); }

    /// Waits until the lane is over, with a time limit. Returns true if it is.
    bool waitFor(std::chrono::milliseconds limit) const;

    /// The trainer, for weights, states and timings. Only after the lane is over; null if it could not be
    /// created.
    Trainer* trainer() { return trainer_.get(); }

  private:
    using Action = std::function<void(Trainer&)>;

    template <class Member> Member copyOf(const Member& member) const {
        const std::lock_guard lock(mutex_);
        return member;
    }
    void work();
    void train();
    std::uint64_t allowedSteps();
    std::uint64_t nextMove();
    void hold();
    bool runPosted();
    Action takePosted();
    void follow();
    std::uint64_t nextHalt(std::uint64_t step) const;
    void halt();
    void rehearse();
    void noteEnergy();
    void timeOn();
    bool mayTrain() const;
    void settle();
    void collect(std::uint64_t steps = 0);
    void evaluate();
    bool lineReached() const;
    void skipInterruption();
    void fail(const std::exception& error);
    void setStatus(LaneStatus status, std::string message = {});

    std::string title_;
    TrainJob job_;
    BatchOrder order_;
    MakeTrainer make_;
    LaneOptions options_;

    Tuning tuning_; ///< of the trainer in the making

    // Used by the lane's thread only, until the lane is over.
    std::unique_ptr<Trainer> trainer_;
    WorkSizer request_{{20, 1 << 20}}; ///< steps of a call of Trainer::run(): 20 ms of them
    std::uint64_t asked_ = 0;          // steps requested from the trainer, counted like LaneSnapshot::step
    bool evaluated_ = false;           // evaluation_ belongs to the current weights
    bool rehearsed_ = false;
    double rehearsalSeconds_ = 0;
    std::optional<EnergyMeter> energy_; // once it trains
    std::chrono::steady_clock::time_point energySince_;
    std::vector<LossPoint> newLosses_;
    std::uint64_t rateExamples_ = 0; // at the start of the measurement of recentRate
    double rateSeconds_ = 0;

    mutable std::mutex mutex_; // guards everything below; held only while copying
    mutable std::condition_variable changed_;
    bool pauseWanted_ = false;
    std::atomic<bool> stopWanted_ = false; ///< set while locked; a trainer in the making watches it
    std::uint64_t extraSteps_ = 0;         // steps that a paused lane may make
    std::deque<Action> posted_;            // not yet taken
    std::uint64_t pending_ = 0;            // these, and the one that runs
    LaneSnapshot snapshot_;
    Telemetry telemetry_;
    MachineInfo machine_;
    std::optional<Evaluation> evaluation_;

    std::thread thread_;
};

} // namespace lockstep
