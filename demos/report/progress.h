// The progress display of a race.
#pragma once

#include "demos/report/progress_lines.h"
#include "engine/run/race.h"

namespace lockstep::demos {

class Progress {
  public:
    /// Writes to standard error, so that results can be redirected; nothing if `quiet`.
    Progress(Race& race, bool quiet) : race_(race), lines_(quiet) {}
    /// Call several times per second, and once when the race is over.
    void update();

  private:
    Race& race_;
    ProgressLines lines_;
};

} // namespace lockstep::demos
