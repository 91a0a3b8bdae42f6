// A number that several machines have measured, as a picture in a page.
#pragma once

#include <functional>
#include <span>
#include <string>

namespace lockstep::demos {

struct MachineNumber {
    std::string machine;
    double number = 0;
};

/// An SVG element: a row for each machine, from the least median to the largest, with a dot for each of its
/// numbers and its median in words. The axis is logarithmic where the numbers need it. `shown` says how a
/// number reads.
std::string machinePlotSvg(std::span<const MachineNumber> numbers,
                           const std::function<std::string(double)>& shown);

} // namespace lockstep::demos
