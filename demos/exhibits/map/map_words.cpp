#include "demos/exhibits/map/map_words.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "demos/report/text.h"

namespace lockstep::demos {

namespace {

constexpr std::uint32_t largestPicture = 4096;

std::uint32_t pixelsFromText(std::string_view text) {
    std::uint32_t pixels = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pixels);
    if (error != std::errc() || end != text.data() + text.size() || pixels == 0 || pixels > largestPicture)
        throw std::invalid_argument(fmt::format(
            "a picture has 1 to {} pixels a side, as 2048 or 1920x1080; not '{}'", largestPicture, text));
    return pixels;
}

} // namespace

std::string networkText(const TrainabilityJob& job) { return fmt::format("{}-{}-1", job.inputs, job.hidden); }

const char* acrossName(TrainabilityAxes axes) {
    return axes == TrainabilityAxes::rates ? "rate of the first layer" : "learning rate";
}

const char* upName(TrainabilityAxes axes) {
    return axes == TrainabilityAxes::rates ? "rate of the second layer" : "scale of the first weights";
}

std::string hyperparameterText(double logarithm, double decades) {
    const double needed = 1 - std::floor(std::log10(std::max(decades, 1e-12)));
    const int digits = std::clamp(static_cast<int>(needed), 2, 9);
    const double value = std::pow(10.0, logarithm);
    const std::string shown = fmt::format("{:.{}g}", value, digits);
    if (value < 1000 || value >= 1e8) return shown;
    // Thousands apart instead of a power of ten, with no more digits than that.
    const std::string text = fixed(std::stod(shown), std::max(digits - 1 - static_cast<int>(logarithm), 0));
    const std::size_t point = std::min(text.find('.'), text.size());
    return grouped(std::stoull(text.substr(0, point))) + text.substr(point);
}

std::string rangeText(double from, double to) {
    return fmt::format("{} to {}", hyperparameterText(from, to - from), hyperparameterText(to, to - from));
}

std::string endingText(const TrainabilityJob& job, TrainabilityOutcome outcome) {
    if (std::isnan(outcome)) return "not trained yet";
    if (outcome >= 0)
        return fmt::format("converged: mean loss {} % of the first",
                           threeDigits(100 * static_cast<double>(outcome)));
    if (-outcome >= static_cast<float>(job.steps)) return "no better at the end than at the beginning";
    return fmt::format("diverged at step {:.0f}", std::ceil(-outcome));
}

std::string agreementText(const MapAgreement& agreement) {
    if (agreement.both == 0) return "Nothing to compare.";
    const auto share = [&](std::size_t pixels) {
        return percent(static_cast<double>(pixels) / static_cast<double>(agreement.both));
    };
    if (agreement.same == agreement.both)
        return "Both machines trained every network to the same end, to the last bit: the same mathematics.";
    if (agreement.alike == agreement.both)
        return fmt::format("Both machines agree on every pixel, on {} of them to the last bit: the same "
                           "mathematics.",
                           share(agreement.same));
    return fmt::format("Both machines agree on {} of the pixels: the same mathematics. At the ragged edge, "
                       "rounding alone decides how training ends.",
                       share(agreement.alike));
}

MapSize mapSizeFromText(const std::string& text) {
    std::string bare = text;
    std::erase_if(bare, [](char letter) { return letter == ' ' || letter == ','; });
    const std::size_t cross = bare.find('x');
    const std::uint32_t width = pixelsFromText(std::string_view(bare).substr(0, cross));
    if (cross == std::string::npos) return {width, width};
    return {width, pixelsFromText(std::string_view(bare).substr(cross + 1))};
}

std::string mapSizeText(MapSize size) { return fmt::format("{}x{}", size.width, size.height); }

} // namespace lockstep::demos
