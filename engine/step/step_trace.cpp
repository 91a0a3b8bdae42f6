#include "engine/step/step_trace.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "engine/gpu/recorder.h"
#include "engine/net/plain_ops.h"

namespace lockstep {

Operation tracedOperation(std::uint64_t tag) {
    const std::uint64_t number = tag >> 32;
    if (number == 0 || number > std::size(operationTable))
        throw std::logic_error("a traced dispatch is of no operation");
    return static_cast<Operation>(number - 1);
}

std::vector<TracedOperation> operationsOf(std::span<const gpu::TracedDispatch> dispatches) {
    std::vector<TracedOperation> operations;
    for (const gpu::TracedDispatch& dispatch : dispatches) {
        if (!dispatch.cost.continues || operations.empty()) {
            TracedOperation& operation = operations.emplace_back();
            operation.operation = tracedOperation(dispatch.cost.tag);
            operation.source = dispatch.shader;
            operation.kernel = dispatch.variant;
            operation.layer = dispatch.cost.tag & 0xFFFFFFFFu;
            operation.beginMs = dispatch.beginMs;
            operation.barrierBefore = dispatch.barrierBefore;
            operation.itemsPerGroup = {dispatch.itemsPerGroup.x, dispatch.itemsPerGroup.y};
            operation.workgroups = dispatch.workgroups;
        }
        operations.back().endMs = dispatch.endMs;
        operations.back().flops += dispatch.cost.flops;
        operations.back().bytes += dispatch.cost.bytes;
    }
    return operations;
}

namespace {

TensorSize sizeIn(const TracedStep& step, const TensorId& id) {
    return sizeOf(id, step.job.shape, step.rows, step.job.data->targetWidth);
}

std::string shapesOf(const TracedStep& step, const std::vector<TensorId>& ids) {
    std::string text;
    for (const TensorId& id : ids) {
        const TensorSize size = sizeIn(step, id);
        if (!text.empty()) text += ", ";
        text += name(id) + " ";
        if (!rowOf(id.kind).vector) text += std::to_string(size.rows) + "x";
        text += std::to_string(size.columns);
    }
    return text;
}

// Where the tensors' shapes do not tell it; empty for other operations.
std::string specialShapesOf(const TracedStep& step, const TracedOperation& operation) {
    constexpr const char* stateNumbers[] = {"", " and 1 number of state each",
                                            " and 2 numbers of state each"};
    constexpr const char* stateLetters[] = {"", ", m", ", m, v"};
    const std::size_t states = step.job.settings.optimizer.stateArrays();
    const std::string examples = std::to_string(step.rows) + " examples of the data";
    const std::string parameters = "all " + std::to_string(step.job.shape.parameters()) + " parameters";
    switch (operation.operation) {
    case Operation::lossSum: return "sums of groups of rows -> loss";
    case Operation::lossScale: return "all db -> loss scale, and whether they are finite";
    case Operation::gatherBatch: return examples + " -> " + shapesOf(step, operation.writes);
    case Operation::wholeStep:
        return examples + ", " + parameters + " -> W, b; everything in between stays in shared memory";
    case Operation::roundParameters: return parameters + " at once -> W, b";
    case Operation::update:
        return parameters + " at once, their gradients" + stateNumbers[states] + " -> W, b" +
               stateLetters[states];
    default: return {};
    }
}

// What the plan says of a traced operation; one that only a backend knows (lossSum) has no operands.
void describe(const TracedStep& step, const StepPlan& plan, TracedOperation& operation) {
    for (const PlannedOperation& planned : plan.operations) {
        if (planned.operation != operation.operation || planned.layer != operation.layer) continue;
        Operands operands = operandsOf(step.job.shape, step.job.settings.optimizer, planned);
        operation.reads = std::move(operands.reads);
        operation.writes = std::move(operands.writes);
    }
    operation.shapes = specialShapesOf(step, operation);
    if (operation.shapes.empty())
        operation.shapes = shapesOf(step, operation.reads) + " -> " + shapesOf(step, operation.writes);
    if (rowOf(operation.operation).neverStored == NeverStored::gradients)
        operation.shapes += "; the update is fused in: dW and db are never stored";
}

// Copies the tensor without padding, unless it is there already.
void keepTensor(const TracedStep& step, const TensorId& id, StepTrace& trace) {
    if (!step.keep.tensors || trace.tensors.contains(id)) return;
    const auto [allRows, columns] = sizeIn(step, id);
    const bool words = id.kind == TensorKind::targets;
    const std::size_t stride = words ? columns : roundUpToFour(columns);
    const std::size_t rows = std::min(allRows, std::max<std::size_t>(1, step.keep.mostValues / columns));
    std::vector<float> padded = step.source(id, rows * stride);
    if (words && targetKind(*step.job.data, step.job.shape) != shared::targetValues)
        for (float& word : padded) word = static_cast<float>(std::bit_cast<std::uint32_t>(word));
    trace.tensors.emplace(id, TracedTensor{id, allRows, columns, withoutPadding(padded, columns, stride)});
}

} // namespace

// Parameters and states, as an update of all layers reads them.
void keepBefore(const TracedStep& step, StepTrace& trace) {
    const NetShape& net = step.job.shape;
    const PlannedOperation update{Operation::update, 0, net.layers()};
    for (const TensorId& id : operandsOf(net, step.job.settings.optimizer, update).reads)
        if (rowOf(id.kind).arena != TensorArena::gradients) keepTensor(step, id, trace);
}

void keepAfter(const TracedStep& step, const StepPlan& plan, StepTrace& trace) {
    for (TracedOperation& operation : trace.operations) {
        describe(step, plan, operation);
        for (const TensorId& id : operation.reads) keepTensor(step, id, trace);
        for (const TensorId& id : operation.writes) keepTensor(step, id, trace);
    }
}

} // namespace lockstep
