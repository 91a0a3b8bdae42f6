// How much of the processor other processes used during a measurement.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "engine/platform/load.h"

namespace lockstep::demos {

struct OtherLoad {
    double share = 0;         ///< of all cores, 0 to 1
    double cores = 0;         ///< cores in use by other processes, on average
    std::size_t allCores = 1; ///< of the machine
    double seconds = 0;       ///< CPU time of other processes; 0 if `fromAverage`
    bool fromAverage = false; ///< estimated from the load average before the run, not from CPU times

    /// True if it is enough to change the times of a race noticeably.
    bool busy() const;
};

/// The load between two readings. Empty if the counters did not move.
///   ownTicks   CPU time of this process in between
std::optional<OtherLoad> otherLoad(const platform::CpuTicks& before, const platform::CpuTicks& after,
                                   double ownTicks, std::size_t cores, double ticksPerSecond);

/// Where CPU times are missing: from the load average (mean number of processes that want a core) before the
/// run.
OtherLoad otherLoad(double loadAverage, std::size_t cores);

/// Watches the machine from its construction on.
class LoadWatch {
  public:
    LoadWatch();
    /// The load so far; empty if the system gives neither CPU times nor a load average.
    std::optional<OtherLoad> load() const;

  private:
    std::optional<platform::CpuTicks> before_;
    double ownBefore_ = 0; // seconds
    std::optional<double> average_;
};

/// A clause on what others used and what that means; empty unless the machine was busy.
std::string busyText(const std::optional<OtherLoad>& load);

/// "warning: ", the same and a line break; empty unless the machine was busy.
std::string otherLoadText(const std::optional<OtherLoad>& load);

/// {"share", "cores", "all_cores", "busy", "measured_by"}; null if unknown.
nlohmann::ordered_json otherLoadJson(const std::optional<OtherLoad>& load);

} // namespace lockstep::demos
