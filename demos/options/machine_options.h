// Which machines work: the options that all commands with lanes share, as values.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "engine/step/lane_spec.h"

namespace lockstep::demos {

struct MachineOptions {
    std::vector<LaneSpec> lanes; ///< empty: the default ones
    std::size_t threads = 0;
    std::string device; ///< of GPU lanes that name none
};

/// A group of options, as the help shows it.
inline constexpr const char* machineGroup = "Machines";

/// Adds --lane, --threads and --device to a command, to be read into `options`, which has to outlive the
/// parsing. what    a lane is asked for, said before the list of `lanes`, which have to outlive the parsing
void addMachineOptions(CLI::App& command, MachineOptions& options, const std::string& what,
                       std::span<const std::string_view> lanes);

} // namespace lockstep::demos
