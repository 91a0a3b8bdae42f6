#include "engine/run/cpu_forward.h"

#include <algorithm>
#include <utility>

#include "engine/plan/work.h"
#include "engine/run/make_trainer.h"

namespace lockstep {

namespace {

constexpr std::size_t rowsInCache = 128; // of a thread: enough for efficient products

} // namespace

std::vector<float> CpuForward::outputs(std::span<const float> inputs) {
    const std::size_t rows = shape_.rowsIn(inputs);
    std::vector<float> result(rows * shape_.outputs());
    const std::size_t trained = (rows + 2) / 3; // a training step is three products, this is one
    const std::size_t threads = usefulThreads(shape_, trained, team_.size());
    const std::size_t floats =
        2 * std::min(rows, rowsInCache) * roundUpToFour(shape_.widest()); // threads at work must not throw
    for (std::size_t thread = 0; thread < threads; ++thread)
        if (scratch_[thread].size() < floats) scratch_[thread] = AlignedArray<float>(floats);
    const auto work = [&](std::size_t thread) {
        const Share own = shareOf(rows, thread, threads);
        for (std::size_t first = own.begin; first < own.end; first += rowsInCache)
            pass(thread, inputs.data() + first * shape_.inputs(), std::min(rowsInCache, own.end - first),
                 result.data() + first * shape_.outputs());
    };
    team_.run(work, threads);
    return result;
}

void CpuForward::pass(std::size_t thread, const float* inputs, std::size_t rows, float* outputs) {
    float* below = scratch_[thread].data();
    float* above = below + scratch_[thread].size() / 2;
    const auto copyRows = [rows](const float* from, std::size_t fromStride, float* to, std::size_t toStride) {
        const std::size_t width = std::min(fromStride, toStride);
        for (std::size_t row = 0; row < rows; ++row) {
            std::copy_n(from + row * fromStride, width, to + row * toStride);
            std::fill_n(to + row * toStride + width, toStride - width, 0.0F);
        }
    };
    copyRows(inputs, shape_.inputs(), below, roundUpToFour(shape_.inputs()));
    for (std::size_t layer = 0; layer < shape_.layers(); ++layer) {
        const LayerLayout& place = layout_.layer(layer);
        kernels_.dense(denseShapeOf(shape_, layer, rows), below, parameters_ + place.weightOffset,
                       parameters_ + place.biasOffset, shape_.activationOf(layer), above, nullptr);
        std::swap(below, above);
    }
    copyRows(below, roundUpToFour(shape_.outputs()), outputs, shape_.outputs());
}

} // namespace lockstep
