// The source of a rung, with what has changed from the rung below.
#pragma once

#include <string>
#include <vector>

#include "demos/draw/ui.h"
#include "demos/exhibits/ladder/line_diff.h"
#include "engine/step/rungs.h"

namespace lockstep::demos {

class SourceDiffView {
  public:
    void draw(Ui& ui, const RungRow& rung);

    bool whole() const { return whole_; }
    void setWhole(bool on) { whole_ = on; }

  private:
    void show(const RungRow& rung);
    void drawLines(Ui& ui);

    std::string lane_; // of what is shown
    std::string belowLane_;
    std::string title_;
    std::string before_; // the texts that diff_ points into
    std::string after_;
    std::vector<DiffLine> diff_;
    bool whole_ = false; // all lines, also those far from a change
    bool toTop_ = true;
};

} // namespace lockstep::demos
