// "Devices" without its looks: one training by several ranks of this machine, what each of them does in a
// step, how the time of a step changes with their number, and what happens when one of them ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "demos/exhibits/devices/scaling.h"
#include "demos/kit/machines.h"
#include "demos/kit/run_settings.h"
#include "demos/kit/worker.h"
#include "engine/many/all_reduce_schedule.h"
#include "engine/many/rank_trace.h"
#include "engine/net/param_layout.h"

namespace lockstep::demos {

inline constexpr std::size_t mostRanks = 8;
inline constexpr std::uint64_t mostDevicesSteps = 1'000'000;
inline constexpr std::size_t mostShownSteps = 4;

struct DevicesOptions {
    RunOptions run; ///< with one lane: every rank's
    std::size_t ranks = 4;
    bool overlap = true;
    AllReduce allReduce = AllReduce::ring;
    ExchangeFormat format = ExchangeFormat::fp32; ///< not topK
    double slower = 0;                  ///< each operation of the last rank takes so much longer: 0.5 is half
    std::uint64_t steps = 3000;         ///< that Run trains
    std::uint64_t checkpointEvery = 50; ///< steps
    std::size_t shownSteps = 2;         ///< the latest ones in the chart
    std::size_t layer = 0;              ///< whose all-reduce is drawn
    std::size_t round = 0;              ///< of its messages
    bool weak = false;                  ///< scaling: the batch grows with the ranks
    double gigabytesPerSecond = 31.5;   ///< of the link in the model
    double microseconds = 5;            ///< likewise
    std::string trace;                  ///< file to show in place of this machine's ranks; empty: none

    bool operator==(const DevicesOptions&) const = default;
};

DevicesOptions usualDevices();
/// Throws std::invalid_argument naming the field.
DevicesOptions devicesOptionsFromJson(const nlohmann::ordered_json& state);
nlohmann::ordered_json toJson(const DevicesOptions& options);
/// What ranks can be: lanes whose kernels are known before any is compared.
std::vector<std::string> devicesLanes();

/// A rank that was ended, and what that cost.
struct RankLoss {
    std::size_t rank = 0, left = 0; ///< which one, and how many go on
    std::uint64_t atStep = 0, fromStep = 0;

    std::uint64_t lostSteps() const { return atStep - fromStep; }
};

/// Training, as far as it is.
struct DevicesRun {
    std::uint64_t step = 0;
    std::size_t ranks = 0; ///< that take part
    double loss = 0;
    double secondsPerStep = 0;                             ///< lately, by the host's clock
    double evenSeconds = 0;                                ///< the same when no rank was slow; 0: not known
    RankTrace trace;                                       ///< of the latest steps
    std::shared_ptr<const TrainerState> state, checkpoint; ///< null before the first step
    std::vector<RankLoss> losses;                          ///< of ranks
};

/// What a rank did with its time, in seconds of some steps.
struct RankTimes {
    double computed = 0, waited = 0, exchanged = 0, all = 0;
    double hidden = 0;                     ///< of the exchanges, what took place while the rank computed
    std::uint64_t bytes = 0, messages = 0; ///< sent for gradients
};
/// The times of every rank, by rank.
std::vector<RankTimes> timesOf(const RankTrace& trace);
/// The latest so many steps.
RankTrace latestSteps(const RankTrace& trace, std::size_t steps);

struct ScalingPoint {
    std::size_t ranks = 1;
    bool weak = false;
    double secondsPerStep = 0;
};

/// What a run looks at while it trains.
struct RunSwitches {
    std::atomic<double> slower = 0;     ///< DevicesOptions::slower
    std::atomic<bool> endsRank = false; ///< the last rank is to throw
};

class DevicesModel {
  public:
    const DevicesOptions& options() const { return options_; }
    void change(DevicesOptions options);

    /// Once per frame: loads the data and takes news. With `wait`, until all work is done. Throws what is
    /// wrong with settings, data, file or device.
    void update(Machines& machines, bool wait);

    /// Trains on, from where it is.
    void train(Machines& machines);
    void stop();
    /// Ends the last rank: in its next step, it throws. The others go on from the last checkpoint.
    void endRank(Machines& machines);
    bool canEndRank() const { return job_ && alive() > 1; }
    /// Times 1, 2 and 4 ranks, with one batch and with a batch that grows, and the link between two ranks.
    void measure(Machines& machines);
    void forget();
    /// Gives up everything on the device, and waits for it. Returns whether it was at work.
    bool releaseDevice();

    bool training() const { return trainWanted_ || measureWanted_ || !work_.idle(); }
    bool measuring() const { return measureWanted_ || work_.doing() == measuringWords(); }
    const TrainJob* job() const { return job_ ? &*job_ : nullptr; }
    bool loading() const { return !job_ && !failed_; }

    const DevicesRun& run() const { return run_; }
    /// Ranks that take part, or would.
    std::size_t alive() const { return run_.ranks > 0 ? run_.ranks : options_.ranks; }
    /// What the chart shows: the file that was opened, or the latest steps; null: nothing yet.
    const RankTrace* shown() const;
    bool opened() const { return opened_.has_value(); }

    /// The chosen layer, or the last one of a network that has fewer.
    std::size_t layer() const;
    /// Numbers in its all-reduce, padding included.
    std::size_t numbersOf(std::size_t layer) const {
        return layout_.endOf(layer) - layout_.layer(layer).weightOffset;
    }
    std::size_t layers() const { return layout_.layers(); }
    std::size_t bytesPerNumber() const { return options_.format == ExchangeFormat::fp16 ? 2 : 4; }
    std::vector<ScheduledMessage> schedule() const {
        return allReduceSchedule(options_.allReduce, alive(), numbersOf(layer()));
    }

    /// What was measured with the present settings.
    const std::vector<ScalingPoint>& points() const { return points_; }
    const ScalingPoint* point(std::size_t ranks, bool weak) const;
    /// Between two ranks of this machine; measured with the points.
    const Link& link() const { return link_; }
    /// With the sliders' link, and a device for every rank. Empty before anything is measured.
    std::optional<ScalingModel> model() const;
    /// With this machine's link and cores: what measure() should have found.
    std::optional<ScalingModel> modelHere() const;
    /// The largest relative difference between modelHere() and the points of several ranks.
    std::optional<double> modelError() const;

  private:
    static std::string measuringWords();
    void takeJob(Machines& machines, bool wait);
    void takeNews();
    void openTrace();

    DevicesOptions options_ = usualDevices();
    DataLoader loader_;
    std::shared_ptr<const Dataset> data_;
    std::optional<TrainJob> job_;
    ParamLayout layout_;
    bool failed_ = false;
    bool changed_ = true;
    bool trainWanted_ = false, measureWanted_ = false;
    bool stopping_ = false;             // what is under way was cancelled
    bool endsRank_ = false;             // as soon as training begins
    std::uint64_t network_ = 0;         // counts networks: news of others are of no interest
    std::uint64_t ranksNumber_ = 0;     // likewise settings of ranks
    std::shared_ptr<RunSwitches> live_; // of the run under way, or the last one
    DevicesRun run_;
    std::optional<RankTrace> opened_;
    std::string openedFile_;
    std::vector<ScalingPoint> points_;
    Link link_;
    std::size_t places_ = 1; // ranks that this machine computes at once

    WorkQueue work_; // last: its thread uses none of the above, but tells news to them
};

} // namespace lockstep::demos
