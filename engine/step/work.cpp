#include "engine/step/work.h"

namespace lockstep {

namespace {

constexpr double floatBytes = sizeof(float);
constexpr double bytesOfHalf = 2;

} // namespace

Work gatherWork(std::size_t rows, std::size_t inputs, bool pixels, bool half) {
    const auto values = static_cast<double>(rows * inputs);
    return {pixels ? values : 0, values * ((pixels ? 1 : floatBytes) + (half ? bytesOfHalf : floatBytes))};
}

DenseShape denseShapeOf(const NetShape& shape, std::size_t layer, std::size_t rows) {
    const std::size_t inputs = shape.widths[layer];
    const std::size_t outputs = shape.widths[layer + 1];
    return {rows, inputs, outputs, roundUpToFour(inputs), roundUpToFour(outputs)};
}

Work denseWork(const DenseShape& shape) {
    const auto rows = static_cast<double>(shape.rows);
    const auto inputs = static_cast<double>(shape.inputs);
    const auto outputs = static_cast<double>(shape.outputs);
    return {2 * rows * inputs * outputs, floatBytes * (rows * inputs + inputs * outputs + rows * outputs)};
}

Work halfDenseWork(const DenseShape& shape, bool weightGradient) {
    const Work floats = denseWork(shape);
    const auto weights = static_cast<double>(shape.inputs * shape.outputs);
    return {floats.flops, floats.bytes / 2 + (weightGradient ? bytesOfHalf * weights : 0)};
}

Work lossWork(std::size_t rows, std::size_t outputs, bool half) {
    const auto values = static_cast<double>(rows * outputs);
    return {5 * values, 2 * (half ? bytesOfHalf : floatBytes) * values};
}

Work updateWork(const NetShape& shape, const OptimizerSettings& optimizer, bool half) {
    const auto count = static_cast<double>(shape.parameters());
    const auto states = static_cast<double>(optimizer.stateArrays());
    return {infoOf(optimizer.kind).operations * count,
            floatBytes * count * (3 + 2 * states) + (half ? bytesOfHalf * count : 0)};
}

} // namespace lockstep
