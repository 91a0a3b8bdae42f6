// What `lockstep devices` and the window say about a Vulkan device.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/gpu/device.h"

namespace lockstep::demos {

/// "used: ...", "cannot be used: ..." or "not used: ...", with the reason.
std::string deviceVerdict(const gpu::DeviceReport& report);

/// Name and value of everything that is known about the device: {"memory", "23.9 GiB"}.
std::vector<std::pair<std::string, std::string>> deviceFacts(const gpu::DeviceReport& report);

} // namespace lockstep::demos
