#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "engine/grid/map.h"
#include "engine/grid/map_point.h"
#include "engine/net/names.h"
#include "engine/net/random.h"

namespace lockstep {

namespace {

constexpr NameOf<MapAxes> axesNames[] = {
    {MapAxes::rates, "rates"},
    {MapAxes::rateAndScale, "rate-and-scale"},
};

void requireRange(std::size_t value, std::size_t most, const std::string& what) {
    if (value < 1 || value > most)
        throw std::invalid_argument("a map takes 1 to " + std::to_string(most) + " " + what + ", not " +
                                    std::to_string(value));
}

float normalOf(const shared::Random4& words) { return static_cast<float>(normalFromWords(words.x, words.y)); }

std::vector<float> normals(std::uint64_t seed, RandomStream stream, std::uint32_t subindex,
                           std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t index = 0; index < count; ++index)
        values[index] = normalOf(randomWords(seed, stream, index, subindex));
    return values;
}

double power(double from, double to, double share) { return std::pow(10.0, from + (to - from) * share); }

double middle(std::uint32_t pixel, std::uint32_t pixels) { return (pixel + 0.5) / pixels; }

} // namespace

std::string_view name(MapAxes axes) { return nameOf(axesNames, axes); }

MapAxes mapAxesFromName(std::string_view text) { return valueFromName(axesNames, "axes", text); }

const MapJob& MapJob::validate() const {
    requireRange(inputs, 16, "inputs");
    requireRange(hidden, 16, "hidden neurons");
    requireRange(examples, 512, "examples");
    requireRange(steps, 2000, "steps");
    if (activation != Activation::identity && activation != Activation::relu &&
        activation != Activation::tanh)
        throw std::invalid_argument("a map knows the activations identity, relu and tanh, not '" +
                                    std::string(name(activation)) + "'");
    return *this;
}

MapData mapData(const MapJob& job) {
    MapData data;
    data.inputs = normals(job.seed, RandomStream::data, 0, job.examples * job.inputs);
    const double gain =
        std::sqrt((job.activation == Activation::identity ? 1.0 : 2.0) / static_cast<double>(job.inputs));
    for (float& input : data.inputs) input = static_cast<float>(gain * input);
    data.targets = normals(job.seed, RandomStream::data, 1, job.examples);
    data.firstWeights = normals(job.seed, RandomStream::weights, 0, job.hidden * job.inputs);
    data.secondWeights = normals(job.seed, RandomStream::weights, 1, job.hidden);
    return data;
}

MapPoint MapWindow::point(std::uint32_t column, std::uint32_t row, std::uint32_t width,
                          std::uint32_t height) const {
    return {static_cast<float>(power(left, right, middle(column, width))),
            static_cast<float>(power(top, bottom, middle(row, height)))};
}

bool MapWindow::resolves(std::uint32_t width, std::uint32_t height) const {
    for (std::uint32_t column = 1; column < width; ++column)
        if (point(column - 1, 0, width, height).x == point(column, 0, width, height).x) return false;
    for (std::uint32_t row = 1; row < height; ++row)
        if (point(0, row - 1, width, height).y == point(0, row, width, height).y) return false;
    return true;
}

shared::MapStart startOf(const MapJob& job, MapPoint point) {
    // The gradient of the mean squared error has these in front of its sum over the examples.
    const double factor = 2.0 / static_cast<double>(job.examples * job.hidden);
    const bool rates = job.axes == MapAxes::rates;
    const auto step = [&](float rate) { return static_cast<float>(factor * static_cast<double>(rate)); };
    return {step(point.x), step(rates ? point.y : point.x), rates ? 1.0f : point.y};
}

std::uint32_t tailOf(const MapJob& job) { return std::min(job.steps, mapTail); }

MapOutcome outcomeOf(const MapJob& job, const shared::MapEnd& end) {
    constexpr double largest = shared::mapLargestLoss;
    const double first = end.first;
    if (end.step < job.steps) {
        constexpr double earliest = 0.001;
        const double last = end.last < shared::mapLargestLoss ? end.last : largest; // also for NaN
        const double limit = std::log(std::min(first * shared::mapDivergence, largest));
        const double before = std::log(std::max<double>(end.before, std::numeric_limits<float>::min()));
        const double way = std::log(last) - before;
        const double share = way > 0 ? std::clamp((limit - before) / way, 0.0, 1.0) : 1.0;
        return -static_cast<float>(std::max(static_cast<double>(end.step) - 1 + share, earliest));
    }
    const double tail = end.last / static_cast<double>(tailOf(job));
    if (!(tail < first)) return -static_cast<float>(job.steps);
    return static_cast<float>(std::min(end.before / (first * job.steps), 1.0));
}

} // namespace lockstep
