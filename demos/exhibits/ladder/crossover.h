// The crossover: samples per second of processor and GPU over batch or width, and the parts of a GPU step.
#pragma once

#include <optional>

#include "demos/draw/plot.h"
#include "demos/exhibits/ladder/ladder_model.h"

namespace lockstep::demos {

class CrossoverView {
  public:
    void draw(Ui& ui, LadderModel& model);

    SweepBy by() const { return by_; }
    void setBy(SweepBy by) { by_ = by; }

  private:
    void drawCurves(Ui& ui, const std::vector<SweepPoint>& points, float height);
    void drawParts(Ui& ui, const std::vector<SweepPoint>& points) const;

    SweepBy by_ = SweepBy::batch;
    Plot plot_;
};

} // namespace lockstep::demos
