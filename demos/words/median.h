// The median of numbers: what all "medians" of this program are.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

namespace lockstep::demos {

/// The middle one in order of size; of an even number of values, the mean of the middle two. NaN where one of
/// the values is NaN, or where there is none.
inline double median(std::vector<double> values) {
    if (values.empty() || std::ranges::any_of(values, [](double value) { return value != value; }))
        return std::numeric_limits<double>::quiet_NaN();
    std::ranges::sort(values);
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

} // namespace lockstep::demos
