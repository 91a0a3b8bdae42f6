// The expected contents of a map of the plane, computed with plain loops: values and colours.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "engine/net/activation.h"
#include "engine/net/plain_ops.h"
#include "engine/plane/plane_map.h"

namespace lockstep::test {

inline std::vector<PlaneFeature> featuresFor(const NetShape& shape) {
    const auto all = allPlaneFeatures();
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(shape.inputs())};
}

/// What the plain twin makes of a grid of cells: [level][cell * stride + neuron].
inline std::vector<std::vector<float>> plainLevels(const PlaneMap& map, std::span<const float> parameters,
                                                   std::uint32_t cells) {
    const NetShape& shape = map.shape();
    const ParamLayout layout(shape);
    const std::size_t rows = std::size_t{cells} * cells;
    std::vector<std::vector<float>> levels(shape.widths.size());
    for (std::size_t level = 0; level < levels.size(); ++level)
        levels[level].resize(rows * roundUpToFour(shape.widths[level]));
    const float side = (map.options().to - map.options().from) / static_cast<float>(cells);
    for (std::size_t row = 0; row < rows; ++row) {
        const float x = map.options().from + (static_cast<float>(row % cells) + 0.5f) * side;
        const float y = map.options().to - (static_cast<float>(row / cells) + 0.5f) * side;
        std::ranges::copy(planeFeatures(x, y, featuresFor(shape)),
                          levels[0].begin() +
                              static_cast<std::ptrdiff_t>(row * roundUpToFour(shape.inputs())));
    }
    for (std::size_t l = 0; l < shape.layers(); ++l) {
        const LayerLayout& place = layout.layer(l);
        const DenseShape dense{rows, place.inputs, place.outputs, place.rowStride,
                               roundUpToFour(place.outputs)};
        plain::dense(dense, levels[l].data(), parameters.data() + place.weightOffset,
                     parameters.data() + place.biasOffset, shape.activationOf(l), levels[l + 1].data(),
                     static_cast<float*>(nullptr));
    }
    return levels;
}

struct Colour {
    float channel[4] = {};

    Colour() = default;
    explicit Colour(std::uint32_t word) {
        for (int c = 0; c < 4; ++c) channel[c] = static_cast<float>(word >> (8 * c) & 255u);
    }
    void add(const Colour& other, float weight) {
        for (int c = 0; c < 4; ++c) channel[c] += weight * other.channel[c];
    }
    /// Largest difference of a channel, of 255.
    float distance(std::uint32_t word) const {
        const Colour other(word);
        float largest = 0;
        for (int c = 0; c < 4; ++c) largest = std::max(largest, std::abs(channel[c] - other.channel[c]));
        return largest;
    }
};

inline Colour signedColour(float value, const PlaneColours& colours) {
    if (!std::isfinite(value)) return Colour(colours.background);
    const Colour side(value < 0 ? colours.negative : colours.positive);
    if (colours.discretise) return side;
    const float share = std::min(std::abs(value), 1.0f);
    Colour mixed;
    mixed.add(Colour(colours.zero), 1 - share);
    mixed.add(side, share);
    return mixed;
}

/// `values` are probabilities behind the cross-entropies.
inline Colour outputColour(std::span<const float> values, const NetShape& shape,
                           const PlaneColours& colours) {
    const bool fromZero =
        shape.loss == Loss::binaryCrossEntropy || shape.outputActivation == Activation::sigmoid;
    if (values.size() == 1) return signedColour(fromZero ? 2 * values[0] - 1 : values[0], colours);
    const auto best = std::ranges::max_element(values) - values.begin();
    if (colours.discretise) return Colour(colours.classes[best % 16]);
    Colour sum;
    float weights = 0;
    for (std::size_t k = 0; k < values.size(); ++k) weights += std::clamp(values[k], 0.0f, 1.0f);
    if (weights == 0) return Colour(colours.background);
    for (std::size_t k = 0; k < values.size(); ++k)
        sum.add(Colour(colours.classes[k % shared::colourClassCount]),
                std::clamp(values[k], 0.0f, 1.0f) / weights);
    return sum;
}

/// Softmax or sigmoid in double, as the loss asks for.
inline std::vector<float> probabilities(std::span<const float> outputs, Loss loss) {
    std::vector<float> result(outputs.begin(), outputs.end());
    double sum = 0;
    for (const float z : outputs) sum += std::exp(static_cast<double>(z));
    for (float& z : result) {
        if (loss == Loss::crossEntropy) z = static_cast<float>(std::exp(static_cast<double>(z)) / sum);
        if (loss == Loss::binaryCrossEntropy) z = activate(Activation::sigmoid, z);
    }
    return result;
}

} // namespace lockstep::test
