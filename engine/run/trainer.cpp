// Where a loss became non-finite: the failed step is repeated with the plain loops, and every value is
// checked.
#include "engine/run/trainer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "engine/net/names.h"
#include "engine/net/param_layout.h"
#include "engine/net/plain_ops.h"

namespace lockstep {

namespace {

/// The first place with a value that is not finite or beyond `largest`: in the data, then in all weights from
/// the first layer up, then in the layers' outputs, so that the first cause is found before its consequences.
NonFinitePlace findPlace(const TrainJob& job, std::uint64_t step, std::span<const float> parameters,
                         float largest) {
    const Dataset& data = *job.data;
    const ParamLayout layout(job.shape);
    const BatchOrder order = job.order();
    const BatchRange batch = order.range(step);
    const auto finite = [largest](std::span<const float> values) { // false for NaN
        return std::ranges::all_of(values, [&](float value) { return std::abs(value) <= largest; });
    };
    const auto isFinite = [](TargetWord word) { return std::isfinite(std::bit_cast<float>(word)); };

    const std::size_t stride = roundUpToFour(data.inputs);
    std::vector<float> values(batch.rows * stride); // inputs of the current layer
    std::vector<TargetWord> targets(batch.rows * data.targetWidth);
    plain::gatherBatch(data, data.train, order, batch, 0, batch.rows, stride, values.data(), targets.data());
    for (std::size_t row = 0; row < batch.rows; ++row) {
        const std::size_t example = order.example(batch.epoch, batch.first + row);
        if (!finite({values.data() + row * stride, data.inputs}))
            return {TensorId{TensorKind::activations}, {}, example};
        const auto words = std::span(targets).subspan(row * data.targetWidth, data.targetWidth);
        if (data.classes == 0 && !std::ranges::all_of(words, isFinite))
            return {TensorId{TensorKind::targets}, {}, example};
    }
    for (std::size_t layer = 0; layer < layout.layers(); ++layer) {
        const LayerLayout& place = layout.layer(layer);
        if (!finite(parameters.subspan(place.weightOffset, place.weightCount())))
            return {TensorId{TensorKind::weights, layer}, layer, {}};
        if (!finite(parameters.subspan(place.biasOffset, place.biasCount())))
            return {TensorId{TensorKind::bias, layer}, layer, {}};
    }
    for (std::size_t layer = 0; layer < layout.layers(); ++layer) {
        const LayerLayout& place = layout.layer(layer);
        const DenseShape dense{batch.rows, place.inputs, place.outputs, place.rowStride,
                               roundUpToFour(place.outputs)};
        std::vector<float> outputs(batch.rows * dense.outputStride);
        plain::dense<float>(dense, values.data(), parameters.data() + place.weightOffset,
                            parameters.data() + place.biasOffset, job.shape.activationOf(layer),
                            outputs.data(), nullptr);
        if (!finite(outputs)) return {TensorId{TensorKind::activations, layer + 1}, layer, {}};
        values = std::move(outputs);
    }
    return {};
}

/// "layer 2 (256 -> 128): its weights", "the inputs of example 17".
std::string describe(const NonFinitePlace& place, const NetShape& shape) {
    const TensorKind kind = place.tensor->kind;
    if (place.example)
        return concat(kind == TensorKind::targets ? "the targets" : "the inputs", " of example ",
                      *place.example);
    const std::size_t layer = *place.layer;
    const char* what = kind == TensorKind::weights ? "weights"
                       : kind == TensorKind::bias  ? "biases"
                                                   : "outputs";
    return concat("layer ", layer + 1, " (", shape.widths[layer], " -> ", shape.widths[layer + 1], "): its ",
                  what);
}

} // namespace

NonFiniteError explainNonFinite(const TrainJob& job, std::uint64_t step, std::span<const float> parameters,
                                float largest) {
    const NonFinitePlace place = findPlace(job, step, parameters, largest);
    const std::string hint =
        place.example
            ? "correct or remove that example"
            : concat("the learning rate was ", sixDigits(learningRate(job.settings.optimizer, step)),
                     ": go back some steps and try a smaller one, such as a tenth");
    const std::string limit =
        largest == std::numeric_limits<float>::max()
            ? ""
            : concat(" (or exceeds the fp16 maximum, ", sixDigits(static_cast<double>(largest)), ")");
    const std::string first =
        place.tensor ? concat("; the first value that is not", limit, " is ", describe(place, job.shape))
                     : "";
    return NonFiniteError(
        step, place,
        concat("training stopped at step ", step, ": the loss is not finite", first, "; ", hint));
}

} // namespace lockstep
