// Limits the resolution of a map of the plane, so that computing it never occupies a device for long.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lockstep {

enum class MapDetail {
    moving, ///< one of many while the network trains: uses a small share of the device's time
    still,  ///< shown for longer: may take ten times as much
};

/// The unit of work is roughly one nanosecond of two CPU cores running a software device.
class MapBudget {
  public:
    explicit MapBudget(bool software) : software_(software), work_(software ? softwareWork : firstWork) {}

    /// Returns the largest of size, size / 2, ... whose grid of cells fits the budget; at least `smallest`.
    std::uint32_t cells(std::uint32_t size, std::uint32_t smallest, double workPerCell,
                        MapDetail detail) const {
        const double most = detail == MapDetail::still ? stillFactor * work_ : work_;
        while (size / 2 >= smallest && static_cast<double>(size) * size * workPerCell > most) size /= 2;
        return size;
    }

    /// Adjusts the budget after a map of this much work took this long on the device. Changes by factors of
    /// two, and only if the measurement is off by as much, so that sizes do not flicker.
    void add(double work, double milliseconds) {
        if (software_ || milliseconds <= 0) return;
        const double fitting = work * targetMilliseconds / milliseconds;
        if (fitting > 2 * work_) work_ = std::min(2 * work_, mostWork);
        if (fitting < work_ / 2) work_ /= 2;
    }

  private:
    static constexpr double softwareWork = 2e7;
    static constexpr double firstWork = 2e8; // a few milliseconds of a slow GPU
    static constexpr double mostWork = 1e14;
    static constexpr double targetMilliseconds = 4;
    static constexpr double stillFactor = 10;
    bool software_;
    double work_;
};

} // namespace lockstep
