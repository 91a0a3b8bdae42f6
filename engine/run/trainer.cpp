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

constexpr const char* theLoss = "the loss"; // of an error: nothing before it was infinite

/// The first place with a value that is not finite or beyond `largest`: in the data, then in all weights from
/// the first layer up, then in the layers' outputs, so that the first cause is found before its consequences.
std::string findPlace(const TrainJob& job, std::uint64_t step, std::span<const float> parameters,
                      float largest) {
    const Dataset& data = *job.data;
    const ParamLayout layout(job.shape);
    const BatchOrder order = job.order();
    const BatchRange batch = order.range(step);
    const auto finite = [largest](std::span<const float> values) { // false for NaN
        return std::ranges::all_of(values, [&](float value) { return std::abs(value) <= largest; });
    };
    const auto isFinite = [](TargetWord word) { return std::isfinite(std::bit_cast<float>(word)); };
    const auto layerName = [&](std::size_t layer) {
        return concat("layer ", layer + 1, " (", job.shape.widths[layer], " -> ", job.shape.widths[layer + 1],
                      ")");
    };

    const std::size_t stride = roundUpToFour(data.inputs);
    std::vector<float> values(batch.rows * stride); // inputs of the current layer
    std::vector<TargetWord> targets(batch.rows * data.targetWidth);
    plain::gatherBatch(data, data.train, order, batch, 0, batch.rows, stride, values.data(), targets.data());
    for (std::size_t row = 0; row < batch.rows; ++row) {
        const std::string example = concat(" of example ", order.example(batch.epoch, batch.first + row));
        if (!finite({values.data() + row * stride, data.inputs})) return "the inputs" + example;
        const auto words = std::span(targets).subspan(row * data.targetWidth, data.targetWidth);
        if (data.classes == 0 && !std::ranges::all_of(words, isFinite)) return "the targets" + example;
    }
    for (std::size_t layer = 0; layer < layout.layers(); ++layer) {
        const LayerLayout& place = layout.layer(layer);
        if (!finite(parameters.subspan(place.weightOffset, place.weightCount())))
            return layerName(layer) + ": its weights";
        if (!finite(parameters.subspan(place.biasOffset, place.biasCount())))
            return layerName(layer) + ": its biases";
    }
    for (std::size_t layer = 0; layer < layout.layers(); ++layer) {
        const LayerLayout& place = layout.layer(layer);
        const DenseShape dense{batch.rows, place.inputs, place.outputs, place.rowStride,
                               roundUpToFour(place.outputs)};
        std::vector<float> outputs(batch.rows * dense.outputStride);
        plain::dense<float>(dense, values.data(), parameters.data() + place.weightOffset,
                            parameters.data() + place.biasOffset, job.shape.activationOf(layer),
                            outputs.data(), nullptr);
        if (!finite(outputs)) return layerName(layer) + ": its outputs";
        values = std::move(outputs);
    }
    return theLoss;
}

} // namespace

NonFiniteError explainNonFinite(const TrainJob& job, std::uint64_t step, std::span<const float> parameters,
                                float largest) {
    const std::string where = findPlace(job, step, parameters, largest);
    const bool fromData = where.find("of example") != std::string::npos;
    const std::string hint =
        fromData ? "correct or remove that example"
                 : concat("the learning rate was ", sixDigits(learningRate(job.settings.optimizer, step)),
                          ": go back some steps and try a smaller one, such as a tenth");
    const std::string limit =
        largest == std::numeric_limits<float>::max()
            ? ""
            : concat(" (or exceeds the fp16 maximum, ", sixDigits(static_cast<double>(largest)), ")");
    const std::string first =
        where == theLoss ? "" : concat("; the first value that is not", limit, " is ", where);
    return NonFiniteError(
        step, where,
        concat("training stopped at step ", step, ": the loss is not finite", first, "; ", hint));
}

} // namespace lockstep
