// "Ladder" without its looks: what is measured on which rung, and the network that is trained on the picked
// one.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "demos/exhibits/ladder/access_record.h"
#include "demos/exhibits/ladder/crossover.h"
#include "demos/exhibits/ladder/rung_result.h"
#include "demos/kit/futures.h"
#include "demos/kit/machines.h"
#include "demos/kit/pacer.h"
#include "demos/kit/roof.h"
#include "demos/kit/run_settings.h"
#include "demos/report/time_left.h"
#include "engine/step/work_sizer.h"

namespace lockstep::demos {

/// A step's loss, and the rung that made the step.
struct LadderLoss {
    std::uint64_t step = 0;
    float loss = 0;
    std::size_t rung = 0;
};

/// The kernel of a rung over a small product, and what its first workgroup does.
struct RungPicture {
    AccessRecord record; ///< without invocations where there is none
    std::string reason;  ///< why there is none; empty where there is
};

RunOptions firstLadderRun(); ///< what is trained at the first start

/// What is left of `total` pieces of work: ", 7 of 12, about 0:40 left". `done` of them took `seconds`; the
/// next has taken `since` up to now. `left` remembers the estimate from call to call: no time is foretold
/// before half of the pieces are done, for rungs differ a hundredfold, and then one until all is done.
std::string progressText(std::size_t done, std::size_t total, double seconds, double since, TimeLeft& left);

class LadderModel {
  public:
    LadderModel();
    ~LadderModel();

    const RunOptions& settings() const { return settings_; }
    /// Throws std::invalid_argument, and then nothing has changed. Another batch alone keeps what was
    /// measured with the one before, and measures the same rungs again.
    void change(const RunOptions& settings);

    /// The rows of the table that train a network.
    const std::vector<RungRow>& rungs() const { return rungs_; }
    std::size_t picked() const { return picked_; }
    const RungRow& rung() const { return rungs_[picked_]; }
    /// It is measured next if it has not been: what is being measured gives way to it, and is dropped unless
    /// it was asked for by name. Training goes on with it.
    void pick(std::size_t index);

    /// Once per frame: loads, measures and trains in the background, and brings what is new. With `wait`,
    /// everything asked for is there when this returns. `rough`: the roof is not shown (measureRoof). Throws
    /// what is wrong with settings, data or devices.
    void update(Machines& machines, gpu::Device& device, double seconds, bool wait, bool rough = false);

    /// The picked rung first.
    void measureAll();
    void measurePicked();
    /// Five rungs, the processor's first, for they need no compiler, and only then the roof; unless more was
    /// asked for.
    void preview();
    /// Some of what is known came from preview(): it was measured briefly.
    bool previewed() const { return briefRungs() > 0; }
    std::size_t briefRungs() const; ///< such ones, with the batch at hand
    /// What is being done, for people, with what is left of it; empty: nothing.
    std::string doing() const;
    /// The share of what is to be measured that has been: 0 to 1.
    double measuredShare() const;
    /// It is being measured.
    bool measuring(std::size_t rung) const { return session_ && measuring_ == rung; }
    /// It comes to its turn, or is being measured.
    bool waits(std::size_t rung) const;
    /// In words that fit the rung's present state: its result, or what it waits for.
    std::string stateOf(std::size_t rung) const;
    bool busy() const;
    /// Rungs were asked for that have not been measured yet; the picked one comes without being asked for.
    bool measuringMany() const { return !wanted_.empty(); }
    /// The same, and it is more than a preview of them.
    bool measuringAll() const { return measuringMany() && !previewing_; }
    /// Drops what has not been measured yet.
    void stopMeasuring();

    /// Measures both machines over many sizes, the network at hand otherwise.
    void startSweep(SweepBy by);
    /// In the order of their sizes; those that have been measured.
    const std::vector<SweepPoint>& sweep(SweepBy by) const { return sweeps_[static_cast<std::size_t>(by)]; }

    /// A few of its smaller sizes, measured briefly, as they come: what a sweep will show. Asking for them
    /// has them measured, in seconds, between two rungs that were asked for by name.
    const std::vector<SweepPoint>& sweepPreview(SweepBy by);

    /// What other programs used meanwhile; empty: unknown.
    const std::optional<OtherLoad>& sweepLoad(SweepBy by) const {
        return sweepLoads_[static_cast<std::size_t>(by)];
    }
    /// Asked for, or under way.
    bool sweeping(SweepBy by) const { return sweepsAsked_[static_cast<std::size_t>(by)] && !swept(by); }
    /// Sizes that a sweep measures.
    static std::vector<std::size_t> sweepSizes(SweepBy by);

    /// Every size was measured.
    bool swept(SweepBy by) const { return swept_[static_cast<std::size_t>(by)]; }

    bool running() const { return running_; }
    /// Training takes the place of a preview that is under way; it waits for what was asked for by name.
    void run();
    void pause() { running_ = false; }
    void step();
    /// Back to the first step; the losses so far become those of an earlier run.
    void reset();
    void setRate(double stepsPerSecond) { pacer_.setSpeed(stepsPerSecond); }

    /// Null until it is measured.
    const Roof* roof() const { return roof_ && roof_->measured() ? &*roof_ : nullptr; }
    const std::optional<MachineInfo>& gpuMachine() const { return gpuMachine_; }
    const RungResult* result(std::size_t rung) const;
    /// GFLOP/s of a rung with a time, or those measured so far of the one under way; none of others.
    std::optional<double> rate(std::size_t rung) const;
    /// The rung that this one's factor is over: the one that it improves on, or the next one below that has a
    /// time. Where the table names none, the lowest of the same machine with a time.
    std::optional<std::size_t> base(std::size_t rung) const;
    /// "2.1× over gpu:naive", its base; empty unless both have times.
    std::string speedUp(std::size_t rung) const;
    /// The lowest rung of a machine with a time, and the fastest.
    struct Climb {
        std::size_t from = 0;
        std::size_t to = 0;
        double factor = 1;
    };
    /// That of the GPU where two of its rungs have times, else the processor's, if that has them.
    std::optional<Climb> climb() const;
    std::optional<Climb> climb(bool gpu) const; ///< of that machine
    /// The fastest rung of a machine whose products read 16 bits (`half`), or 32; empty: none has a time.
    std::optional<std::size_t> fastest(bool gpu, bool half) const;
    std::size_t timedRungs() const; ///< with the batch at hand
    /// The most that other programs used while a rung was timed, of those with times; empty: unknown.
    std::optional<OtherLoad> load() const;
    /// By rung and batch.
    const std::map<std::pair<std::size_t, std::size_t>, RungResult>& results() const { return results_; }
    /// Null until it has been taken; asking for it has it taken.
    const RungPicture* picture(std::size_t rung, Product product);

    const std::vector<LadderLoss>& losses() const { return losses_; }
    const std::vector<LadderLoss>& earlier() const { return earlier_; }
    /// The first losses of the processor's fastest rung, as they come: what any rung's training can be
    /// compared with before it has begun. Asking for them has them computed, in about a second.
    const std::vector<LadderLoss>& lossPreview();
    const std::vector<LadderLoss>& knownLossPreview() const { return lossPreview_; }
    /// Largest relative difference between the losses of the same steps and those of `before`; empty without
    /// any.
    std::optional<double> differenceTo(const std::vector<LadderLoss>& before) const;
    /// Gives up everything on the device, and waits for it.
    void releaseDevice();

  private:
    class Session; // ladder_model.cpp

    bool timed(std::size_t rung) const;
    bool haveSession(Machines& machines, gpu::Device& device, bool wait);
    void wantPickedFirst();
    bool pickedMissing() const { return pickedWanted_ && result(picked_) == nullptr; }
    std::size_t missing() const;
    void postWanted(bool quick, bool rough);
    void measured(std::size_t piece);
    void interrupt();
    void giveUp();
    void postTraining(double seconds, bool scripted);
    void takeNews();
    void addLosses(std::size_t rung, const std::vector<LossPoint>& losses, double seconds);
    void retire();

    RunOptions settings_ = firstLadderRun();
    std::vector<RungRow> rungs_;
    std::size_t picked_ = 0;

    DataLoader data_;
    SessionSlot<Session> session_;

    std::vector<std::size_t> wanted_;      // rungs to be measured; each stays until it has been
    bool pickedWanted_ = true;             // the picked rung, unless it has been measured
    bool roofWanted_ = true;               // after the picked rung
    std::optional<std::size_t> measuring_; // the rung under way; rungs_.size(): the roof
    mutable TimeLeft timeLeft_;            // of the pieces
    std::size_t measured_ = 0;             // rungs, since there was nothing left to measure
    double soFar_ = 0;                     // GFLOP/s of the rung under way; 0: none yet
    bool previewing_ = false;
    double measuringSince_ = 0; // likewise; seconds
    double measuredUntil_ = 0;  // the last piece that is done
    std::vector<std::pair<std::size_t, Product>> picturesWanted_;
    std::vector<std::pair<std::size_t, Product>> picturesPosted_; // on their way
    bool resetWanted_ = false;
    std::optional<SweepBy> sweepWanted_;

    bool running_ = false;
    bool training_ = false; // a piece of training is under way
    Pacer pacer_;
    std::uint64_t stepsWanted_ = 0;
    std::string refusal_;                  // why the picked rung does not train, to be said once
    WorkSizer piece_{{80, 4096, 1, true}}; // steps of a piece: about 80 ms of them

    std::optional<Roof> roof_;
    std::optional<MachineInfo> gpuMachine_;
    std::map<std::pair<std::size_t, std::size_t>, RungResult> results_;
    std::map<std::pair<std::size_t, Product>, RungPicture> pictures_; // by rung and product
    void forgetSweep(SweepBy by);
    void forgetSweepPreview(SweepBy by);
    std::array<bool, 2> swept_{};                   // likewise
    std::array<std::vector<SweepPoint>, 2> sweeps_; // by SweepBy
    std::array<std::optional<OtherLoad>, 2> sweepLoads_;
    std::array<bool, 2> sweepsAsked_{}; // and not stopped
    std::array<std::vector<SweepPoint>, 2> sweepPreviews_;
    std::array<bool, 2> sweepPreviewsAsked_{}; // once for these settings
    std::optional<SweepBy> sweepPreviewWanted_;
    std::vector<LadderLoss> losses_;
    std::uint64_t keepEvery_ = 1; // steps, of losses_
    std::vector<LadderLoss> earlier_;
    std::vector<LadderLoss> lossPreview_;
    bool lossPreviewWanted_ = false;
    bool lossPreviewAsked_ = false; // once for these settings
};

} // namespace lockstep::demos
