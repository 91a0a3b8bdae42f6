#include "demos/words/lane_text.h"

#include <fmt/format.h>

#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

std::string threadsText(const MachineInfo& machine) {
    return fmt::format("{} thread{}", machine.threads, machine.threads == 1 ? "" : "s");
}

} // namespace

std::string fullName(const LaneSpec& spec, const MachineInfo& machine) {
    const std::string lack(handicap(spec));
    std::string note = lack;
    if (spec.gpu && machine.software)
        note = "software, not a GPU" + (lack.empty() ? "" : ", " + lack);
    else if (!spec.gpu && lack.empty())
        note = threadsText(machine);
    return fmt::format("{} on {}{}", spec.text(), shortDevice(machine),
                       note.empty() ? "" : " (" + note + ")");
}

std::string ranWhere(const LaneSpec& spec, const MachineInfo& machine, std::size_t laneWidth) {
    std::string line = fmt::format("{:<{}}  ", spec.text(), laneWidth);
    if (machine.device.empty()) return line + "did not start\n";
    line += machine.device;
    if (machine.software) line += ", software, not a GPU";
    if (!machine.gpu) line += ", " + threadsText(machine);
    if (!machine.driver.empty()) line += ", driver " + machine.driver;
    return line + fmt::format("\n{:{}}  {}\n", "", laneWidth, machine.kernels);
}

} // namespace lockstep::demos
