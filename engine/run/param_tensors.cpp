#include "engine/run/param_tensors.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "engine/files/file_bytes.h"

namespace lockstep {

namespace {

std::string weightName(std::string_view prefix, std::size_t layer) {
    return std::string(prefix) + std::to_string(2 * layer) + ".weight";
}

std::string biasName(std::string_view prefix, std::size_t layer) {
    return std::string(prefix) + std::to_string(2 * layer) + ".bias";
}

std::string describe(const std::vector<std::size_t>& shape) {
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
    return text + "]";
}

// The index of the first value that is NaN or infinite, or values.size().
std::size_t firstNonFinite(std::span<const float> values) {
    const auto found =
        std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
    return static_cast<std::size_t>(found - values.begin());
}

void addTensor(TensorFile& file, Tensor tensor) {
    if (const std::size_t at = firstNonFinite(tensor.values); at < tensor.values.size())
        throw std::invalid_argument("tensor " + quotedForMessage(tensor.name) +
                                    " has a value that is no number (" + std::to_string(tensor.values[at]) +
                                    ", at " + std::to_string(at) + "); a network in that state is not saved");
    file.tensors.push_back(std::move(tensor));
}

const Tensor& requireTensor(const TensorFile& file, const std::string& name,
                            const std::vector<std::size_t>& shape, std::string_view fileName) {
    const std::string place = std::string(fileName) + ": tensor " + quotedForMessage(name) + ": ";
    const Tensor* tensor = file.find(name);
    if (tensor == nullptr)
        throw std::runtime_error(place + "it is missing; this network needs it with the shape " +
                                 describe(shape));
    if (tensor->shape != shape)
        throw std::runtime_error(place + "its shape is " + describe(tensor->shape) + ", this network's is " +
                                 describe(shape) + "; the layers have to be those of the saved network");
    if (const std::size_t at = firstNonFinite(tensor->values); at < tensor->values.size())
        throw std::runtime_error(place + "its value " + std::to_string(at) + " is " +
                                 std::to_string(tensor->values[at]) +
                                 "; a network with that cannot be trained");
    return *tensor;
}

} // namespace

void addTensors(TensorFile& file, const ParamLayout& layout, std::span<const float> arena,
                std::string_view prefix) {
    if (arena.size() != layout.size())
        throw std::invalid_argument("an arena of " + std::to_string(arena.size()) +
                                    " floats for a network of " + std::to_string(layout.size()));
    for (std::size_t index = 0; index < layout.layers(); ++index) {
        const LayerLayout& layer = layout.layer(index);
        Tensor weight{weightName(prefix, index), {layer.outputs, layer.inputs}, {}};
        weight.values.reserve(layer.outputs * layer.inputs);
        for (std::size_t row = 0; row < layer.outputs; ++row) {
            const auto values = arena.subspan(layer.weightOffset + row * layer.rowStride, layer.inputs);
            weight.values.insert(weight.values.end(), values.begin(), values.end());
        }
        const auto bias = arena.subspan(layer.biasOffset, layer.outputs);
        addTensor(file, std::move(weight));
        addTensor(file, {biasName(prefix, index), {layer.outputs}, {bias.begin(), bias.end()}});
    }
}

std::vector<float> arenaFromTensors(const TensorFile& file, const ParamLayout& layout,
                                    std::string_view prefix, std::string_view fileName) {
    std::vector<const Tensor*> tensors;
    for (std::size_t index = 0; index < layout.layers(); ++index) {
        const LayerLayout& layer = layout.layer(index);
        tensors.push_back(
            &requireTensor(file, weightName(prefix, index), {layer.outputs, layer.inputs}, fileName));
        tensors.push_back(&requireTensor(file, biasName(prefix, index), {layer.outputs}, fileName));
    }
    std::vector<float> arena(layout.size(), 0.0f);
    for (std::size_t index = 0; index < layout.layers(); ++index) {
        const LayerLayout& layer = layout.layer(index);
        const std::span<const float> weight = tensors[2 * index]->values;
        const std::span<const float> bias = tensors[2 * index + 1]->values;
        for (std::size_t row = 0; row < layer.outputs; ++row)
            std::ranges::copy(weight.subspan(row * layer.inputs, layer.inputs),
                              arena.data() + layer.weightOffset + row * layer.rowStride);
        std::ranges::copy(bias, arena.data() + layer.biasOffset);
    }
    return arena;
}

void refuseOtherTensors(const TensorFile& file, const ParamLayout& layout,
                        std::span<const std::string> prefixes, std::string_view fileName) {
    std::set<std::string> known;
    for (const std::string& prefix : prefixes) {
        for (std::size_t index = 0; index < layout.layers(); ++index) {
            known.insert(weightName(prefix, index));
            known.insert(biasName(prefix, index));
        }
    }
    for (const Tensor& tensor : file.tensors)
        if (!known.contains(tensor.name))
            throw std::runtime_error(
                std::string(fileName) + ": tensor " + quotedForMessage(tensor.name) +
                ": this network has none of that name; the layers have to be those of the "
                "saved network");
}

} // namespace lockstep
