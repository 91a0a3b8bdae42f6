// One network of a map, trained by itself: how its loss went. Worked out on a thread of its own, because a
// large one takes its time.
#pragma once

#include <future>
#include <optional>
#include <vector>

#include "engine/grid/map.h"

namespace lockstep::demos {

class MapProbe {
  public:
    struct Curve {
        MapJob job;
        MapPoint point;
        std::vector<double> steps;
        std::vector<double> losses; ///< before each step, up to the one that went beyond all bounds
    };

    /// Asks for the network at that point. `wait`: has it at once.
    void update(const MapJob& job, MapPoint point, bool wait);
    /// The last one that was worked out; empty: none.
    const std::optional<Curve>& curve() const { return curve_; }
    bool busy() const { return pending_.valid(); }

  private:
    std::optional<Curve> curve_;
    std::future<Curve> pending_;
};

} // namespace lockstep::demos
