// What exhibits have measured, by the names that lessons quote: "race.gpu:best.samples_per_second".
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>

namespace lockstep::demos {

struct Measured {
    double number = std::numeric_limits<double>::quiet_NaN(); ///< NaN: not measured yet
    std::string text = {};                                    ///< of what is no number: "CPU"

    bool known() const { return !std::isnan(number) || !text.empty(); }
};

/// With the names that are not measured yet, so that a wrong name can be told from a missing value. The last
/// word of a name is its unit: "seconds", "samples_per_second", "share".
using MeasuredValues = std::map<std::string, Measured, std::less<>>;

inline bool isMeasured(const MeasuredValues& values, std::string_view name) {
    const auto found = values.find(name);
    return found != values.end() && found->second.known();
}

} // namespace lockstep::demos
