#include "demos/exhibits/playground/host_network.h"

#include <algorithm>
#include <cmath>

#include "engine/net/activation.h"
#include "engine/net/plain_training.h"

namespace lockstep::demos {

std::vector<LayerValues> forward(const NetShape& shape, std::span<const float> parameters,
                                 std::span<const float> inputs, std::size_t rows) {
    const auto zeros = [rows](std::size_t width) {
        const std::size_t stride = roundUpToFour(width);
        return LayerValues{width, stride, std::vector<float>(rows * stride)};
    };
    const ParamLayout layout(shape);
    std::vector<LayerValues> values{zeros(shape.inputs())};
    for (std::size_t row = 0; row < rows; ++row)
        std::ranges::copy(inputs.subspan(row * shape.inputs(), shape.inputs()),
                          values[0].data.begin() + static_cast<std::ptrdiff_t>(row * values[0].stride));
    for (std::size_t l = 0; l < layout.layers(); ++l) {
        const LayerLayout& place = layout.layer(l);
        LayerValues next = zeros(place.outputs);
        plain::dense<float>({rows, place.inputs, place.outputs, place.rowStride, next.stride},
                            values.back().data.data(), parameters.data() + place.weightOffset,
                            parameters.data() + place.biasOffset, shape.activationOf(l), next.data.data(),
                            nullptr);
        values.push_back(std::move(next));
    }
    return values;
}

void toAnswer(Loss loss, std::span<float> outputs) {
    if (loss == Loss::binaryCrossEntropy)
        for (float& value : outputs) value = activate(Activation::sigmoid, value);
    if (loss != Loss::crossEntropy) return;
    const float most = *std::ranges::max_element(outputs);
    float sum = 0;
    for (float& value : outputs) sum += value = std::exp(value - most);
    for (float& value : outputs) value /= sum;
}

std::vector<float> gradient(const NetShape& shape, std::span<const float> parameters, const Dataset& data,
                            const BatchOrder& order, std::uint64_t step, std::size_t rows) {
    BatchRange batch = order.range(step);
    batch.rows = std::min(batch.rows, rows);
    PlainNetwork<float> network(data, shape, parameters);
    network.lossAndGradients(order, batch);
    return network.gradients;
}

} // namespace lockstep::demos
