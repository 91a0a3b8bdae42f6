// What every result says about a lane, whether it raced, trained a population or painted a map: which machine
// it was and how it ended.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/run/lane.h"
#include "engine/step/lane_spec.h"

namespace lockstep::demos {

struct LaneReport {
    LaneSpec spec;
    MachineInfo machine; ///< empty if the lane did not start
    LaneStatus status = LaneStatus::waiting;
    std::string message;        ///< why it failed
    double trainingSeconds = 0; ///< from end to end, without warm-up and evaluation
    double warmUpSeconds = 0;   ///< uploads, compilation, choice of kernels
};

/// The first keys of a lane in a result file: "lane", "device", ..., "status", "message". Empty texts are
/// null.
nlohmann::ordered_json laneJson(const LaneReport& lane);

/// "gpu:best failed at step 12: out of memory" with a line break at the end; empty for a lane that finished.
/// `where` says how far it came: "at step 12".
std::string howItEnded(const LaneReport& lane, const std::string& where);

/// Calls `work`. What it throws becomes the lane's status and message, so that the results of other lanes
/// survive. `smaller`: what to try when memory runs out.
void runOrFail(LaneReport& lane, const char* smaller, const std::function<void()>& work);

/// The program's exit code: that of an interrupt, if there was one; else 1 if any lane failed.
template <class Lane> int exitCodeOf(const std::vector<Lane>& lanes, int interrupt) {
    const auto failed = [](const LaneReport& lane) { return lane.status == LaneStatus::failed; };
    if (interrupt != 0) return interrupt;
    return std::ranges::any_of(lanes, failed) ? 1 : 0;
}

} // namespace lockstep::demos
