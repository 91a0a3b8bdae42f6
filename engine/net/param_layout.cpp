#include "engine/net/param_layout.h"

#include <cmath>

#include "engine/net/random.h"

namespace lockstep {

namespace {

constexpr std::size_t tensorAlignment = 64;

std::size_t alignTensor(std::size_t offset) {
    return (offset + tensorAlignment - 1) / tensorAlignment * tensorAlignment;
}

/// Variance of the normal distribution that a layer's weights are drawn from.
double variance(InitScheme scheme, const LayerLayout& layer) {
    const auto inputs = static_cast<double>(layer.inputs);
    const auto outputs = static_cast<double>(layer.outputs);
    switch (scheme) {
    case InitScheme::he: return 2 / inputs;
    case InitScheme::xavier: return 2 / (inputs + outputs);
    case InitScheme::lecun: return 1 / inputs;
    case InitScheme::uniform:
    case InitScheme::zeros: return 0; // not normal
    }
    return 0;
}

/// 24 of the word's bits, so that the float nearest to the result is the result, and 0.5 is never reached.
float uniformHalf(std::uint32_t word) { return static_cast<float>(uniform01(word & 0xFFFFFF00u) - 0.5); }

} // namespace

ParamLayout::ParamLayout(const NetShape& shape) {
    for (std::size_t index = 0; index < shape.layers(); ++index) {
        LayerLayout layer;
        layer.inputs = shape.widths[index];
        layer.outputs = shape.widths[index + 1];
        layer.rowStride = roundUpToFour(layer.inputs);
        layer.weightOffset = size_;
        layer.biasOffset = alignTensor(layer.weightOffset + layer.weightCount());
        size_ = alignTensor(layer.biasOffset + layer.biasCount());
        layers_.push_back(layer);
    }
}

std::vector<float> initialWeights(const NetShape& shape, std::uint64_t seed) {
    const ParamLayout layout(shape);
    std::vector<float> arena(layout.size(), 0.0f);
    if (shape.init == InitScheme::zeros) return arena;
    for (std::size_t l = 0; l < layout.layers(); ++l) {
        const LayerLayout& layer = layout.layer(l);
        const double deviation = std::sqrt(variance(shape.init, layer));
        for (std::size_t o = 0; o < layer.outputs; ++o) {
            float* row = arena.data() + layer.weightOffset + o * layer.rowStride;
            for (std::size_t i = 0; i < layer.inputs; ++i) {
                const shared::Random4 words = randomWords(seed, RandomStream::weights, o * layer.inputs + i,
                                                          static_cast<std::uint32_t>(l));
                row[i] = shape.init == InitScheme::uniform
                             ? uniformHalf(words.x)
                             : static_cast<float>(deviation * normalFromWords(words.x, words.y));
            }
        }
    }
    return arena;
}

} // namespace lockstep
