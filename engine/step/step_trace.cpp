#include "engine/step/step_trace.h"

#include <algorithm>
#include <bit>

#include "engine/gpu/recorder.h"
#include "engine/net/activation.h"
#include "engine/net/plain_ops.h"

namespace lockstep {

std::string name(const TensorId& id) {
    const std::string letters(rowOf(id.kind).letters);
    return id.kind == TensorKind::targets ? letters : letters + "[" + std::to_string(id.layer) + "]";
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

StepTracer::StepTracer(const TrainJob& job, std::size_t rows, bool foldsUpdate)
    : shape_(job.shape), states_(job.settings.optimizer.stateArrays()), rows_(rows),
      targetWidth_(job.data->classes > 0 ? 1 : job.data->targetWidth),
      targetsAreValues_(targetKind(*job.data, job.shape) == shared::targetValues), foldsUpdate_(foldsUpdate) {
}

StepTracer::Size StepTracer::sizeOf(const TensorId& id) const {
    if (id.kind == TensorKind::activations) return {rows_, shape_.widths[id.layer]};
    if (id.kind == TensorKind::targets) return {rows_, targetWidth_};
    const std::size_t outputs = shape_.widths[id.layer + 1];
    const TensorRow& row = rowOf(id.kind);
    if (row.arena == TensorArena::batch) return {rows_, outputs};
    return row.vector ? Size{1, outputs} : Size{outputs, shape_.widths[id.layer]};
}

/// The tensor from which the derivative of the layer's activation is computed.
TensorId StepTracer::savedOf(std::size_t layer) const {
    if (derivativeNeedsSum(shape_.activationOf(layer))) return {TensorKind::sums, layer};
    return {TensorKind::activations, layer + 1};
}

/// Parameters and the optimizer's state.
void StepTracer::addTrained(std::vector<TensorId>& ids, std::size_t layer, bool updated) const {
    for (const TensorKind kind : {TensorKind::weights, TensorKind::bias})
        ids.push_back({kind, layer, updated});
    if (states_ > 0)
        for (const TensorKind kind : {TensorKind::weightState1, TensorKind::biasState1})
            ids.push_back({kind, layer, updated});
    if (states_ > 1)
        for (const TensorKind kind : {TensorKind::weightState2, TensorKind::biasState2})
            ids.push_back({kind, layer, updated});
}

std::string StepTracer::shapesOf(const std::vector<TensorId>& ids) const {
    std::string text;
    for (const TensorId& id : ids) {
        const Size size = sizeOf(id);
        if (!text.empty()) text += ", ";
        text += name(id) + " ";
        if (!rowOf(id.kind).vector) text += std::to_string(size.rows) + "x";
        text += std::to_string(size.columns);
    }
    return text;
}

void StepTracer::describe(TracedOperation& operation) const {
    const std::string& name = operation.name;
    const std::size_t layer = operation.layer;
    const std::size_t last = shape_.layers() - 1;
    std::vector<TensorId>& reads = operation.reads;
    std::vector<TensorId>& writes = operation.writes;
    if (operation.source == "loss_sum" || operation.source == "loss_scale") {
        // Parts of other operations, without tensors of their own.
    } else if (name == "gather_batch") {
        writes = {{TensorKind::activations, 0}, {TensorKind::targets, 0}};
    } else if (name == "dense") {
        reads = {{TensorKind::activations, layer}, {TensorKind::weights, layer}, {TensorKind::bias, layer}};
        writes = {{TensorKind::activations, layer + 1}};
        if (derivativeNeedsSum(shape_.activationOf(layer))) writes.push_back({TensorKind::sums, layer});
    } else if (name == "loss_and_gradient") {
        reads = {{TensorKind::activations, last + 1}, {TensorKind::targets, 0}};
        if (savedOf(last).kind == TensorKind::sums) reads.push_back(savedOf(last));
        writes = {{TensorKind::dSums, last}};
    } else if (name == "dense_backward_inputs") {
        reads = {{TensorKind::dSums, layer}, {TensorKind::weights, layer}, savedOf(layer - 1)};
        writes = {{TensorKind::dSums, layer - 1}};
    } else if (name == "dense_backward_weights") {
        reads = {{TensorKind::dSums, layer}, {TensorKind::activations, layer}};
        writes = {{TensorKind::dWeights, layer}, {TensorKind::dBias, layer}};
        if (foldsUpdate_) {
            writes.clear();
            addTrained(reads, layer, false);
            addTrained(writes, layer, true);
        }
    } else if (name == "update" || name == "whole_step") {
        for (std::size_t each = 0; each < shape_.layers(); ++each) {
            if (name == "update")
                reads.insert(reads.end(), {{TensorKind::dWeights, each}, {TensorKind::dBias, each}});
            addTrained(reads, each, false);
            addTrained(writes, each, true);
        }
    }
    operation.shapes = specialShapesOf(operation);
    if (operation.shapes.empty()) operation.shapes = shapesOf(reads) + " -> " + shapesOf(writes);
    if (name == "dense_backward_weights" && foldsUpdate_)
        operation.shapes += "; the update is folded in, dW and db are never stored";
}

/// Of the operations whose tensors do not tell it; empty for the others.
std::string StepTracer::specialShapesOf(const TracedOperation& operation) const {
    const std::string examples = std::to_string(rows_) + " examples of the data";
    const std::string parameters = "all " + std::to_string(shape_.parameters()) + " parameters";
    if (operation.source == "loss_sum") return "sums of groups of rows -> loss";
    if (operation.source == "loss_scale") return "all db -> scale of the loss, and whether they are finite";
    if (operation.name == "gather_batch") return examples + " -> " + shapesOf(operation.writes);
    if (operation.name == "whole_step")
        return examples + ", " + parameters + " -> W, b; everything in between stays in shared memory";
    if (operation.name != "update") return {};
    const std::string states = states_ == 0   ? ""
                               : states_ == 1 ? " and 1 number of state each"
                                              : " and " + std::to_string(states_) + " numbers of state each";
    return parameters + " at once, their gradients" + states + " -> W, b" +
           (states_ == 0   ? ""
            : states_ == 1 ? ", m"
                           : ", m, v");
}

/// Copies the tensor without padding, unless it is there already.
void StepTracer::keep(const TensorId& id, const TraceOptions& options, const Source& source,
                      StepTrace& trace) const {
    if (!options.tensors || trace.tensors.contains(id)) return;
    const auto [allRows, columns] = sizeOf(id);
    const bool words = id.kind == TensorKind::targets;
    const std::size_t stride = words ? columns : roundUpToFour(columns);
    const std::size_t rows = std::min(allRows, std::max<std::size_t>(1, options.mostValues / columns));
    std::vector<float> padded = source(id, rows * stride);
    if (words && !targetsAreValues_)
        for (float& word : padded) word = static_cast<float>(std::bit_cast<std::uint32_t>(word));
    trace.tensors.emplace(id, TracedTensor{id, allRows, columns, withoutPadding(padded, columns, stride)});
}

void StepTracer::keepBefore(const TraceOptions& options, const Source& source, StepTrace& trace) const {
    std::vector<TensorId> ids;
    for (std::size_t layer = 0; layer < shape_.layers(); ++layer) addTrained(ids, layer, false);
    for (const TensorId& id : ids) keep(id, options, source, trace);
}

void StepTracer::keepAfter(const TraceOptions& options, const Source& source, StepTrace& trace) const {
    for (TracedOperation& operation : trace.operations) {
        describe(operation);
        for (const TensorId& id : operation.reads) keep(id, options, source, trace);
        for (const TensorId& id : operation.writes) keep(id, options, source, trace);
    }
}

} // namespace lockstep
