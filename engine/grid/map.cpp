#include "engine/grid/map.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "engine/net/fused.h"
#include "engine/net/names.h"
#include "engine/net/random.h"
#include "shaders/shared/tanh.h"

namespace lockstep {

namespace {

float number(float constant) { return constant; }

constexpr NameOf<MapAxes> axesNames[] = {
    {MapAxes::rates, "rates"},
    {MapAxes::rateAndScale, "rate-and-scale"},
};

void requireRange(std::size_t value, std::size_t most, const std::string& what) {
    if (value < 1 || value > most)
        throw std::invalid_argument("a map takes 1 to " + std::to_string(most) + " " + what + ", not " +
                                    std::to_string(value));
}

std::vector<float> normals(std::uint64_t seed, RandomStream stream, std::uint32_t subindex,
                           std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t index = 0; index < count; ++index) {
        const shared::Random4 words = randomWords(seed, stream, index, subindex);
        values[index] = static_cast<float>(normalFromWords(words.x, words.y));
    }
    return values;
}

double power(double from, double to, double share) { return std::pow(10.0, from + (to - from) * share); }

double middle(std::uint32_t pixel, std::uint32_t pixels) { return (pixel + 0.5) / pixels; }

/// x P(x^2) / Q(x^2): shaders/shared/tanh.h.
float quotientTanh(float x) {
    using namespace shared;
    x = std::clamp(x, -tanhLimit, tanhLimit); // a NaN stays one
    const float u = x * x;
    return std::clamp(LOCKSTEP_TANH_QUOTIENT(x, u, fused), -1.0f, 1.0f);
}

float activated(Activation activation, float z) {
    if (activation == Activation::tanh) return quotientTanh(z);
    return activation == Activation::relu && z < 0 ? 0 : z;
}

/// d f'(z), from f(z).
float derived(Activation activation, float d, float value) {
    if (activation == Activation::tanh) return d * fused(-value, value, 1.0f);
    return activation == Activation::relu && !(value > 0) ? 0 : d;
}

class PlainNetwork {
  public:
    PlainNetwork(const MapJob& job, float scale)
        : job_(job), data_(mapData(job)), first_(data_.firstWeights), second_(data_.secondWeights),
          values_(job.hidden), dFirst_(first_.size()), dSecond_(second_.size()) {
        for (float& weight : first_) weight *= scale;
        for (float& weight : second_) weight *= scale;
    }

    /// The sum of squared errors, and its gradient.
    float loss() {
        std::ranges::fill(dFirst_, 0.0f);
        std::ranges::fill(dSecond_, 0.0f);
        float squares = 0;
        for (std::size_t example = 0; example < job_.examples; ++example) {
            const float* x = data_.inputs.data() + example * job_.inputs;
            const float error = forward(x, data_.targets[example]);
            squares = fused(error, error, squares);
            backward(x, error);
        }
        return squares;
    }

    void update(const shared::MapStart& start) {
        for (std::size_t i = 0; i < first_.size(); ++i)
            first_[i] = fused(-start.firstStep, dFirst_[i], first_[i]);
        for (std::size_t h = 0; h < second_.size(); ++h)
            second_[h] = fused(-start.secondStep, dSecond_[h], second_[h]);
    }

  private:
    float forward(const float* x, float target) {
        float sum = 0;
        for (std::size_t h = 0; h < job_.hidden; ++h) {
            float z = 0;
            for (std::size_t i = 0; i < job_.inputs; ++i) z = fused(first_[h * job_.inputs + i], x[i], z);
            values_[h] = activated(job_.activation, z);
            sum = fused(second_[h], values_[h], sum);
        }
        return fused(sum, 1.0f / static_cast<float>(job_.hidden), -target);
    }

    void backward(const float* x, float error) {
        for (std::size_t h = 0; h < job_.hidden; ++h) {
            dSecond_[h] = fused(error, values_[h], dSecond_[h]);
            const float d = derived(job_.activation, error * second_[h], values_[h]);
            float* row = dFirst_.data() + h * job_.inputs;
            for (std::size_t i = 0; i < job_.inputs; ++i) row[i] = fused(d, x[i], row[i]);
        }
    }

    const MapJob& job_;
    MapData data_;
    std::vector<float> first_;
    std::vector<float> second_;
    std::vector<float> values_; ///< of the hidden neurons
    std::vector<float> dFirst_;
    std::vector<float> dSecond_;
};

struct PlainTraining {
    std::vector<float> squares; ///< errors of all examples, before each step
    bool diverged = false;      ///< the last of them are beyond the limit
};

PlainTraining trainPlain(const MapJob& job, MapPoint point) {
    job.validate();
    const shared::MapStart start = startOf(job, point);
    PlainNetwork network(job, start.scale);
    PlainTraining training;
    float limit = shared::mapLargestLoss;
    while (training.squares.size() < job.steps && !training.diverged) {
        const float squares = network.loss();
        training.diverged = !(squares <= limit);
        if (training.squares.empty())
            limit = std::min(squares * shared::mapDivergence, shared::mapLargestLoss);
        training.squares.push_back(squares);
        network.update(start);
    }
    return training;
}

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

std::size_t MapTrainer::pointsFor(double milliseconds) const {
    constexpr double most = 1 << 24;
    const auto points = static_cast<std::size_t>(std::min(speed_.fitting(milliseconds), most));
    return std::max(points / group_, std::size_t{1}) * group_;
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

MapOutcome plainMapOutcome(const MapJob& job, MapPoint point) {
    const PlainTraining training = trainPlain(job, point);
    const std::vector<float>& squares = training.squares;
    const std::size_t steps = squares.size();
    if (training.diverged)
        return outcomeOf(job, {static_cast<std::uint32_t>(steps - 1), steps > 1 ? squares.front() : 0,
                               steps > 1 ? squares[steps - 2] : 0, squares.back()});
    shared::MapEnd end{job.steps, squares.front(), 0, 0};
    for (std::size_t step = 0; step < steps; ++step) {
        end.before += squares[step];
        if (step >= steps - tailOf(job)) end.last += squares[step];
    }
    return outcomeOf(job, end);
}

std::vector<float> plainMapLosses(const MapJob& job, MapPoint point) {
    std::vector<float> losses = trainPlain(job, point).squares;
    for (float& loss : losses) loss /= static_cast<float>(job.examples);
    return losses;
}

} // namespace lockstep
