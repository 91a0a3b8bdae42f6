#include "engine/net/inference.h"

#include <stdexcept>
#include <utility>

#include "engine/net/names.h"
#include "engine/net/plain_ops.h"

namespace lockstep {

Inference::Inference(const NetShape& shape, std::vector<float> parameters)
    : shape_(shape), layout_(shape), parameters_(std::move(parameters)) {
    if (parameters_.size() != layout_.size())
        throw std::invalid_argument(
            concat("an arena of ", parameters_.size(), " floats for a network of ", layout_.size()));
}

std::vector<float> Inference::outputs(std::span<const float> inputs) const {
    if (inputs.size() != shape_.inputs())
        throw std::invalid_argument(
            concat(counted(inputs.size(), "input"), " for a network that takes ", shape_.inputs()));
    std::vector<float> values(inputs.begin(), inputs.end());
    for (std::size_t l = 0; l < layout_.layers(); ++l) {
        const LayerLayout& layer = layout_.layer(l);
        values.resize(layer.rowStride, 0.0F);
        std::vector<float> next(roundUpToFour(layer.outputs));
        const DenseShape dense{.rows = 1,
                               .inputs = layer.inputs,
                               .outputs = layer.outputs,
                               .inputStride = layer.rowStride,
                               .outputStride = next.size()};
        plain::dense<float>(dense, values.data(), parameters_.data() + layer.weightOffset,
                            parameters_.data() + layer.biasOffset, shape_.activationOf(l), next.data(),
                            nullptr);
        values = std::move(next);
    }
    values.resize(shape_.outputs());
    return values;
}

} // namespace lockstep
