// Energy that a machine has used, by the counters that systems offer: RAPL of processors (Linux powercap,
// mostly readable for administrators only) and NVML of NVIDIA's cards. Elsewhere there is none.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "engine/platform/library.h"
#include "engine/step/train_job.h"

namespace lockstep {

/// Where counters are looked for.
struct EnergySources {
    std::filesystem::path powercap = "/sys/class/powercap";
    std::string nvml = platform::nvidiaManagement;
};

/// Joules that processors' packages have used since some moment. Empty where this cannot be read.
std::optional<double> processorJoules(const EnergySources& sources = {});

/// Counts what one machine uses, from now on. A device that is software uses the processor's energy.
class EnergyMeter {
  public:
    explicit EnergyMeter(const MachineInfo& machine, const EnergySources& sources = {});

    /// Since the meter was made. Empty where there is no counter, or none any more.
    std::optional<double> joules();

  private:
    std::function<std::optional<double>()> counter_;
    std::optional<double> last_;
    double used_ = 0;
};

} // namespace lockstep
