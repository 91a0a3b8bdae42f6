#include "demos/exhibits/playground/host_network.h"

#include <algorithm>
#include <cmath>

#include "engine/net/activation.h"
#include "engine/net/plain_ops.h"

namespace lockstep::demos {

namespace {

DenseShape denseShape(const LayerLayout& place, std::size_t rows) {
    return {rows, place.inputs, place.outputs, place.rowStride, roundUpToFour(place.outputs)};
}

struct Pass {
    std::vector<LayerValues> values; // [0] the inputs
    std::vector<std::vector<float>> sums;

    // What the derivative of layer `l`'s activation is computed from.
    const float* saved(const NetShape& shape, std::size_t l) const {
        return derivativeNeedsSum(shape.activationOf(l)) ? sums[l].data() : values[l + 1].data.data();
    }
};

Pass passForward(const NetShape& shape, std::span<const float> parameters, LayerValues inputs,
                 std::size_t rows) {
    const ParamLayout layout(shape);
    Pass pass;
    pass.values.push_back(std::move(inputs));
    for (std::size_t l = 0; l < layout.layers(); ++l) {
        const LayerLayout& place = layout.layer(l);
        const DenseShape dense = denseShape(place, rows);
        LayerValues next{place.outputs, dense.outputStride, std::vector<float>(rows * dense.outputStride)};
        pass.sums.emplace_back(next.data.size());
        plain::dense<float>(dense, pass.values.back().data.data(), parameters.data() + place.weightOffset,
                            parameters.data() + place.biasOffset, shape.activationOf(l), next.data.data(),
                            pass.sums.back().data());
        pass.values.push_back(std::move(next));
    }
    return pass;
}

} // namespace

std::vector<LayerValues> forward(const NetShape& shape, std::span<const float> parameters,
                                 std::span<const float> inputs, std::size_t rows) {
    const std::size_t width = shape.inputs();
    LayerValues first{width, roundUpToFour(width), std::vector<float>(rows * roundUpToFour(width))};
    for (std::size_t row = 0; row < rows; ++row)
        std::copy_n(inputs.begin() + static_cast<std::ptrdiff_t>(row * width), width,
                    first.data.begin() + static_cast<std::ptrdiff_t>(row * first.stride));
    return passForward(shape, parameters, std::move(first), rows).values;
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
    const ParamLayout layout(shape);
    BatchRange batch = order.range(step);
    rows = batch.rows = std::min(batch.rows, rows);
    LayerValues inputs{data.inputs, roundUpToFour(data.inputs),
                       std::vector<float>(rows * roundUpToFour(data.inputs))};
    std::vector<TargetWord> targets(rows * data.targetWidth);
    plain::gatherBatch<float>(data, data.train, order, batch, 0, rows, inputs.stride, inputs.data.data(),
                              targets.data());
    const Pass pass = passForward(shape, parameters, std::move(inputs), rows);

    std::vector<float> result(layout.size(), 0.0f);
    const std::size_t last = layout.layers() - 1;
    const LossShape loss{rows,
                         shape.outputs(),
                         roundUpToFour(shape.outputs()),
                         data.targetWidth,
                         shape.loss,
                         targetKind(data, shape),
                         shape.outputActivation,
                         1.0 / static_cast<double>(lossTerms(shape.loss, rows, shape.outputs()))};
    std::vector<float> dSums(rows * loss.stride);
    plain::lossAndGradient<float>(loss, pass.values.back().data.data(), pass.saved(shape, last),
                                  targets.data(), dSums.data());
    for (std::size_t l = last + 1; l-- > 0;) {
        const LayerLayout& place = layout.layer(l);
        const DenseShape dense = denseShape(place, rows);
        plain::denseBackwardWeights<float>(dense, dSums.data(), pass.values[l].data.data(), 0, place.outputs,
                                           result.data() + place.weightOffset,
                                           result.data() + place.biasOffset);
        if (l == 0) break;
        std::vector<float> below(rows * dense.inputStride);
        plain::denseBackwardInputs<float>(dense, dSums.data(), parameters.data() + place.weightOffset,
                                          shape.activationOf(l - 1), pass.saved(shape, l - 1), below.data());
        dSums = std::move(below);
    }
    return result;
}

} // namespace lockstep::demos
