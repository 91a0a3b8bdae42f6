// On how many pixels two machines agree.
#pragma once

#include <cstddef>

#include "engine/grid/map.h"

namespace lockstep::demos {

/// Of the pixels that both have trained, in how many the networks ended in the same way.
struct MapAgreement {
    std::size_t both = 0;
    std::size_t sameEnding = 0; ///< both converged, or both did not
    std::size_t alike = 0;      ///< and their outcomes are within 1 %
    std::size_t same = 0;       ///< to the last bit

    /// A pixel that both have trained, and how its network ended on each.
    void add(MapOutcome first, MapOutcome second);
    double share() const; ///< of the same ending; NaN without pixels
};

} // namespace lockstep::demos
