#include "engine/train/cpu_work.h"

namespace lockstep {

namespace {

constexpr double floatBytes = sizeof(float);

double flopsPerParameter(Optimizer optimizer) {
    switch (optimizer) {
    case Optimizer::sgd: return 2;
    case Optimizer::momentum: return 4;
    case Optimizer::rmsprop: return 9;
    case Optimizer::adam: return 13;
    case Optimizer::adamw: return 14;
    }
    return 2;
}

} // namespace

Work gatherWork(const CpuArenas& arenas, std::size_t rows) {
    const auto values = static_cast<double>(rows * arenas.data.inputs);
    const double sourceBytes = arenas.data.bytes() ? 1 : floatBytes;
    return {arenas.data.bytes() ? values : 0, values * (sourceBytes + floatBytes)};
}

Work denseWork(const DenseShape& shape) {
    const auto rows = static_cast<double>(shape.rows);
    const auto inputs = static_cast<double>(shape.inputs);
    const auto outputs = static_cast<double>(shape.outputs);
    return {2 * rows * inputs * outputs, floatBytes * (rows * inputs + inputs * outputs + rows * outputs)};
}

Work lossWork(const LossShape& shape, std::size_t rows) {
    const auto values = static_cast<double>(rows * shape.outputs);
    return {5 * values, 2 * floatBytes * values};
}

Work updateWork(const CpuArenas& arenas) {
    const auto count = static_cast<double>(arenas.shape.parameters());
    const auto states = static_cast<double>(arenas.optimizer.stateArrays());
    return {flopsPerParameter(arenas.optimizer.kind) * count, floatBytes * count * (3 + 2 * states)};
}

} // namespace lockstep
