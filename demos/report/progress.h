// What a race looks like while it runs.
#pragma once

#include "demos/report/progress_lines.h"
#include "engine/run/race.h"

namespace lockstep::demos {

class Progress {
  public:
    /// `quiet` shows nothing at all. Writes to standard error, so that results can be redirected.
    Progress(Race& race, bool quiet) : race_(race), lines_(quiet) {}
    /// To be called several times per second, and once when the race is over.
    void update();

  private:
    Race& race_;
    ProgressLines lines_;
};

} // namespace lockstep::demos
