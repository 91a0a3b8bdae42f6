// The comparison of kernels before gpu:best trains, as a window shows it wherever a lane waits for it.
#pragma once

#include <string>

#include "demos/draw/ui.h"
#include "demos/report/time_left.h"
#include "engine/tune/tuning.h"

namespace lockstep::demos {

/// "3 of 9: dense 128x784x256".
std::string comparisonText(const TuningProgress& tuning);
/// Why kernels are compared, that it happens once per network, and where the results are kept.
std::string whyCompared(const TuningProgress& tuning);

class TuningNotice {
  public:
    /// A panel with what is compared, why, how far it is and for how long, and a button beside the bar. True
    /// once that is pressed: the lane's comparison is to be skipped. To be drawn while it goes on.
    ///   lane   its name: "gpu:best"
    bool draw(Ui& ui, const std::string& lane, const TuningProgress& tuning);

  private:
    TimeLeft left_;
};

} // namespace lockstep::demos
