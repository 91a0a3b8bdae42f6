#include "engine/plan/work.h"

namespace lockstep {

namespace {

constexpr double floatBytes = sizeof(float);
constexpr double bytesOfHalf = 2;

// Products of half precision read copies of the weights.
TensorKind readBy(const StepSizes& sizes, const TensorId& id, Operation operation) {
    const bool copy = sizes.half && id.kind == TensorKind::weights && operation != Operation::update;
    return copy ? TensorKind::weightCopies : id.kind;
}

double bytesOf(const StepSizes& sizes, const TensorId& id, Operation operation, std::size_t rows) {
    const auto values = static_cast<double>(sizeOf(id, sizes.net, rows, sizes.targetWidth).values());
    const std::size_t stored = bytesOf(formatOf(readBy(sizes, id, operation), sizes.half));
    const bool copied = sizes.half && id.kind == TensorKind::weights && id.updated;
    return values * static_cast<double>(stored + (copied ? bytesOf(NumberFormat::fp16) : 0));
}

bool gathers(const PlannedOperation& operation) {
    return operation.operation == Operation::gatherBatch ||
           (!operation.parts.empty() && operation.parts.front().operation == Operation::gatherBatch);
}

} // namespace

StepSizes sizesOf(const NetShape& net, const OptimizerSettings& optimizer, const Dataset& data, bool half) {
    return {net, optimizer, data.targetWidth, data.bytes(), half};
}

double dataBytes(const StepSizes& sizes, std::size_t rows) {
    const auto inputs = static_cast<double>(rows * sizes.net.inputs());
    const auto targets = static_cast<double>(rows * sizes.targetWidth);
    return inputs * (sizes.pixels ? 1 : floatBytes) + targets * floatBytes;
}

Work workOf(const StepSizes& sizes, const PlannedOperation& operation, std::size_t rows) {
    Work work{flopsOf(sizes.net, sizes.optimizer, operation, rows), 0};
    if (gathers(operation)) {
        work.bytes = dataBytes(sizes, rows);
        if (sizes.pixels) work.flops += static_cast<double>(rows * sizes.net.inputs());
    }
    const Operands operands = operandsOf(sizes.net, sizes.optimizer, operation);
    for (const auto* ids : {&operands.reads, &operands.writes})
        for (const TensorId& id : *ids) work.bytes += bytesOf(sizes, id, operation.operation, rows);
    return work;
}

void StepWork::count(const StepPlan& plan, std::size_t rows) {
    for (const PlannedOperation& each : plan.operations) of(each, rows);
}

Work StepWork::of(const PlannedOperation& operation, std::size_t rows) {
    for (const Known& each : known_)
        if (each.operation == operation.operation && each.layer == operation.layer && each.rows == rows &&
            each.layers == operation.layers && each.adds == operation.adds())
            return each.work;
    constexpr std::size_t most = 1024; // batches have two sizes; chunks of evaluations a few more
    if (known_.size() == most) known_.clear();
    known_.push_back({operation.operation, operation.layer, operation.layers, operation.adds(), rows,
                      workOf(sizes_, operation, rows)});
    return known_.back().work;
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

} // namespace lockstep
