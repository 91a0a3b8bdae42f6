// What an average step of a lane spends its time on.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/run/race.h"

namespace lockstep::demos {

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
