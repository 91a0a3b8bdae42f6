#include "engine/data/test_split.h"

#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/net/numbers.h"
#include "engine/net/random.h"

namespace lockstep {

namespace {

// Which examples go into the test split: those whose place in a random permutation comes first.
std::vector<bool> chooseTest(std::size_t count, std::size_t testCount, std::uint64_t seed) {
    const shared::Random4 words = randomWords(seed, RandomStream::split, 0);
    const shared::OrderKeys keys{words.x, words.y, words.z, words.w};
    std::vector<bool> chosen(count, false);
    for (std::size_t position = 0; position < testCount; ++position)
        chosen[shared::orderIndex(static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(count),
                                  keys)] = true;
    return chosen;
}

// The rows of `values` [chosen.size()][width] for which chosen == wanted; nothing when there are no values.
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

Examples pickExamples(const Examples& all, const std::vector<bool>& chosen, bool wanted, std::size_t count) {
    return {count, pick(all.pixels, chosen, wanted), pick(all.values, chosen, wanted),
            pick(all.labels, chosen, wanted), pick(all.targets, chosen, wanted)};
}

} // namespace

void splitOffTest(Dataset& data, double share, std::uint64_t seed) {
    if (!(share >= 0 && share < 1))
        throw std::invalid_argument("the test share is " + shortestText(share) +
                                    "; it has to be at least 0 and below 1");
    const std::size_t count = data.train.count;
    constexpr std::size_t most = std::size_t{1} << 30; // orders are drawn from numbers of 32 bits
    if (count > most)
        throw std::invalid_argument("'" + data.name + "' has " + std::to_string(count) +
                                    " examples; at most " + std::to_string(most) + " can be divided");
    const auto testCount = static_cast<std::size_t>(std::llround(share * static_cast<double>(count)));
    if (testCount >= count)
        throw std::invalid_argument("a test share of " + shortestText(share) + " leaves none of the " +
                                    std::to_string(count) + " examples of '" + data.name +
                                    "' for training; choose a smaller one");
    if (testCount == 0) return;
    const std::vector<bool> chosen = chooseTest(count, testCount, seed);
    data.test = pickExamples(data.train, chosen, true, testCount);
    data.train = pickExamples(data.train, chosen, false, count - testCount);
}

} // namespace lockstep
