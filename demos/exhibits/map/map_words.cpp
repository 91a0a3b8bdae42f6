#include "demos/exhibits/map/map_words.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "demos/words/text.h"

namespace lockstep::demos {

AxisName acrossName(MapAxes axes) {
    if (axes == MapAxes::rates) return {"rate of the first layer", "rate 1"};
    return {"learning rate", "rate"};
}

AxisName upName(MapAxes axes) {
    if (axes == MapAxes::rates) return {"rate of the second layer", "rate 2"};
    return {"scale of the first weights", "scale"};
}

std::string hyperparameterText(double logarithm, double decades) {
    const double needed = 1 - std::floor(std::log10(std::max(decades, 1e-12)));
    const int digits = std::clamp(static_cast<int>(needed), 2, 9);
    const std::string shown = fmt::format("{:.{}g}", std::pow(10.0, logarithm), digits);
    const double value = std::stod(shown);
    if (value < 1e-4 || value >= 1e8) return shown;
    // No power of ten where people read the number itself, and thousands apart.
    const int decimals = std::max(digits - 1 - static_cast<int>(std::floor(logarithm)), 0);
    std::string text = fixed(value, decimals);
    if (decimals > 0) text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    const std::size_t point = std::min(text.find('.'), text.size());
    return grouped(std::stoull(text.substr(0, point))) + text.substr(point);
}

std::string endingText(const MapJob& job, MapOutcome outcome) {
    if (std::isnan(outcome)) return "not trained yet";
    if (outcome >= 0) return fmt::format("converged: mean loss {:.2g} % of the first", 100 * outcome);
    if (-outcome >= static_cast<float>(job.steps)) return "no better at the end than at the start";
    return fmt::format("diverged at step {:.0f}", std::ceil(-outcome));
}

std::string agreementText(const MapAgreement& agreement) {
    if (agreement.both == 0) return "Nothing to compare.";
    const auto share = [&](std::size_t pixels) {
        return percent(static_cast<double>(pixels) / static_cast<double>(agreement.both));
    };
    if (agreement.same == agreement.both)
        return "Both machines agree on every pixel, to the last bit: the same mathematics.";
    const std::string whether = agreement.sameEnding == agreement.both
                                    ? "every pixel"
                                    : share(agreement.sameEnding) + " of the pixels";
    constexpr double enough = 0.95; // of the pixels on the same side of the border
    const bool sameMathematics =
        static_cast<double>(agreement.sameEnding) >= enough * static_cast<double>(agreement.both);
    return fmt::format(
        "Both agree on {} whether training converges{}. How fast it does or diverges is alike on {}; at "
        "the ragged edge, rounding decides.",
        whether, sameMathematics ? ": the same mathematics" : "", share(agreement.alike));
}

} // namespace lockstep::demos
