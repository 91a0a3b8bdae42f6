// The line below: the latest message, earlier ones behind a click, and how long a frame takes.
#pragma once

#include <optional>

#include "demos/draw/ui.h"

namespace lockstep::demos {

class StatusLine {
  public:
    /// The height that it takes from the panels above it. A presenter's exhibit has all of the height: what
    /// is said lies over it while it is said.
    static float room(const Ui& ui);
    /// Draws it at the window's lower edge.
    void draw(Ui& ui) const;
    /// A frame has taken so long. Until the first call, the line shows no time.
    void noteFrameTime(double seconds);

  private:
    std::optional<float> frameMilliseconds_; // a running mean
};

} // namespace lockstep::demos
