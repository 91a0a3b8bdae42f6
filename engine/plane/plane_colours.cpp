#include "engine/plane/plane_colours.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/net/activation.h"

namespace lockstep {

namespace {

/// Red, green, blue, alpha, in [0, 1].
using Channels = std::array<float, 4>;

Channels unpacked(std::uint32_t word) {
    Channels channels;
    for (std::uint32_t c = 0; c < 4; ++c)
        channels[c] = static_cast<float>(word >> (8 * c) & 255u) * (1.0f / 255.0f);
    return channels;
}

std::uint32_t packed(const Channels& channels) {
    std::uint32_t word = 0;
    for (std::uint32_t c = 0; c < 4; ++c) {
        const float shade = std::clamp(channels[c], 0.0f, 1.0f) * 255.0f + 0.5f; // rounds as the shader does
        word |= static_cast<std::uint32_t>(shade) << (8 * c);
    }
    return word;
}

void add(Channels& sum, std::uint32_t word, float weight) {
    const Channels channels = unpacked(word);
    for (std::size_t c = 0; c < channels.size(); ++c) sum[c] += weight * channels[c];
}

std::uint32_t singleColour(const NetShape& shape, float value, const PlaneColours& colours) {
    if (shape.loss == Loss::binaryCrossEntropy)
        value = 2 * activate(Activation::sigmoid, value) - 1;
    else if (shape.outputActivation == Activation::sigmoid)
        value = 2 * value - 1;
    const std::uint32_t side = value < 0 ? colours.negative : colours.positive;
    if (colours.discretise) return side;
    const float share = std::min(std::abs(value), 1.0f);
    Channels sum{};
    add(sum, colours.zero, 1 - share);
    add(sum, side, share);
    return packed(sum);
}

/// The weight of a class in the mixture, not normalised yet.
float weightOf(Loss loss, float value, float largest) {
    if (loss == Loss::crossEntropy) return std::exp(value - largest);
    if (loss == Loss::binaryCrossEntropy) return activate(Activation::sigmoid, value);
    return std::clamp(value, 0.0f, 1.0f);
}

std::uint32_t mixedColour(const NetShape& shape, std::span<const float> outputs,
                          const PlaneColours& colours) {
    const auto largest = std::ranges::max_element(outputs);
    const auto colourOf = [&](std::size_t number) {
        return colours.classes[number % shared::colourClassCount];
    };
    if (colours.discretise) return colourOf(static_cast<std::size_t>(largest - outputs.begin()));
    Channels sum{};
    float weights = 0;
    for (std::size_t j = 0; j < outputs.size(); ++j) {
        const float weight = weightOf(shape.loss, outputs[j], *largest);
        add(sum, colourOf(j), weight);
        weights += weight;
    }
    if (!(weights > 0)) return colours.background;
    for (float& channel : sum) channel /= weights;
    return packed(sum);
}

} // namespace

std::uint32_t answerColour(const NetShape& shape, std::span<const float> outputs,
                           const PlaneColours& colours) {
    if (!std::ranges::all_of(outputs, [](float value) { return std::isfinite(value); }))
        return colours.background;
    return outputs.size() == 1 ? singleColour(shape, outputs[0], colours)
                               : mixedColour(shape, outputs, colours);
}

} // namespace lockstep
