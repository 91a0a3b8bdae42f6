#include "engine/step/step_trace.h"

#include <algorithm>
#include <bit>

#include "engine/gpu/recorder.h"
#include "engine/net/activation.h"
#include "engine/net/plain_ops.h"
#include "engine/step/cpu_timing.h"

namespace lockstep {

namespace {

std::string letters(TensorKind kind) {
    switch (kind) {
    case TensorKind::activations: return "A";
    case TensorKind::targets: return "t";
    case TensorKind::sums: return "Z";
    case TensorKind::dSums: return "dZ";
    case TensorKind::weights: return "W";
    case TensorKind::bias: return "b";
    case TensorKind::dWeights: return "dW";
    case TensorKind::dBias: return "db";
    case TensorKind::weightState1: return "m of W";
    case TensorKind::biasState1: return "m of b";
    case TensorKind::weightState2: return "v of W";
    case TensorKind::biasState2: return "v of b";
    }
    return "?";
}

bool vector(TensorKind kind) {
    return kind == TensorKind::bias || kind == TensorKind::dBias || kind == TensorKind::biasState1 ||
           kind == TensorKind::biasState2;
}

void append(std::vector<TensorId>& to, const std::vector<TensorId>& more) {
    to.insert(to.end(), more.begin(), more.end());
}

} // namespace

std::string name(const TensorId& id) {
    if (id.kind == TensorKind::targets) return "t";
    return letters(id.kind) + "[" + std::to_string(id.layer) + "]";
}

const TracedTensor* StepTrace::find(const TensorId& id) const {
    const auto found = tensors.find(id);
    return found == tensors.end() ? nullptr : &found->second;
}

std::vector<TracedOperation> operationsOf(std::span<const gpu::TracedDispatch> dispatches) {
    std::vector<TracedOperation> operations;
    for (const gpu::TracedDispatch& dispatch : dispatches) {
        if (!dispatch.cost.continues || operations.empty()) {
            TracedOperation& operation = operations.emplace_back();
            operation.name = dispatch.name;
            operation.source = dispatch.shader;
            operation.kernel = dispatch.variant;
            operation.layer = dispatch.cost.tag;
            operation.beginMs = dispatch.beginMs;
            operation.barrierBefore = dispatch.barrierBefore;
        }
        operations.back().endMs = dispatch.endMs;
        operations.back().flops += dispatch.cost.flops;
        operations.back().bytes += dispatch.cost.bytes;
    }
    return operations;
}

std::vector<TracedOperation> operationsOf(std::span<const CpuLap> laps) {
    std::vector<TracedOperation> operations;
    for (const CpuLap& lap : laps) {
        TracedOperation& operation = operations.emplace_back();
        operation.name = name(lap.operation);
        operation.layer = lap.layer;
        operation.beginMs = lap.beginMs;
        operation.endMs = lap.endMs;
        operation.flops = lap.work.flops;
        operation.bytes = lap.work.bytes;
        operation.barrierBefore = lap.afterBarrier;
    }
    return operations;
}

StepTracer::StepTracer(const TrainJob& job, std::size_t rows, std::uint32_t targetKind, bool foldsUpdate)
    : shape_(job.shape), states_(job.settings.optimizer.stateArrays()), rows_(rows),
      targetWidth_(job.data->classes > 0 ? 1 : job.data->targetWidth),
      targetsAreValues_(targetKind == shared::targetValues), foldsUpdate_(foldsUpdate) {}

StepTracer::Size StepTracer::sizeOf(const TensorId& id) const {
    const std::size_t outputs = id.kind == TensorKind::activations || id.kind == TensorKind::targets
                                    ? 0
                                    : shape_.widths[id.layer + 1];
    switch (id.kind) {
    case TensorKind::activations: return {rows_, shape_.widths[id.layer]};
    case TensorKind::targets: return {rows_, targetWidth_};
    case TensorKind::sums:
    case TensorKind::dSums: return {rows_, outputs};
    case TensorKind::weights:
    case TensorKind::dWeights:
    case TensorKind::weightState1:
    case TensorKind::weightState2: return {outputs, shape_.widths[id.layer]};
    case TensorKind::bias:
    case TensorKind::dBias:
    case TensorKind::biasState1:
    case TensorKind::biasState2: return {1, outputs};
    }
    return {};
}

std::size_t StepTracer::strideOf(const TensorId& id) const {
    const std::size_t columns = sizeOf(id).columns;
    return id.kind == TensorKind::targets ? columns : roundUpToFour(columns);
}

/// The tensor from which the derivative of the layer's activation is computed.
TensorId StepTracer::savedOf(std::size_t layer) const {
    if (derivativeNeedsSum(shape_.activationOf(layer))) return {TensorKind::sums, layer};
    return {TensorKind::activations, layer + 1};
}

std::vector<TensorId> StepTracer::parametersOf(std::size_t layer, bool updated) const {
    return {{TensorKind::weights, layer, updated}, {TensorKind::bias, layer, updated}};
}

std::vector<TensorId> StepTracer::statesOf(std::size_t layer, bool updated) const {
    std::vector<TensorId> ids;
    if (states_ > 0)
        append(ids, {{TensorKind::weightState1, layer, updated}, {TensorKind::biasState1, layer, updated}});
    if (states_ > 1)
        append(ids, {{TensorKind::weightState2, layer, updated}, {TensorKind::biasState2, layer, updated}});
    return ids;
}

std::string StepTracer::shapesOf(const std::vector<TensorId>& ids) const {
    std::string text;
    for (const TensorId& id : ids) {
        const Size size = sizeOf(id);
        if (!text.empty()) text += ", ";
        text += name(id) + " ";
        if (!vector(id.kind)) text += std::to_string(size.rows) + "x";
        text += std::to_string(size.columns);
    }
    return text;
}

void StepTracer::describe(TracedOperation& operation) const {
    const std::size_t layer = operation.layer;
    const std::size_t last = shape_.layers() - 1;
    if (operation.source == "loss_sum") {
        operation.shapes = "sums of groups of rows -> loss";
        return;
    }
    if (operation.source == "loss_scale") {
        operation.shapes = "all db -> scale of the loss, and whether they are finite";
        return;
    }
    if (operation.name == "dense_backward_weights") return describeWeights(operation);
    if (operation.name == "update") return describeUpdate(operation);
    if (operation.name == "whole_step") return describeWholeStep(operation);
    if (operation.name == "gather_batch") {
        operation.writes = {{TensorKind::activations, 0}, {TensorKind::targets, 0}};
        operation.shapes = std::to_string(rows_) + " examples of the data -> " + shapesOf(operation.writes);
        return;
    }
    if (operation.name == "dense") {
        operation.reads = {{TensorKind::activations, layer}};
        append(operation.reads, parametersOf(layer, false));
        operation.writes = {{TensorKind::activations, layer + 1}};
        if (derivativeNeedsSum(shape_.activationOf(layer)))
            append(operation.writes, {{TensorKind::sums, layer}});
    } else if (operation.name == "loss_and_gradient") {
        operation.reads = {{TensorKind::activations, last + 1}, {TensorKind::targets, 0}};
        if (savedOf(last).kind == TensorKind::sums) append(operation.reads, {savedOf(last)});
        operation.writes = {{TensorKind::dSums, last}};
    } else if (operation.name == "dense_backward_inputs") {
        operation.reads = {{TensorKind::dSums, layer}, {TensorKind::weights, layer}, savedOf(layer - 1)};
        operation.writes = {{TensorKind::dSums, layer - 1}};
    }
    operation.shapes = shapesOf(operation.reads) + " -> " + shapesOf(operation.writes);
}

void StepTracer::describeWeights(TracedOperation& operation) const {
    const std::size_t layer = operation.layer;
    operation.reads = {{TensorKind::dSums, layer}, {TensorKind::activations, layer}};
    operation.writes = {{TensorKind::dWeights, layer}, {TensorKind::dBias, layer}};
    if (foldsUpdate_) {
        append(operation.reads, parametersOf(layer, false));
        append(operation.reads, statesOf(layer, false));
        operation.writes = parametersOf(layer, true);
        append(operation.writes, statesOf(layer, true));
    }
    operation.shapes = shapesOf(operation.reads) + " -> " + shapesOf(operation.writes);
    if (foldsUpdate_) operation.shapes += "; the update is folded in, dW and db are never stored";
}

void StepTracer::describeUpdate(TracedOperation& operation) const {
    for (std::size_t layer = 0; layer < shape_.layers(); ++layer) {
        append(operation.reads, {{TensorKind::dWeights, layer}, {TensorKind::dBias, layer}});
        append(operation.reads, parametersOf(layer, false));
        append(operation.reads, statesOf(layer, false));
        append(operation.writes, parametersOf(layer, true));
        append(operation.writes, statesOf(layer, true));
    }
    operation.shapes = "all " + std::to_string(shape_.parameters()) + " parameters at once, their gradients";
    if (states_ > 0)
        operation.shapes += " and " + std::to_string(states_) +
                            (states_ == 1 ? " number of state each" : " numbers of state each");
    operation.shapes += " -> W, b";
    if (states_ > 0) operation.shapes += states_ == 1 ? ", m" : ", m, v";
}

void StepTracer::describeWholeStep(TracedOperation& operation) const {
    for (std::size_t layer = 0; layer < shape_.layers(); ++layer) {
        append(operation.reads, parametersOf(layer, false));
        append(operation.reads, statesOf(layer, false));
        append(operation.writes, parametersOf(layer, true));
        append(operation.writes, statesOf(layer, true));
    }
    operation.shapes = std::to_string(rows_) + " examples of the data, all " +
                       std::to_string(shape_.parameters()) +
                       " parameters -> W, b; everything in between stays in shared memory";
}

TracedTensor StepTracer::copied(const TensorId& id, const TraceOptions& options, const Source& source) const {
    const Size size = sizeOf(id);
    const std::size_t stride = strideOf(id);
    const std::size_t rows = std::min(size.rows, std::max<std::size_t>(1, options.mostValues / size.columns));
    std::vector<float> padded = source(id, rows * stride);
    if (id.kind == TensorKind::targets && !targetsAreValues_)
        for (float& word : padded) word = static_cast<float>(std::bit_cast<std::uint32_t>(word));
    TracedTensor tensor{id, size.rows, size.columns, {}};
    tensor.values.reserve(rows * size.columns);
    for (std::size_t row = 0; row < rows; ++row) {
        const auto begin = padded.begin() + static_cast<std::ptrdiff_t>(row * stride);
        tensor.values.insert(tensor.values.end(), begin, begin + static_cast<std::ptrdiff_t>(size.columns));
    }
    return tensor;
}

void StepTracer::keepBefore(const TraceOptions& options, const Source& source, StepTrace& trace) const {
    if (!options.tensors) return;
    for (std::size_t layer = 0; layer < shape_.layers(); ++layer) {
        std::vector<TensorId> ids = parametersOf(layer, false);
        append(ids, statesOf(layer, false));
        for (const TensorId& id : ids) trace.tensors.emplace(id, copied(id, options, source));
    }
}

void StepTracer::keepAfter(const TraceOptions& options, const Source& source, StepTrace& trace) const {
    if (!options.tensors) return;
    for (const TracedOperation& operation : trace.operations)
        for (const std::vector<TensorId>* ids : {&operation.reads, &operation.writes})
            for (const TensorId& id : *ids)
                if (!trace.tensors.contains(id)) trace.tensors.emplace(id, copied(id, options, source));
}

} // namespace lockstep
