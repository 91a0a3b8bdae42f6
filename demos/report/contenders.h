// Chooses the two lanes that a headline compares.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace lockstep::demos {

struct Contender {
    bool gpu = false;
    double speed = 0; ///< 0: the lane does not count
};

struct Pairing {
    std::size_t faster = 0;
    std::size_t slower = 0;
    double ratio = 1; ///< of speeds, at least 1
};

/// The fastest GPU lane and the fastest CPU lane or, if there is only one kind, the fastest lane and the
/// slowest. Empty if fewer than two lanes count.
std::optional<Pairing> pairUp(const std::vector<Contender>& lanes);

/// Speeds are called equal if their ratio is below this.
inline constexpr double alike = 1.05;

} // namespace lockstep::demos
