// Losses and accuracies of a race as curves.
#pragma once

#include <cstddef>

#include <nlohmann/json_fwd.hpp>

#include "demos/draw/plot.h"
#include "demos/draw/ui.h"
#include "demos/exhibits/race/race_history.h"
#include "demos/exhibits/race/race_model.h"

namespace lockstep::demos {

class RaceCurves {
  public:
    /// Down to `below` pixels above the window's edge; the choices stand beside the item before, if they fit.
    /// run      the race that is shown; null: there is none
    /// picked   what is drawn in its place and, faintly, behind
    void draw(Ui& ui, const RaceRun* run, const PickedRuns& picked, float below = 0);

    /// {"by": "step" or "seconds", "show": "train_loss" or "test_accuracy", "plot": ...}
    nlohmann::ordered_json state() const;
    /// Missing fields are as at the first start. Throws std::invalid_argument naming the field.
    void setState(const nlohmann::ordered_json& state);

  private:
    void drawChoices(Ui& ui, bool beside);

    std::size_t by_ = 0;   // step, seconds
    std::size_t show_ = 0; // train loss, test accuracy
    Plot plot_;
};

} // namespace lockstep::demos
