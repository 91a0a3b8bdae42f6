// A race: lanes that share data, network, settings and first weights, and differ only in the machine.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
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
    bool together = false; ///< all lanes at once, for the show; else a time trial: one after the other
};

/// Whether a lane computed the same as the reference, judged by the losses of the first steps that both made.
/// All lanes start from the same weights, so a wrong kernel shows at once; rounding takes its time, but where
/// a ReLU unit lies within rounding of 0 it is on in one lane and off in the other, and from then on the runs
/// drift apart through no fault of either (PyTorch does so between float and double). So the first few steps
/// decide, and the rest is reported.
struct Agreement {
    double tolerance = floatTolerance; ///< relative, of two losses that agree
    std::uint64_t steps = 0;           ///< compared, at most Telemetry::openingSteps; 0: nothing to compare
    std::uint64_t agreedSteps = 0; ///< of these, before the first one that differs by more than the tolerance
    double largestDifference = 0;  ///< relative: |a - b| / max(|a|, |b|)
    bool same() const { return agreedSteps >= std::min(steps, decisiveSteps); }

    static constexpr double floatTolerance = 1e-4;
    /// Of a lane of half precision. Rounding to 11 bits moves a first loss by about 1e-3. Then it also
    /// decides the sign of gradients that are nearly 0, and Adam makes every gradient's first step the same
    /// size.
    static constexpr double halfTolerance = 0.05;
    static constexpr std::uint64_t decisiveSteps = 10;
};

/// What the losses of a lane may differ by from those of one that computes in floats.
double lossTolerance(const LaneSpec& spec);

Agreement compareLosses(const std::vector<float>& reference, const std::vector<float>& other,
                        double tolerance = Agreement::floatTolerance);

/// What a lane has to show at the end.
struct LaneResult {
    LaneSpec spec;
    MachineInfo machine;
    LaneSnapshot end;
    Telemetry telemetry;
    std::optional<Evaluation>
        evaluation; ///< of the test split, as of the last step; empty where there is none
    std::vector<OperationTiming> operations;
    /// With the first CPU lane that has losses, or else the first lane of floats, or else the first that has.
    Agreement agreement;
    std::uint64_t skippedSteps = 0; ///< Trainer::skippedSteps
    double gflops = 0;              ///< of the products alone, over training seconds

    /// Its numbers may be compared: it reached the finish line, and computed the same as the others.
    bool counts() const { return end.status == LaneStatus::finished && agreement.same(); }
};

/// Fills in every result's agreement by what its telemetry has so far: during a race, too.
void addAgreements(std::vector<LaneResult>& results);

class Race {
  public:
    /// Throws std::invalid_argument without entries or for options that make no sense.
    Race(const TrainJob& job, std::vector<RaceEntry> entries, RaceOptions options);

    /// Starts the first lane, or all of them.
    void start();
    /// Hands over to the next lane of a time trial when its turn has come. To be called often; never waits.
    /// True while the race is on.
    bool advance();
    /// advance() until the race is over, or until `limit`; true when it is over.
    bool waitFor(std::chrono::milliseconds limit);
    /// Stops all lanes, also those whose turn has not come.
    void stop();
    void pause();
    void resume();

    bool together() const { return options_.together; }
    std::size_t size() const { return lanes_.size(); }
    Lane& lane(std::size_t index) { return *lanes_[index]; }
    const LaneSpec& spec(std::size_t index) const { return entries_[index].spec; }

    /// One per lane, in the order of the entries. Only once the race is over.
    std::vector<LaneResult> results();

  private:
    LaneResult resultOf(std::size_t index);

    TrainJob job_;
    std::vector<RaceEntry> entries_;
    RaceOptions options_;
    std::vector<std::unique_ptr<Lane>> lanes_;
    std::size_t started_ = 0; // lanes that were started
    bool stopped_ = false;
};

} // namespace lockstep
