// What is known of a machine without measuring it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/gpu/device.h"

namespace lockstep::demos {

/// Name and value: {"cores", "8"}.
using MachineFacts = std::vector<std::pair<std::string, std::string>>;

/// Cores, threads and vectors; caches and memory where the system tells them in files (Linux).
MachineFacts processorFacts();
/// Those of a device's facts, named in English, that graphicsFacts() has.
MachineFacts shownFacts(const MachineFacts& facts);
/// Those of a device that decide how kernels are written, and its driver.
MachineFacts graphicsFacts(const gpu::DeviceReport& report);

} // namespace lockstep::demos
