// The batch: gathers examples from all over the data set and turns bytes into floats.
#pragma once

namespace lockstep {
namespace {

inline void pixelsToFloats(const std::uint8_t* pixels, std::size_t count, float* row) {
    constexpr float scale = static_cast<float>(1.0 / 255.0);
    std::size_t i = 0;
    for (; i + elements <= count; i += elements) store(row + i, loadBytes(pixels + i) * scale);
    for (; i < count; ++i) row[i] = static_cast<float>(pixels[i]) * scale;
}

// Examples of a shuffled batch lie anywhere, so the processor cannot predict the next address. It is told
// this many rows ahead, which hides a miss of all caches.
constexpr std::size_t prefetchDistance = 8;

/// Asks for the cache lines of an example before they are needed.
inline void prefetch(const void* data, std::size_t bytes) {
    for (std::size_t offset = 0; offset < bytes; offset += 64)
        __builtin_prefetch(static_cast<const char*>(data) + offset);
}

inline void prefetchExample(const Examples& examples, std::size_t inputs, std::size_t example) {
    if (examples.pixels.empty())
        prefetch(examples.values.data() + example * inputs, inputs * sizeof(float));
    else
        prefetch(examples.pixels.data() + example * inputs, inputs);
}

inline void gatherBatch(const Dataset& data, const Examples& examples, const BatchOrder& order,
                        const BatchRange& batch, std::size_t rowBegin, std::size_t rowEnd, std::size_t stride,
                        float* inputs, TargetWord* targets) {
    const shared::OrderKeys keys = orderKeys(order.seed(), batch.epoch); // once, not per row
    const auto count = static_cast<shared::uint>(order.count());
    const auto exampleOf = [&](std::size_t row) -> std::size_t {
        const std::size_t position = batch.first + row;
        return order.shuffles() ? shared::orderIndex(static_cast<shared::uint>(position), count, keys)
                                : position;
    };
    std::size_t ahead[prefetchDistance]; // a ring of the next rows' examples
    const auto look = [&](std::size_t row) {
        if (row >= rowEnd) return;
        const std::size_t example = exampleOf(row);
        ahead[row % prefetchDistance] = example;
        prefetchExample(examples, data.inputs, example);
    };
    for (std::size_t row = rowBegin; row < rowBegin + prefetchDistance; ++row) look(row);
    for (std::size_t row = rowBegin; row < rowEnd; ++row) {
        const std::size_t example = ahead[row % prefetchDistance];
        look(row + prefetchDistance);
        float* to = inputs + row * stride;
        if (examples.pixels.empty())
            __builtin_memcpy(to, examples.values.data() + example * data.inputs, data.inputs * sizeof(float));
        else
            pixelsToFloats(examples.pixels.data() + example * data.inputs, data.inputs, to);
        clearPadding(to, data.inputs, stride);
        if (examples.labels.empty())
            __builtin_memcpy(targets + row * data.targetWidth,
                             examples.targets.data() + example * data.targetWidth,
                             data.targetWidth * sizeof(float));
        else
            targets[row] = examples.labels[example];
    }
}

} // namespace
} // namespace lockstep
