// The options that all commands with lanes share: lanes, threads and device.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/step/lane_spec.h"

namespace CLI {
class App;
}

namespace lockstep::demos {

struct MachineOptions {
    std::vector<LaneSpec> lanes; ///< empty: the command's default lanes
    std::size_t threads = 0;
    std::string device; ///< for GPU lanes that name none
};

/// Heading of this group of options in the help.
inline constexpr const char* machineGroup = "Machines";

/// Adds --lane, --threads and --device to a command. `options` and `lanes` must outlive the parsing.
///   what    introduces the list of `lanes` in the help
void addMachineOptions(CLI::App& command, MachineOptions& options, const std::string& what,
                       std::span<const std::string_view> lanes);

} // namespace lockstep::demos
