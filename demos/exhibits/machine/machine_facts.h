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
/// Those of a device that decide how kernels are written, and its driver.
MachineFacts graphicsFacts(const gpu::DeviceReport& report);
/// "8 cores, 16 threads, ..." in a line: "memory 7.8 GiB, subgroup 8 invocations".
std::string factsText(const MachineFacts& facts);

} // namespace lockstep::demos
