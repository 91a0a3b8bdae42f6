#include "demos/exhibits/inside/random_job.h"

#include <algorithm>
#include <cmath>

#include "engine/net/batch_order.h"
#include "engine/net/param_layout.h"

namespace lockstep::demos {

namespace {

class Numbers {
  public:
    explicit Numbers(std::uint64_t seed) : seed_(seed) {}
    std::uint32_t word() { return randomWords(seed_, RandomStream::test, drawn_++).x; }
    float between(double low, double high) {
        return static_cast<float>(low + (high - low) * uniform01(word()));
    }

  private:
    std::uint64_t seed_;
    std::uint64_t drawn_ = 0;
};

Dataset randomData(const Dataset& like, std::size_t batch) {
    Numbers numbers(1);
    Dataset data;
    data.name = "random numbers";
    data.inputs = like.inputs;
    data.classes = like.classes;
    data.classNames = like.classNames;
    data.targetWidth = like.targetWidth;
    Examples& train = data.train;
    train.count = batch + std::max<std::size_t>(1, batch / 3);
    for (std::size_t i = 0; i < train.count * data.inputs; ++i)
        if (like.bytes())
            train.pixels.push_back(static_cast<std::uint8_t>(1 + numbers.word() % 255));
        else
            train.values.push_back(numbers.between(-1, 1));
    for (std::size_t i = 0; i < train.count; ++i)
        if (like.classes > 0)
            train.labels.push_back(numbers.word() % static_cast<std::uint32_t>(like.classes));
    if (like.classes == 0)
        for (std::size_t i = 0; i < train.count * data.targetWidth; ++i)
            train.targets.push_back(numbers.between(-1, 1));
    return data;
}

} // namespace

RandomJob::RandomJob(const TrainJob& like)
    : data_(randomData(*like.data, std::min(like.settings.batch, like.data->train.count))), job_(like) {
    job_.data = &data_;
    job_.settings.batch = std::min(like.settings.batch, like.data->train.count);
}

std::uint64_t RandomJob::stepsPerEpoch() const {
    return BatchOrder(data_.train.count, job_.settings.batch, 0, false).stepsPerEpoch();
}

TrainerState RandomJob::stateAt(std::uint64_t step) const {
    Numbers numbers(2);
    const ParamLayout layout(job_.shape);
    TrainerState state;
    state.step = step;
    // Padding stays 0, as everywhere.
    const auto filled = [&](bool parameters) {
        std::vector<float> arena(layout.size());
        for (std::size_t index = 0; index < layout.layers(); ++index) {
            const LayerLayout& layer = layout.layer(index);
            // The sums of a layer are about as large as its inputs.
            const double weight = parameters ? std::sqrt(6.0 / static_cast<double>(layer.inputs)) : 0.05;
            const double bias = parameters ? 0.5 : 0.05;
            for (std::size_t o = 0; o < layer.outputs; ++o) {
                for (std::size_t i = 0; i < layer.inputs; ++i)
                    arena[layer.weightOffset + o * layer.rowStride + i] =
                        numbers.between(parameters ? -weight : 0, weight);
                arena[layer.biasOffset + o] = numbers.between(parameters ? -bias : 0, bias);
            }
        }
        return arena;
    };
    state.parameters = filled(true);
    for (std::size_t i = 0; i < job_.settings.optimizer.stateArrays(); ++i)
        state.optimizerState.push_back(filled(false)); // means of squares are not negative
    return state;
}

} // namespace lockstep::demos
