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
            operation.workgroups = dispatch.workgroups;
        }
        operations.back().endMs = dispatch.endMs;
        operations.back().flops += dispatch.cost.flops;
        operations.back().bytes += dispatch.cost.bytes;
    }
    return operations;
}

namespace {

struct TensorSize {
    std::size_t rows = 0;
    std::size_t columns = 0;
};

TensorSize sizeOf(const TracedStep& step, const TensorId& id) {
    const NetShape& net = step.job.shape;
    if (id.kind == TensorKind::activations) return {step.rows, net.widths[id.layer]};
    const Dataset& data = *step.job.data;
    if (id.kind == TensorKind::targets) return {step.rows, data.classes > 0 ? 1 : data.targetWidth};
    const std::size_t outputs = net.widths[id.layer + 1];
    const TensorRow& row = rowOf(id.kind);
    if (row.arena == TensorArena::batch) return {step.rows, outputs};
    return row.vector ? TensorSize{1, outputs} : TensorSize{outputs, net.widths[id.layer]};
}

// The tensor from which the derivative of the layer's activation is computed.
TensorId savedOf(const NetShape& net, std::size_t layer) {
    if (derivativeNeedsSum(net.activationOf(layer))) return {TensorKind::sums, layer};
    return {TensorKind::activations, layer + 1};
}

// Parameters and the optimizer's state.
void addTrained(const TracedStep& step, std::size_t layer, bool updated, std::vector<TensorId>& ids) {
    constexpr TensorKind trained[] = {TensorKind::weights,      TensorKind::bias,
                                      TensorKind::weightState1, TensorKind::biasState1,
                                      TensorKind::weightState2, TensorKind::biasState2};
    const std::size_t states = step.job.settings.optimizer.stateArrays();
    for (const TensorKind kind : std::span(trained).first(2 + 2 * states))
        ids.push_back({kind, layer, updated});
}

std::string shapesOf(const TracedStep& step, const std::vector<TensorId>& ids) {
    std::string text;
    for (const TensorId& id : ids) {
        const TensorSize size = sizeOf(step, id);
        if (!text.empty()) text += ", ";
        text += name(id) + " ";
        if (!rowOf(id.kind).vector) text += std::to_string(size.rows) + "x";
        text += std::to_string(size.columns);
    }
    return text;
}

// Of the operations whose tensors do not tell it; empty for the others.
std::string specialShapesOf(const TracedStep& step, const TracedOperation& operation) {
    constexpr const char* stateNumbers[] = {"", " and 1 number of state each",
                                            " and 2 numbers of state each"};
    constexpr const char* stateLetters[] = {"", ", m", ", m, v"};
    const std::size_t states = step.job.settings.optimizer.stateArrays();
    const std::string examples = std::to_string(step.rows) + " examples of the data";
    const std::string parameters = "all " + std::to_string(step.job.shape.parameters()) + " parameters";
    if (operation.source == "loss_sum") return "sums of groups of rows -> loss";
    if (operation.source == "loss_scale") return "all db -> loss scale, and whether they are finite";
    if (operation.name == "gather_batch") return examples + " -> " + shapesOf(step, operation.writes);
    if (operation.name == "whole_step")
        return examples + ", " + parameters + " -> W, b; everything in between stays in shared memory";
    if (operation.name != "update") return {};
    return parameters + " at once, their gradients" + stateNumbers[states] + " -> W, b" +
           stateLetters[states];
}

void describe(const TracedStep& step, TracedOperation& operation) {
    const NetShape& net = step.job.shape;
    const std::string& name = operation.name;
    const std::size_t layer = operation.layer;
    const std::size_t last = net.layers() - 1;
    std::vector<TensorId>& reads = operation.reads;
    std::vector<TensorId>& writes = operation.writes;
    if (operation.source == "loss_sum" || operation.source == "loss_scale") {
        // Parts of other operations, without tensors of their own.
    } else if (name == "gather_batch") {
        writes = {{TensorKind::activations, 0}, {TensorKind::targets, 0}};
    } else if (name == "dense") {
        reads = {{TensorKind::activations, layer}, {TensorKind::weights, layer}, {TensorKind::bias, layer}};
        writes = {{TensorKind::activations, layer + 1}};
        if (derivativeNeedsSum(net.activationOf(layer))) writes.push_back({TensorKind::sums, layer});
    } else if (name == "loss_and_gradient") {
        reads = {{TensorKind::activations, last + 1}, {TensorKind::targets, 0}};
        if (savedOf(net, last).kind == TensorKind::sums) reads.push_back(savedOf(net, last));
        writes = {{TensorKind::dSums, last}};
    } else if (name == "dense_backward_inputs") {
        reads = {{TensorKind::dSums, layer}, {TensorKind::weights, layer}, savedOf(net, layer - 1)};
        writes = {{TensorKind::dSums, layer - 1}};
    } else if (name == "dense_backward_weights") {
        reads = {{TensorKind::dSums, layer}, {TensorKind::activations, layer}};
        writes = {{TensorKind::dWeights, layer}, {TensorKind::dBias, layer}};
        if (step.foldsUpdate) {
            writes.clear();
            addTrained(step, layer, false, reads);
            addTrained(step, layer, true, writes);
        }
    } else if (name == "update" || name == "whole_step") {
        for (std::size_t each = 0; each < net.layers(); ++each) {
            if (name == "update")
                reads.insert(reads.end(), {{TensorKind::dWeights, each}, {TensorKind::dBias, each}});
            addTrained(step, each, false, reads);
            addTrained(step, each, true, writes);
        }
    }
    operation.shapes = specialShapesOf(step, operation);
    if (operation.shapes.empty()) operation.shapes = shapesOf(step, reads) + " -> " + shapesOf(step, writes);
    if (name == "dense_backward_weights" && step.foldsUpdate)
        operation.shapes += "; the update is fused in: dW and db are never stored";
}

// Copies the tensor without padding, unless it is there already.
void keepTensor(const TracedStep& step, const TensorId& id, StepTrace& trace) {
    if (!step.keep.tensors || trace.tensors.contains(id)) return;
    const auto [allRows, columns] = sizeOf(step, id);
    const bool words = id.kind == TensorKind::targets;
    const std::size_t stride = words ? columns : roundUpToFour(columns);
    const std::size_t rows = std::min(allRows, std::max<std::size_t>(1, step.keep.mostValues / columns));
    std::vector<float> padded = step.source(id, rows * stride);
    if (words && targetKind(*step.job.data, step.job.shape) != shared::targetValues)
        for (float& word : padded) word = static_cast<float>(std::bit_cast<std::uint32_t>(word));
    trace.tensors.emplace(id, TracedTensor{id, allRows, columns, withoutPadding(padded, columns, stride)});
}

} // namespace

void keepBefore(const TracedStep& step, StepTrace& trace) {
    std::vector<TensorId> ids;
    for (std::size_t layer = 0; layer < step.job.shape.layers(); ++layer) addTrained(step, layer, false, ids);
    for (const TensorId& id : ids) keepTensor(step, id, trace);
}

void keepAfter(const TracedStep& step, StepTrace& trace) {
    for (TracedOperation& operation : trace.operations) {
        describe(step, operation);
        for (const TensorId& id : operation.reads) keepTensor(step, id, trace);
        for (const TensorId& id : operation.writes) keepTensor(step, id, trace);
    }
}

} // namespace lockstep
