#include "engine/step/half_arenas.h"

#include <bit>

#include "engine/net/float_formats.h"

namespace lockstep {

namespace {

constexpr std::size_t halfBytes = 2;
constexpr std::size_t wordsPerPlace = 4; // of LayerPlace, shaders/step/layer_table.glsl

std::size_t alignWeights(std::size_t halves) { return (halves + 127) / 128 * 128; } // 256 bytes

// Where each layer's weights begin, in halves; the last one is where they all end.
std::vector<std::uint32_t> offsetsOf(const ParamLayout& layout) {
    std::vector<std::uint32_t> offsets{0};
    for (std::size_t layer = 0; layer < layout.layers(); ++layer)
        offsets.push_back(offsets.back() +
                          static_cast<std::uint32_t>(alignWeights(layout.layer(layer).weightCount())));
    return offsets;
}

std::vector<float> unpacked(const std::vector<float>& words) {
    std::vector<float> values;
    values.reserve(words.size() * 2);
    for (const float word : words) {
        const auto bits = std::bit_cast<std::uint32_t>(word);
        values.push_back(fromFloat16(static_cast<std::uint16_t>(bits & 0xFFFFu)));
        values.push_back(fromFloat16(static_cast<std::uint16_t>(bits >> 16)));
    }
    return values;
}

} // namespace

HalfArenas::HalfArenas(gpu::Device& device, const GpuArenas& arenas, std::span<const float> parameters)
    : arenas_(arenas), offsets_(offsetsOf(arenas.layout)),
      weights_(device, offsets_.back() * halfBytes, gpu::Memory::device, "weights as halves"),
      table_(device, arenas.layout.layers() * wordsPerPlace * sizeof(std::uint32_t), gpu::Memory::device,
             "places of layers"),
      lossScale_(device, sizeof(LossScale), gpu::Memory::device, "loss scale") {
    std::vector<std::uint32_t> table;
    for (std::size_t layer = 0; layer < arenas.layout.layers(); ++layer) {
        const LayerLayout& place = arenas.layout.layer(layer);
        for (const std::size_t word : {place.weightOffset, place.biasOffset, place.outputs})
            table.push_back(static_cast<std::uint32_t>(word));
        table.push_back(offsets_[layer]);
    }
    table_.uploadValues<std::uint32_t>(table);
    restore(parameters, {});
}

gpu::BufferView HalfArenas::weights(std::size_t layer) const {
    return weights_.view(offsets_[layer] * halfBytes, arenas_.layout.layer(layer).weightCount() * halfBytes);
}

void HalfArenas::restore(std::span<const float> parameters, const LossScaling& scaling) {
    std::vector<std::uint16_t> halves(offsets_.back());
    for (std::size_t layer = 0; layer < arenas_.layout.layers(); ++layer) {
        const LayerLayout& place = arenas_.layout.layer(layer);
        for (std::size_t at = 0; at < place.weightCount(); ++at)
            halves[offsets_[layer] + at] = toFloat16(parameters[place.weightOffset + at]);
    }
    weights_.uploadValues<std::uint16_t>(halves);
    const LossScale scale{scaling.scale, 1 / scaling.scale, 0, scaling.goodSteps, scaling.skippedSteps};
    lossScale_.uploadValues<LossScale>({&scale, 1});
}

std::vector<float> HalfArenas::tensor(const TensorId& id, std::size_t floats) const {
    const TensorArena arena = rowOf(id.kind).arena;
    const bool halves = arena == TensorArena::batch && id.kind != TensorKind::targets;
    std::vector<float> values =
        halves ? unpacked(arenas_.tensor(id, floats / 2)) : arenas_.tensor(id, floats);
    if (arena == TensorArena::gradients || id.kind == TensorKind::dSums) {
        const float unscale = scaleNow().unscale;
        for (float& value : values) value *= unscale;
    }
    return values;
}

LossScaling HalfArenas::scaling() const {
    const LossScale now = scaleNow();
    return {now.scale, now.goodSteps, now.skippedSteps};
}

} // namespace lockstep
