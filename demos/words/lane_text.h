// How tables and headlines name a lane and what it ran on.
#pragma once

#include <cstddef>
#include <string>

#include "engine/run/trainer.h"
#include "engine/step/lane_spec.h"

namespace lockstep::demos {

/// "cpu:scalar on AMD Ryzen 9 9950X (one thread, no SIMD)", "gpu:best on llvmpipe (software, not a GPU)".
std::string fullName(const LaneSpec& spec, const MachineInfo& machine);

/// Two lines: device, threads and driver; kernels. Of a lane that did not start, one that says so. The lane's
/// name takes `laneWidth` characters.
std::string ranWhere(const LaneSpec& spec, const MachineInfo& machine, std::size_t laneWidth);

} // namespace lockstep::demos
