#include "engine/run/finish_line.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "engine/net/names.h"

namespace lockstep {

namespace {

void requirePositive(const char* line, double value) {
    if (value < 0 || !std::isfinite(value))
        throw std::invalid_argument(concat("invalid finish line: ", sixDigits(value), " ", line,
                                           "; choose a number of at least 0 (0: none)"));
}

} // namespace

std::uint64_t FinishLine::lastStep(const BatchOrder& order) const {
    std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
    if (epochs > 0 && epochs < last / order.stepsPerEpoch()) last = epochs * order.stepsPerEpoch();
    return steps > 0 ? std::min(last, steps) : last;
}

double FinishLine::progress(const BatchOrder& order, std::uint64_t step, double trainingSeconds) const {
    double share = 0;
    if (epochs > 0 || steps > 0) share = static_cast<double>(step) / static_cast<double>(lastStep(order));
    if (seconds > 0) share = std::max(share, trainingSeconds / seconds);
    return std::min(share, 1.0);
}

std::string FinishLine::text() const {
    std::string all;
    const auto add = [&all](const std::string& line) { all += (all.empty() ? "" : " or ") + line; };
    if (accuracy > 0) add(sixDigits(accuracy * 100) + " % test accuracy");
    if (loss > 0) add("a test loss of " + sixDigits(loss));
    if (epochs > 0) add(counted(epochs, "epoch"));
    if (steps > 0) add(counted(steps, "step"));
    if (seconds > 0) add(sixDigits(seconds) + (seconds == 1 ? " second" : " seconds"));
    return all;
}

void FinishLine::validate(const Dataset& data) const {
    requirePositive("seconds", seconds);
    requirePositive("test accuracy", accuracy);
    requirePositive("test loss", loss);
    if (accuracy > 1)
        throw std::invalid_argument("a test accuracy of " + sixDigits(accuracy) +
                                    " cannot be reached; choose at most 1 (0.85 is 85 %)");
    if (needsEvaluation() && data.test.count == 0)
        throw std::invalid_argument("'" + data.name + "' has no test examples to reach " + text() +
                                    " on; hold some out with a test share");
    if (accuracy > 0 && data.classes == 0)
        throw std::invalid_argument("'" + data.name +
                                    "' has no classes, so it has no accuracy; use a target loss instead");
}

} // namespace lockstep
