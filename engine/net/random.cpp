#include "engine/net/random.h"

#include <cmath>
#include <numbers>

namespace lockstep {

double normalFromWords(std::uint32_t first, std::uint32_t second) {
    // 1 - u lies in (0, 1], so the logarithm is finite.
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform01(first)));
    return radius * std::cos(2.0 * std::numbers::pi * uniform01(second));
}

} // namespace lockstep
