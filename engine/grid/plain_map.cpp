// Plain loops: one network, one example after the other, in the order in which all other machines add.
#include "engine/grid/map.h"

#include <algorithm>
#include <cmath>

#include "engine/grid/map_point.h"
#include "shaders/shared/tanh.h"

namespace lockstep {

namespace {

float number(float constant) { return constant; }

/// x P(x^2) / Q(x^2): shaders/shared/tanh.h.
float quotientTanh(float x) {
    using namespace shared;
    x = x > tanhLimit ? tanhLimit : x; // a NaN stays one
    x = x < -tanhLimit ? -tanhLimit : x;
    const float u = x * x;
    return LOCKSTEP_TANH_QUOTIENT(x, u, std::fma);
}

float activated(Activation activation, float z) {
    if (activation == Activation::tanh) return quotientTanh(z);
    return activation == Activation::relu && z < 0 ? 0 : z;
}

/// d f'(z), from f(z).
float derived(Activation activation, float d, float value) {
    if (activation == Activation::tanh) return d * std::fma(-value, value, 1.0f);
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
            squares = std::fma(error, error, squares);
            backward(x, error);
        }
        return squares;
    }

    void update(const shared::MapStart& start) {
        for (std::size_t i = 0; i < first_.size(); ++i)
            first_[i] = std::fma(-start.firstStep, dFirst_[i], first_[i]);
        for (std::size_t h = 0; h < second_.size(); ++h)
            second_[h] = std::fma(-start.secondStep, dSecond_[h], second_[h]);
    }

  private:
    float forward(const float* x, float target) {
        float sum = 0;
        for (std::size_t h = 0; h < job_.hidden; ++h) {
            float z = 0;
            for (std::size_t i = 0; i < job_.inputs; ++i) z = std::fma(first_[h * job_.inputs + i], x[i], z);
            values_[h] = activated(job_.activation, z);
            sum = std::fma(second_[h], values_[h], sum);
        }
        return std::fma(sum, 1.0f / static_cast<float>(job_.hidden), -target);
    }

    void backward(const float* x, float error) {
        for (std::size_t h = 0; h < job_.hidden; ++h) {
            dSecond_[h] = std::fma(error, values_[h], dSecond_[h]);
            const float d = derived(job_.activation, error * second_[h], values_[h]);
            float* row = dFirst_.data() + h * job_.inputs;
            for (std::size_t i = 0; i < job_.inputs; ++i) row[i] = std::fma(d, x[i], row[i]);
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

} // namespace

MapOutcome plainMapOutcome(const MapJob& job, MapPoint point) {
    job.validate();
    const shared::MapStart start = startOf(job, point);
    PlainNetwork network(job, start.scale);
    shared::MapEnd end{job.steps, 0, 0, 0};
    float limit = shared::mapLargestLoss;
    float before = 0;
    for (std::uint32_t step = 0; step < job.steps; ++step) {
        const float loss = network.loss();
        if (!(loss <= limit)) return outcomeOf(job, {step, end.first, before, loss});
        if (step == 0) {
            end.first = loss;
            limit = std::min(loss * shared::mapDivergence, shared::mapLargestLoss);
        }
        end.before += loss;
        if (step >= job.steps - tailOf(job)) end.last += loss;
        before = loss;
        network.update(start);
    }
    return outcomeOf(job, end);
}

std::vector<float> plainMapLosses(const MapJob& job, MapPoint point) {
    job.validate();
    const shared::MapStart start = startOf(job, point);
    PlainNetwork network(job, start.scale);
    std::vector<float> losses;
    float limit = shared::mapLargestLoss;
    while (losses.size() < job.steps) {
        const float squares = network.loss();
        losses.push_back(squares / static_cast<float>(job.examples));
        if (!(squares <= limit)) break;
        if (losses.size() == 1) limit = std::min(squares * shared::mapDivergence, shared::mapLargestLoss);
        network.update(start);
    }
    return losses;
}

} // namespace lockstep
