#include "engine/run/int8_inference.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "engine/cpu/cpu_info.h"
#include "engine/cpu/int8_products.h"
#include "engine/net/activation.h"
#include "engine/net/names.h"
#include "engine/net/param_layout.h"

namespace lockstep {

namespace {

constexpr float most = 127; // of a weight's size: without -128, the range is the same on both sides

void plainMultiply(std::size_t rows, std::size_t inputs, std::size_t outputs, const std::uint8_t* codes,
                   const std::int8_t* weights, std::int32_t* sums) {
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t o = 0; o < outputs; ++o) {
            std::int32_t sum = 0;
            for (std::size_t i = 0; i < inputs; ++i) sum += weights[o * inputs + i] * codes[row * inputs + i];
            sums[row * outputs + o] = sum;
        }
}

void plainEncode(std::size_t count, const float* values, float scale, float zero, std::uint8_t* codes) {
    for (std::size_t at = 0; at < count; ++at)
        codes[at] =
            static_cast<std::uint8_t>(std::clamp(std::nearbyint(values[at] / scale) + zero, 0.0f, 255.0f));
}

constexpr Int8Products plainProducts{.multiply = plainMultiply, .encode = plainEncode};

/// A tensor's numbers are (q - zero) * scale.
struct TensorRange {
    float scale = 1;
    std::int32_t zero = 0;

    /// 0 is one of the numbers, exactly: most of what a ReLU leaves is 0.
    TensorRange() = default;
    TensorRange(float least, float largest) {
        least = std::min(least, 0.0f);
        largest = std::max(largest, 0.0f);
        if (const float step = (largest - least) / 255; step >= std::numeric_limits<float>::min())
            scale = step;
        zero = static_cast<std::int32_t>(std::nearbyint(-least / scale));
    }
};

struct Int8Layer {
    std::size_t inputs = 0;
    TensorRange range;                 ///< of its inputs
    std::vector<std::int8_t> weights;  ///< [outputs][inputs]
    std::vector<float> scales;         ///< [outputs]
    std::vector<std::int32_t> offsets; ///< [outputs]: zero * the sum of its weights
    std::vector<float> bias;

    std::size_t outputs() const { return bias.size(); }
};

class Int8Inference final : public Inference {
  public:
    Int8Inference(const NetShape& shape, std::span<const float> calibration, Int8Kernels kernels)
        : shape_((shape.validate(), shape)), calibration_(calibration.begin(), calibration.end()),
          products_(kernels == Int8Kernels::native ? int8Products : plainProducts) {
        if (kernels == Int8Kernels::native && !hasInt8Instructions())
            throw std::runtime_error(concat("'", cpuName(),
                                            "' has no instructions for integers of 8 bits "
                                            "(AVX-512 VNNI)"));
        if (shape_.rowsIn(calibration) == 0)
            throw std::invalid_argument("integers of 8 bits need examples to find the range of each tensor");
        // Sums of more products might not fit into 32 bits.
        constexpr std::size_t widest = 65536;
        if (shape_.widest() > widest)
            throw std::invalid_argument(
                concat("a layer of ", shape_.widest(), " numbers is wider than ", widest));
        machine_ = {.device = cpuName(),
                    .threads = 1,
                    .kernels =
                        kernels == Int8Kernels::native ? "int8, native (AVX-512 VNNI)" : "int8, plain loops"};
    }

    const NetShape& shape() const override { return shape_; }
    const MachineInfo& machine() const override { return machine_; }
    void setParameters(std::span<const float> parameters) override;
    std::vector<float> outputs(std::span<const float> inputs) override;

  private:
    std::vector<float> pass(const Int8Layer& layer, Activation activation,
                            const std::vector<float>& inputs) const;

    const NetShape shape_;
    const std::vector<float> calibration_;
    const Int8Products& products_;
    MachineInfo machine_;
    std::vector<Int8Layer> layers_;
};

Int8Layer layerOf(const LayerLayout& place, std::span<const float> parameters) {
    Int8Layer layer;
    layer.inputs = place.inputs;
    for (std::size_t o = 0; o < place.outputs; ++o) {
        const auto row = parameters.subspan(place.weightOffset + o * place.rowStride, place.inputs);
        float largest = 0;
        for (const float weight : row) largest = std::max(largest, std::abs(weight));
        // Smaller weights than that become 0.
        const float scale = largest >= most * std::numeric_limits<float>::min() ? largest / most : 1;
        for (const float weight : row)
            layer.weights.push_back(static_cast<std::int8_t>(std::nearbyint(weight / scale)));
        layer.scales.push_back(scale);
        layer.bias.push_back(parameters[place.biasOffset + o]);
    }
    return layer;
}

// The network as floats, so that a tensor's range is not that of numbers which have been rounded already.
std::vector<float> exactly(const LayerLayout& place, std::span<const float> parameters, Activation activation,
                           const std::vector<float>& inputs) {
    std::vector<float> outputs;
    for (auto row = inputs.begin(); row != inputs.end(); row += static_cast<std::ptrdiff_t>(place.inputs))
        for (std::size_t o = 0; o < place.outputs; ++o) {
            const float* weights = parameters.data() + place.weightOffset + o * place.rowStride;
            float z = parameters[place.biasOffset + o];
            for (std::size_t i = 0; i < place.inputs; ++i)
                z += row[static_cast<std::ptrdiff_t>(i)] * weights[i];
            outputs.push_back(activate(activation, z));
        }
    return outputs;
}

void Int8Inference::setParameters(std::span<const float> parameters) {
    const ParamLayout layout(shape_);
    if (parameters.size() != layout.size())
        throw std::invalid_argument(
            concat("an arena of ", parameters.size(), " floats for a network of ", layout.size()));
    const auto finite = [](float value) { return std::isfinite(value); };
    if (!std::ranges::all_of(parameters, finite))
        throw std::invalid_argument("a weight is not finite; integers cannot say so");
    std::vector<Int8Layer> layers;
    std::vector<float> values = calibration_;
    for (std::size_t l = 0; l < shape_.layers(); ++l) {
        if (!std::ranges::all_of(values, finite))
            throw std::invalid_argument(
                concat("A[", l, "] of an example is not finite; integers cannot say so"));
        const auto [least, largest] = std::ranges::minmax(values);
        Int8Layer layer = layerOf(layout.layer(l), parameters);
        layer.range = TensorRange(least, largest);
        for (std::size_t o = 0; o < layer.outputs(); ++o) {
            std::int32_t sum = 0;
            for (std::size_t i = 0; i < layer.inputs; ++i) sum += layer.weights[o * layer.inputs + i];
            layer.offsets.push_back(layer.range.zero * sum);
        }
        values = exactly(layout.layer(l), parameters, shape_.activationOf(l), values);
        layers.push_back(std::move(layer));
    }
    layers_ = std::move(layers);
}

/// z = scale of the weights * scale of the inputs * sum_i w_i (q_i - zero) + bias.
std::vector<float> Int8Inference::pass(const Int8Layer& layer, Activation activation,
                                       const std::vector<float>& inputs) const {
    const std::size_t rows = inputs.size() / layer.inputs;
    std::vector<std::uint8_t> codes(inputs.size());
    products_.encode(inputs.size(), inputs.data(), layer.range.scale, static_cast<float>(layer.range.zero),
                     codes.data());
    std::vector<std::int32_t> sums(rows * layer.outputs());
    products_.multiply(rows, layer.inputs, layer.outputs(), codes.data(), layer.weights.data(), sums.data());
    std::vector<float> outputs(sums.size());
    for (std::size_t row = 0; row < rows; ++row) {
        const std::int32_t* sum = sums.data() + row * layer.outputs();
        float* z = outputs.data() + row * layer.outputs();
        for (std::size_t o = 0; o < layer.outputs(); ++o)
            z[o] = layer.scales[o] * layer.range.scale * static_cast<float>(sum[o] - layer.offsets[o]) +
                   layer.bias[o];
    }
    if (activation == Activation::relu) // without a call and a branch for each number
        for (float& z : outputs) z = z > 0 ? z : 0.0f;
    else
        for (float& z : outputs) z = activate(activation, z);
    return outputs;
}

std::vector<float> Int8Inference::outputs(std::span<const float> inputs) {
    static_cast<void>(shape_.rowsIn(inputs)); // throws for a part of a row
    std::vector<float> values(inputs.begin(), inputs.end());
    for (std::size_t l = 0; l < layers_.size(); ++l)
        values = pass(layers_[l], shape_.activationOf(l), values);
    return values;
}

} // namespace

Int8Kernels fastestInt8Kernels() { return hasInt8Instructions() ? Int8Kernels::native : Int8Kernels::plain; }

std::unique_ptr<Inference> makeInt8Inference(const NetShape& shape, std::span<const float> parameters,
                                             std::span<const float> calibration, Int8Kernels kernels) {
    auto made = std::make_unique<Int8Inference>(shape, calibration, kernels);
    made->setParameters(parameters);
    return made;
}

std::vector<float> calibrationOf(const Dataset& data) {
    const std::size_t rows = std::min<std::size_t>(500, data.train.count);
    std::vector<float> inputs;
    inputs.reserve(rows * data.inputs);
    for (std::size_t row = 0; row < rows; ++row) {
        const std::vector<float> one = inputsOf(data, Split::train, row * data.train.count / rows, 1);
        inputs.insert(inputs.end(), one.begin(), one.end());
    }
    return inputs;
}

Evaluation evaluateInt8(const TrainJob& job, std::span<const float> parameters, Split split) {
    const auto network = makeInt8Inference(job.shape, parameters, calibrationOf(*job.data));
    return evaluate(job, split, network->outputsOf(*job.data, split, 0, job.data->of(split).count));
}

} // namespace lockstep
