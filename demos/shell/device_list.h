// The devices that a person can choose from, as lines of a list.
#pragma once

#include <string>
#include <vector>

#include "engine/gpu/device.h"

namespace lockstep::demos {

struct DeviceLine {
    std::string name;    ///< "NVIDIA GeForce RTX 4090"
    std::string label;   ///< with its number in front, as `lockstep devices` shows it
    std::string select;  ///< chooses it (DeviceOptions::select); empty for the one that is best anyway
    std::string remark;  ///< "discrete GPU", "software, not a GPU", or why it cannot be used
    bool usable = false; ///< else it is shown and cannot be chosen
    bool current = false;
};

/// `devices` as gpu::listDevices returns them when none is asked for. A device is chosen by its UUID; by its
/// number where several have the same one, or none.
std::vector<DeviceLine> deviceLines(const std::vector<gpu::DeviceReport>& devices,
                                    const gpu::DeviceReport& current);

} // namespace lockstep::demos
