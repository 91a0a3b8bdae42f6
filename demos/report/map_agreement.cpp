#include "demos/report/map_agreement.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lockstep::demos {

namespace {

constexpr float alikeWithin = 0.01f;

bool onSameSide(MapOutcome a, MapOutcome b) { return (a < 0) == (b < 0); }

bool nearlyEqual(MapOutcome a, MapOutcome b) {
    return onSameSide(a, b) && std::abs(a - b) <= alikeWithin * std::max(std::abs(a), std::abs(b));
}

} // namespace

void MapAgreement::add(MapOutcome first, MapOutcome second) {
    ++both;
    if (onSameSide(first, second)) ++sameEnding;
    if (nearlyEqual(first, second)) ++alike;
    if (first == second) ++same;
}

double MapAgreement::share() const {
    return both > 0 ? static_cast<double>(sameEnding) / static_cast<double>(both)
                    : std::numeric_limits<double>::quiet_NaN();
}

} // namespace lockstep::demos
