// A race: lanes that share data, network, settings and initial weights, and differ only in the machine.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/run/lane.h"
#include "engine/run/trainer.h"
#include "engine/step/lane_spec.h"

namespace lockstep {

struct RaceEntry {
    LaneSpec spec;
    Lane::MakeTrainer make;
};

struct RaceOptions {
    LaneOptions lane;
    bool together =
        false; ///< true: all lanes at once, not a measurement; false: a time trial, one after the other
};

/// Compares a lane with the reference by the losses of their first steps. All lanes start from the same
/// weights, so a wrong kernel shows at once. Rounding needs longer; but when a ReLU input lies within
/// rounding error of 0, the unit is on in one lane and off in the other, and the runs drift apart although
/// both are correct (as PyTorch does between float and double). So the first few steps decide, and the rest
/// is only reported. A unit may even separate lanes within these: after losses that agree to their last
/// digits, over steps that each update all weights, and then differ by little. A kernel that is wrong from
/// its first step on does not agree like that.
struct Agreement {
    double tolerance = floatTolerance; ///< largest relative difference at which two losses agree
    std::uint64_t steps = 0;           ///< compared, at most Telemetry::openingSteps; 0: nothing to compare
    std::uint64_t agreedSteps = 0; ///< of these, before the first one that differs by more than the tolerance
    double largestDifference = 0;  ///< |a - b| / max(|a|, |b|); infinity where one of the two is no number
    std::uint64_t exactSteps = 0;  ///< before the first one that differs by more than `rounding`
    double early = 0;              ///< largest difference within the first `decisiveSteps`
    bool same() const {
        return agreedSteps >= std::min(steps, decisiveSteps) ||
               (exactSteps >= exactAtLeast && early <= mostEarly);
    }

    static constexpr double floatTolerance = 1e-4;
    /// Tolerance for fp16 lanes. Rounding to 11 bits changes the first loss by about 1e-3. It also decides
    /// the sign of gradients near 0, and Adam's first step has the same size for every gradient.
    static constexpr double halfTolerance = 0.05;
    static constexpr std::uint64_t decisiveSteps = 10;
    static constexpr double rounding = 5e-6;         ///< ten times what correct lanes differ by
    static constexpr std::uint64_t exactAtLeast = 4; ///< three updates, which an optimizer's state enters
    static constexpr double mostEarly = 1e-2;        ///< by one unit, within `decisiveSteps`
};

/// The tolerance for a lane's losses against those of an fp32 lane.
double lossTolerance(const LaneSpec& spec);

Agreement compareLosses(const std::vector<float>& reference, const std::vector<float>& other,
                        double tolerance = Agreement::floatTolerance);

/// The results of one lane.
struct LaneResult {
    LaneSpec spec;
    MachineInfo machine = {};
    LaneSnapshot end = {};
    Telemetry telemetry;
    /// On the test split after the last step; empty if there is none.
    std::optional<Evaluation> evaluation = {};
    std::optional<Evaluation> int8 = {}; ///< the same in integers of 8 bits, if asked for
    std::vector<OperationTiming> operations = {};
    std::vector<MemoryUse> predictedMemory = {}; ///< Trainer::predictedMemory()
    std::vector<MemoryUse> memory = {};
    /// Comparison with the first fp32 lane of the CPU that has losses, or else of a GPU, or else the first
    /// lane.
    Agreement agreement = {};
    std::uint64_t skippedSteps = 0; ///< Trainer::skippedSteps
    double gflops = 0;              ///< matrix products only, per training second

    /// True if its numbers can be compared: it reached the finish line and agrees with the others.
    bool counts() const { return end.status == LaneStatus::finished && agreement.same(); }
};

/// Fills in every result's agreement from its telemetry so far; works during a race, too.
/// precision   what all of them trained in
void addAgreements(std::vector<LaneResult>& results, const PrecisionSettings& precision = {});

class Race {
  public:
    /// Throws std::invalid_argument if there are no entries or an option is invalid.
    Race(const TrainJob& job, std::vector<RaceEntry> entries, RaceOptions options);

    /// Starts the first lane, or all of them.
    void start();
    /// Starts the next lane of a time trial when its turn has come. Call often; never waits. Returns true
    /// while the race is running.
    bool advance();
    /// Calls advance() until the race is over or `limit` has passed. Returns true if it is over.
    bool waitFor(std::chrono::milliseconds limit);
    /// Stops all lanes, including those that have not started.
    void stop();
    void pause() {
        for (const auto& lane : lanes_) lane->pause();
    }
    void resume() {
        for (const auto& lane : lanes_) lane->resume();
    }

    bool together() const { return options_.together; }
    std::size_t size() const { return lanes_.size(); }
    Lane& lane(std::size_t index) { return *lanes_[index]; }
    const LaneSpec& spec(std::size_t index) const { return entries_[index].spec; }

    /// One result per lane, in the order of the entries. Only after the race is over.
    std::vector<LaneResult> results();

  private:
    TrainJob job_;
    std::vector<RaceEntry> entries_;
    RaceOptions options_;
    std::vector<std::unique_ptr<Lane>> lanes_;
    std::size_t started_ = 0; // number of lanes started
    bool stopped_ = false;
};

} // namespace lockstep
