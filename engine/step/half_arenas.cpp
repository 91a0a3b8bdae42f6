#include "engine/step/half_arenas.h"

#include "engine/net/float_formats.h"

namespace lockstep {

namespace {

constexpr std::size_t halfBytes = bytesOf(NumberFormat::fp16);

} // namespace

HalfArenas::HalfArenas(gpu::Device& device, GpuArenas& arenas, std::span<const float> parameters)
    : arenas_(arenas), lossScale_(device, arenas.memory.specOf(RunBuffer::lossScale)) {
    std::vector<std::uint32_t> table;
    for (std::size_t layer = 0; layer < arenas.layout.layers(); ++layer) {
        const LayerLayout& place = arenas.layout.layer(layer);
        for (const std::size_t word :
             {place.weightOffset, place.biasOffset, place.outputs, offsetOf(layer) / halfBytes})
            table.push_back(static_cast<std::uint32_t>(word));
    }
    arenas.layerPlaces.uploadValues<std::uint32_t>(table);
    restore(parameters, {});
}

gpu::BufferView HalfArenas::weights(std::size_t layer) const {
    return copies().view(offsetOf(layer), arenas_.layout.layer(layer).weightCount() * halfBytes);
}

void HalfArenas::restore(std::span<const float> parameters, const LossScaling& scaling) {
    std::vector<std::uint16_t> halves(copies().size() / halfBytes);
    for (std::size_t layer = 0; layer < arenas_.layout.layers(); ++layer) {
        const LayerLayout& place = arenas_.layout.layer(layer);
        const std::size_t first = offsetOf(layer) / halfBytes;
        for (std::size_t at = 0; at < place.weightCount(); ++at)
            halves[first + at] = toFloat16(parameters[place.weightOffset + at]);
    }
    copies().uploadValues<std::uint16_t>(halves);
    const LossScale scale{scaling.scale, 1 / scaling.scale, 0, scaling.goodSteps, scaling.skippedSteps};
    lossScale_.uploadValues<LossScale>({&scale, 1});
}

std::vector<float> HalfArenas::tensor(const TensorId& id, std::size_t count) const {
    std::vector<float> values = arenas_.tensor(arenas_.memory.step, id, count);
    if (rowOf(id.kind).arena == TensorArena::gradients || id.kind == TensorKind::dSums) {
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
