// A race and its life, without a window: settings, data, lanes, and what can be seen of them. Nothing here
// waits for training, unless a script asks it to.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "demos/exhibits/race/race_history.h"
#include "demos/exhibits/race/race_settings.h"
#include "demos/kit/futures.h"
#include "demos/kit/machines.h"
#include "demos/kit/pacer.h"
#include "demos/report/other_load.h"
#include "demos/report/repeats.h"
#include "engine/run/inference.h"
#include "engine/run/race.h"

namespace lockstep::demos {

inline bool haveImages(const Dataset& data) {
    return data.imageWidth > 0 && data.classes > 1 && data.test.count > 0;
}
/// How many test images, from the first on, lanes are asked about for the pictures on their cards.
inline std::size_t pictureRows(const Dataset& data) {
    constexpr std::size_t most = 72;
    return haveImages(data) ? std::min(most, data.test.count) : 0;
}

/// What a lane's network answers to examples [first, first + rows) of the test split.
struct LaneAnswers {
    std::uint64_t step = 0; ///< steps done when it answered
    std::size_t first = 0;
    std::size_t rows = 0;
    std::vector<float> outputs; ///< [rows][outputs]
};

/// What a lane's trainer has answered.
struct LaneProbe {
    std::vector<OperationTiming> operations;
    std::optional<LaneAnswers> answers;
    std::optional<Evaluation> evaluation; ///< asked for, newer than the lane's own
    std::uint64_t evaluatedStep = 0;
    std::shared_ptr<Inference> network; ///< with the weights of step `networkStep`
    std::uint64_t networkStep = 0;
    std::optional<LaneAnswers> pictures; ///< to the first test images
    double seconds = 0;                  ///< that the last answer took the lane
};

/// What to fetch when polling lanes.
struct ProbeWish {
    bool operations = false;
    bool evaluation = false;
    std::size_t first = 0; ///< answers to test examples [first, first + rows)
    std::size_t rows = 0;
    bool network = false;  ///< the network itself, for an example that is not in the data
    bool pictures = false; ///< answers to the first test images
};

/// Answers to the first test images that timed lanes give where they stop for an evaluation anyway, so that
/// no look takes anything from what is timed. Shared with the lanes' threads.
struct EpochLooks {
    std::mutex mutex;
    std::vector<const Trainer*> trainers; ///< by lane
    std::vector<std::optional<LaneAnswers>> answers;
};

/// What the window's frames took from a lane while it trained.
struct WindowTime {
    /// none: they are drawn elsewhere. measured: they take turns with the lane on one queue. unknown: both
    /// use the same device or processor in a way that cannot be told apart.
    enum class Kind { none, measured, unknown };
    Kind kind = Kind::none;
    double seconds = 0;    ///< measured only
    bool training = false; ///< the lane, when it was last looked at
};

/// The threads that each lane's trainer began with, by lane: noted where it is made. Shared with the lanes'
/// threads.
using LaneTeams = std::vector<std::atomic<std::size_t>>;

/// One race with its repeated runs, from its start until the next one begins.
struct RaceRun {
    std::uint64_t number = 0;            ///< counted from 1
    std::string remark;                  ///< on the choice of lanes; empty: nothing to say
    RaceSettings settings;               ///< that it was started with
    std::shared_ptr<const Dataset> data; ///< shared with races that are still stopping
    TrainJob job;
    FinishLine finish;
    /// The lanes of the run under way, as far as they are. Once the race is over, those whose curves stand
    /// for all runs; their numbers are in figures().
    std::vector<LaneResult> lanes;
    std::vector<std::map<std::uint64_t, double>> accuracies; ///< by lane and step, as they were seen
    std::vector<std::vector<LaneResult>> finished;           ///< [run][lane], those that count

    std::vector<LaneSpec> specs() const {
        std::vector<LaneSpec> specs;
        for (const LaneResult& lane : lanes) specs.push_back(lane.spec);
        return specs;
    }

    std::vector<LaneProbe> probes;             ///< one per lane
    std::unique_ptr<Race> race;                ///< null between runs, and once its device was given up
    std::vector<std::future<LaneProbe>> asked; ///< one per lane; what is new in `probes` with the next look

    std::vector<WindowTime> window; ///< one per lane
    bool over = false;
    bool paused = false;  ///< by a person
    bool stepped = false; ///< made in pieces by hand or in slow motion: nothing is compared
    /// By a person, likewise in the runs to come; or by a rough race of a wide network.
    bool tuningSkipped = false;
    bool timed = false; ///< a time trial flat out: its lanes are not looked into while they run
    std::shared_ptr<EpochLooks> looks; ///< of the run under way, if it is timed
    std::shared_ptr<LaneTeams> teams;
    bool byFrames = false; ///< made in pieces by a script: a GPU is a little slower than flat out
    LoadWatch watch;
    // Once `over`:
    RepeatedRace repeated;
    Headline headline;
    std::optional<OtherLoad> load;

    std::uint64_t lastStep() const { return finish.lastStep(job.order()); }
    /// The lanes' numbers: of the run under way or, once the race is over, the medians of all.
    std::vector<LaneFigures> figures() const {
        return over && repeated.figures.size() == lanes.size() ? repeated.figures : figuresOf(lanes);
    }
    /// Whether lanes are compared by their time to a target, and not by their rates.
    bool bySeconds() const { return over && headline.valid ? headline.bySeconds : finish.needsEvaluation(); }
    /// The lane that compares kernels now; empty: none does.
    std::optional<std::size_t> tuningLane() const;
    /// Lanes that may move now: all of a head to head, the one whose turn it is in a time trial.
    std::vector<std::size_t> current() const;
};

class RaceModel {
  public:
    ~RaceModel() { release(); }

    RaceSettings settings; ///< of the next race
    /// Whether lanes that a script drives may be compared after less than shortestRace seconds: for tests,
    /// and pictures whose numbers are masked. Otherwise they are timed beyond the finish line, too. Wide
    /// networks are evaluated on a part of the test examples then, and train with the likeliest kernels:
    /// comparing them would take longer than the race.
    bool rough = false;

    /// Goes on with a race that is paused; else begins a new one at the next update().
    void start();
    void pause() {
        paused_ = true;
        if (run_ && run_->race) run_->race->pause();
    }
    /// Lanes that may move make so many steps and hold again. Begins a race when there is none.
    void step(std::uint64_t steps) {
        if (!racing() || changed()) start();
        pause();
        pendingSteps_ += steps;
    }
    void stepEpoch() {
        step(0);
        ++pendingEpochs_;
    }
    /// Ends the comparison of kernels of the race under way: its lanes train soon after (Lane::skipTuning()).
    void skipTuning();
    /// Stops and forgets the race. What was done stays in the history.
    void reset() {
        retire();
        startWanted_ = false;
        paused_ = false;
    }
    /// Steps per second; 0: as fast as it goes.
    void setSpeed(double stepsPerSecond);
    /// Stops the race and waits for its threads: nothing is left on any device. Results stay. True when a
    /// race has ended by that.
    bool release();
    /// How long the queue that the window shares with lanes has drawn so far, where that is measured.
    void noteDrawing(std::optional<double> seconds) { drawn_ = seconds; }

    /// Once per frame: loads, starts, drives and looks at the lanes. With `wait`, the lanes make the same
    /// number of steps in every frame, and all that was asked for is there when this returns. Throws what is
    /// wrong with data, settings or devices; there is no race then.
    void update(Machines& machines, double seconds, bool wait);
    /// Asks all lanes that can answer, but for those whose last question is still open; true when there are
    /// none of these. With `wait`, the answers are there when this returns, and it throws what
    /// update() throws.
    bool probe(const ProbeWish& wish, bool wait);

    /// The data of the next race as it would read them; null while they are loaded. Throws what is wrong with
    /// them.
    std::shared_ptr<const Dataset> dataOfNext(bool wait) { return data_.get(settings.run, wait); }

    const RaceRun* shown() const { return run_.get(); }
    /// Races that are over or were stopped, the newest last.
    const std::vector<PastRun>& history() const { return history_; }
    void setHistory(std::vector<PastRun> runs);
    void setNote(std::uint64_t number, const std::string& note);
    bool running() const { return (startWanted_ || racing()) && !paused_; }
    /// A lane on the processor may move now.
    bool timesProcessor() const;
    /// Something is under way that will be seen, also while it is paused.
    bool busy() const;
    bool paused() const { return paused_; }
    bool loading() const { return startWanted_; }
    /// The settings are no longer those of the race that is shown.
    bool changed() const { return run_ && run_->settings != settings; }

  private:
    bool racing() const { return run_ && !run_->over; }
    void begin(Machines& machines, const std::shared_ptr<const Dataset>& data);
    void startLanes(Machines& machines, RaceRun& run);
    void drive(double seconds, bool wait);
    void look();
    bool asking();
    std::future<LaneProbe> ask(std::size_t lane, const ProbeWish& wish);
    void endRun();
    void end(const char* why);
    void retire();

    DataLoader data_;
    std::unique_ptr<RaceRun> run_;
    std::uint64_t runs_ = 0; // begun
    std::vector<PastRun> history_;
    Retirement retired_;                // races on their way out; a new one waits for them
    std::optional<double> drawn_;       // seconds, as of this frame
    std::optional<double> drawnBefore_; // as of the last look
    bool startWanted_ = false;
    bool paused_ = false;
    bool byScript_ = false; // lanes never run by themselves
    Pacer pacer_;           // of slow motion
    std::uint64_t pendingSteps_ = 0;
    std::uint64_t pendingEpochs_ = 0;
};

} // namespace lockstep::demos
