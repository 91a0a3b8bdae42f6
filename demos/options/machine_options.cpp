#include "demos/options/machine_options.h"

#include <CLI/CLI.hpp>

#include "demos/options/parse.h"

namespace lockstep::demos {

void addMachineOptions(CLI::App& command, MachineOptions& options, const std::string& what,
                       std::span<const std::string_view> lanes) {
    command.option_defaults()->group(machineGroup);
    const std::string help = listing(what, lanes) + ";\nadd @DEVICE to a gpu lane to choose its device";
    addText(
        command, "--lane", "LANE",
        [&options, lanes](std::string_view text) { options.lanes.push_back(laneSpecFromText(text, lanes)); },
        help)
        ->take_all()
        ->trigger_on_parse();
    command
        .add_option("--threads", options.threads,
                    "threads for CPU lanes that use several cores [one per core]")
        ->type_name("N")
        ->check(atLeastOne());
    command
        .add_option("--device", options.device,
                    "Vulkan device for GPU lanes: number, part of its name, or UUID [the best]")
        ->type_name("DEVICE");
}

} // namespace lockstep::demos
