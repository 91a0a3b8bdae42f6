// The network once more on the host, by the engine's plain loops: numbers for hovering, gradients for
// histograms, heights for the surface. Small amounts only; pictures come from the card.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/net/activation.h"
#include "engine/net/batch_order.h"
#include "engine/net/dataset.h"
#include "engine/net/param_layout.h"
#include "engine/net/plain_training.h"

namespace lockstep::demos {

/// One layer's values for some rows.
struct LayerValues {
    std::size_t width = 0;
    std::size_t stride = 0;
    std::vector<float> data;

    std::span<const float> row(std::size_t number) const {
        return std::span(data).subspan(number * stride, width);
    }
};

/// All layers' values, [0] the inputs, for `inputs` [rows][shape.inputs()]. The last layer's are as the
/// network gives them, before any softmax or sigmoid of the loss.
inline std::vector<LayerValues> forward(const NetShape& shape, std::span<const float> parameters,
                                        std::span<const float> inputs, std::size_t rows) {
    const ParamLayout layout(shape);
    std::vector<LayerValues> values;
    for (const std::size_t width : shape.widths) {
        const std::size_t stride = roundUpToFour(width);
        values.push_back({width, stride, std::vector<float>(rows * stride)});
    }
    for (std::size_t row = 0; row < rows; ++row)
        std::ranges::copy(inputs.subspan(row * shape.inputs(), shape.inputs()),
                          values[0].data.begin() + static_cast<std::ptrdiff_t>(row * values[0].stride));
    for (std::size_t l = 0; l < layout.layers(); ++l) {
        const LayerLayout& place = layout.layer(l);
        plain::dense<float>({rows, place.inputs, place.outputs, place.rowStride, values[l + 1].stride},
                            values[l].data.data(), parameters.data() + place.weightOffset,
                            parameters.data() + place.biasOffset, shape.activationOf(l),
                            values[l + 1].data.data(), nullptr);
    }
    return values;
}

/// What outputs mean: class probabilities where the loss has them, else the outputs themselves.
inline std::vector<float> answerOf(Loss loss, std::span<const float> outputs) {
    std::vector<float> answer(outputs.begin(), outputs.end());
    if (loss == Loss::binaryCrossEntropy)
        for (float& value : answer) value = activate(Activation::sigmoid, value);
    if (loss != Loss::crossEntropy) return answer;
    const float most = *std::ranges::max_element(answer);
    float sum = 0;
    for (float& value : answer) sum += value = std::exp(value - most);
    for (float& value : answer) value /= sum;
    return answer;
}

/// The loss's gradient for the first `rows` examples of the step's batch, in the parameters' layout.
inline std::vector<float> gradient(const NetShape& shape, std::span<const float> parameters,
                                   const Dataset& data, const BatchOrder& order, std::uint64_t step,
                                   std::size_t rows) {
    BatchRange batch = order.range(step);
    batch.rows = std::min(batch.rows, rows);
    PlainNetwork<float> network(data, shape, parameters);
    network.lossAndGradients(order, batch);
    return network.gradients;
}

} // namespace lockstep::demos
