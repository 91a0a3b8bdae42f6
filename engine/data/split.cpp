#include "engine/data/split.h"

#include <algorithm>

namespace lockstep {

namespace {

// The rows of `values` [chosen.size()][width] for which chosen == wanted; empty if there are no values.
template <class T>
std::vector<T> pick(const std::vector<T>& values, const std::vector<bool>& chosen, bool wanted) {
    std::vector<T> picked;
    const std::size_t width = values.size() / chosen.size();
    for (std::size_t row = 0; row < chosen.size(); ++row)
        if (chosen[row] == wanted)
            picked.insert(picked.end(), values.begin() + static_cast<std::ptrdiff_t>(row * width),
                          values.begin() + static_cast<std::ptrdiff_t>((row + 1) * width));
    return picked;
}

Examples pickExamples(const Examples& all, const std::vector<bool>& chosen, bool wanted) {
    return {static_cast<std::size_t>(std::ranges::count(chosen, wanted)),
            pick(all.pixels, chosen, wanted),
            pick(all.values, chosen, wanted),
            pick(all.labels, chosen, wanted),
            pick(all.targets, chosen, wanted),
            pick(all.lines, chosen, wanted)};
}

} // namespace

void moveToTest(Dataset& data, const std::vector<bool>& chosen) {
    data.test = pickExamples(data.train, chosen, true);
    data.train = pickExamples(data.train, chosen, false);
}

} // namespace lockstep
