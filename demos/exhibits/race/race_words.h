// What is said about a race while it runs, and why it ended as it did. No window, and no second wording of
// what the report says.
#pragma once

#include <string>
#include <vector>

#include "demos/exhibits/race/race_model.h"

namespace lockstep::demos {

/// "cpu:best against gpu:best".
std::string matchText(const std::vector<LaneSpec>& lanes);

/// Who is where, without a word on who is faster: "cpu:best is at step 120 of 469".
std::string liveText(const RaceRun& run);

/// "cpu:best ended at step 120, gpu:best at step 80".
std::string whereItEnded(const RaceRun& run);

/// 0 to 1: how much of the way to the finish line a lane has made. Towards an accuracy its share of it,
/// towards a loss by the logarithm, from the first step's loss on.
double shareOfWay(const FinishLine& finish, const LaneResult& lane);

/// A lane's status in words: "warming up", "waiting for its turn", "ran 469 steps".
std::string statusText(const RaceRun& run, std::size_t lane);

/// What one step of a lane costs, as far as its timings tell; zeros where they do not.
struct StepCost {
    double seconds = 0;        ///< end to end
    double deviceSeconds = 0;  ///< of these, on the device
    double launches = 0;       ///< operations that were started
    double sampledSeconds = 0; ///< of the operations of one step, where steps were timed in detail
    double shortest = 0;       ///< seconds of the shortest kind of launch, on average
    double flops = 0;          ///< of the products
};
StepCost stepCost(const LaneResult& lane, const TrainJob& job);

/// Where a CPU lane beat a GPU lane: why, from their own numbers. Empty otherwise.
std::string whyTheProcessorWins(const RaceRun& run);

/// "12.3 µs", "4.56 ms", "1.23 s".
std::string duration(double seconds);

} // namespace lockstep::demos
