// Where each lane's time goes: a bar per lane, stacked by operation.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "demos/exhibits/race/race_model.h"
#include "demos/shell/ui.h"

namespace lockstep::demos {

/// One piece of a lane's bar.
struct TimeShare {
    std::string name; ///< of the operation, or "waiting"
    double seconds = 0;
};

/// An average step of a lane, in order: its operations as sampled, scaled to the device's time, and the rest
/// of the time as waiting. Empty without timings.
std::vector<TimeShare> timeShares(const LaneResult& lane, std::span<const OperationTiming> operations);

class RaceTimes {
  public:
    void draw(Ui& ui, const RaceRun* run);

  private:
    std::size_t scale_ = 0; // share of the time, time per step
};

} // namespace lockstep::demos
