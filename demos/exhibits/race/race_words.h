// What is said about a race while it runs, and why it ended as it did. No window, and no second wording of
// what the report says.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "demos/exhibits/race/race_model.h"
#include "engine/run/race.h"

namespace lockstep::demos {

/// "cpu:best against gpu:best".
std::string matchText(const std::vector<LaneSpec>& lanes);

/// What is about to happen, in a sentence: "CPU and GPU train the same network. Which is faster?"
std::string invitation(const std::vector<LaneSpec>& lanes);

/// The job, a name and a value for each part of it.
std::vector<std::pair<std::string, std::string>> jobRows(const TrainJob& job, const FinishLine& finish);

/// Who has finished, and where the others are: "run 2 of 5: CPU finished in 0.73 s; GPU at 59 %".
///   timed   with the seconds, which differ from run to run; false: a dash
///   software   whether the device is software that a lane without one named will get
std::string liveText(const RaceRun& run, bool timed = true, std::optional<bool> software = {});

/// The machine, where each of two lanes has its own; else the lane. begins: a sentence
///   software   as for liveText
std::string laneName(const RaceRun& run, std::size_t index, bool begins = false,
                     std::optional<bool> software = {});

/// "cpu:best ended at step 120, gpu:best at step 80"; of a repeated race "2 of 5 runs are finished".
std::string whereItEnded(const RaceRun& run);

/// What is to be known of a race in which somebody has skipped a comparison of kernels; empty: nobody has.
std::string skippedText(const RaceRun& run);

/// 0 to 1: how much of the way to the finish line a lane has made. Towards an accuracy its share of it,
/// towards a loss by the logarithm, from the first step's loss on.
double shareOfWay(const FinishLine& finish, const LaneResult& lane);

/// A lane's status in words: "warms up", "compares kernels", "waits for its turn", "finished".
std::string statusText(const RaceRun& run, std::size_t lane);

/// The threads of a lane on the processor, as far as they are known: while it trains, the team may still
/// shrink, "up to 2 threads"; then those that trained for most of the time, "1 thread". Empty for a GPU.
std::string threadsText(const RaceRun& run, std::size_t lane);

/// What one step of a lane costs, as far as its timings tell; zeros where they do not.
struct StepCost {
    double seconds = 0;       ///< end to end, on the basis of the lane's rate
    double deviceSeconds = 0; ///< of these, on the device
    bool wholeSteps = false;  ///< one launch does many steps, in a single workgroup
    double launches = 0;      ///< per step; 0 with wholeSteps, whose timed step has a launch to itself
    double shortest = 0;      ///< seconds of the shortest kind of launch, on average
};
StepCost stepCost(const LaneResult& lane, const LaneFigures& figures);
inline StepCost stepCost(const LaneResult& lane) { return stepCost(lane, figuresOf(lane)); }

/// Why the race ended as it did, in one sentence; empty where the lanes' numbers do not tell.
std::string becauseText(const RaceRun& run);

/// Where a CPU lane beat a GPU lane: why, from their own numbers. Empty otherwise.
std::string whyTheProcessorWins(const RaceRun& run);

inline constexpr std::string_view windowPart = "window";
inline constexpr std::string_view waitingPart = "waiting";

/// One piece of a lane's bar.
struct TimeShare {
    std::string name; ///< of the operation, "window" or "waiting"
    double seconds = 0;
};

/// An average step of a lane, in order: its operations as sampled, scaled to the device's time, then what the
/// window's frames took of the rest (`windowSeconds`, of all steps together), and what is left as waiting.
/// Empty without timings.
std::vector<TimeShare> timeShares(const LaneResult& lane, std::span<const OperationTiming> operations,
                                  double windowSeconds);

} // namespace lockstep::demos
