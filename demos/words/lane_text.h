// Text for a lane and the machine it ran on, for tables and headlines.
#pragma once

#include <cstddef>
#include <string>

#include "engine/run/trainer.h"
#include "engine/step/lane_spec.h"

namespace lockstep::demos {

/// "cpu:scalar on AMD Ryzen 9 9950X (one thread, no SIMD)", "gpu:best on llvmpipe (software, not a GPU)".
std::string fullName(const LaneSpec& spec, const MachineInfo& machine);

/// Two lines: device, threads and driver; then kernels. For a lane that did not start, one line says so. The
/// lane's name is padded to `laneWidth` characters.
std::string ranWhere(const LaneSpec& spec, const MachineInfo& machine, std::size_t laneWidth);

} // namespace lockstep::demos
