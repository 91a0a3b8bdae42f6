// The table of past races.
#pragma once

#include <cstdint>

#include "demos/draw/ui.h"
#include "demos/exhibits/race/race_history.h"
#include "demos/exhibits/race/race_model.h"

namespace lockstep::demos {

/// The table of past races, in which a person picks those that the curves show.
class RaceHistory {
  public:
    RunPick pick;
    bool keep = false; ///< in the state

    /// current   as pickedRuns() takes it
    void draw(Ui& ui, RaceModel& model, std::uint64_t current, ImVec2 size);

  private:
    void drawRun(Ui& ui, RaceModel& model, const PastRun& run, const PickedRuns& picked,
                 std::uint64_t current);
};

} // namespace lockstep::demos
