// Where each lane's time goes: a bar per lane, stacked by operation.
#pragma once

#include "demos/draw/ui.h"
#include "demos/exhibits/race/race_model.h"
#include "demos/exhibits/race/time_shares.h"

namespace lockstep::demos {

class RaceTimes {
  public:
    void draw(Ui& ui, const RaceRun* run);

  private:
    std::size_t scale_ = 0; // share of the time, time per step
};

} // namespace lockstep::demos
