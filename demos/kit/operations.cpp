#include "demos/kit/operations.h"

#include <iterator>

namespace lockstep::demos {

namespace {

/// By OperationKind.
constexpr OperationRow operationTable[] = {
    {"gather_batch", "batch",
     "Copies this step's examples into the batch. Their order follows from the seed, so it is the same on "
     "all machines.",
     "plain_ops.cpp", "gatherBatch"},
    {"dense", "forward",
     "One layer's forward pass: each neuron forms the weighted sum of its inputs, adds its bias and applies "
     "the activation.",
     "plain_ops.cpp", "dense"},
    {"loss_and_gradient", "loss",
     "Computes how far the predictions are from the labels, and the gradient of the loss at each output.",
     "plain_loss.cpp", "lossAndGradient"},
    {"dense_backward_inputs", "backward: inputs",
     "Passes the gradient back through the weights to the layer below.", "plain_ops.cpp",
     "denseBackwardInputs"},
    {"dense_backward_weights", "backward: weights",
     "The gradient of the loss with respect to the layer's weights and biases, summed over the batch.",
     "plain_ops.cpp", "denseBackwardWeights"},
    {"update", "update", "The optimizer changes all weights and biases by one step.", "plain_update.cpp",
     "update"},
    {"whole_step", "whole step",
     "Batch, forward, loss, backward and update of the whole network in one kernel, for many steps at a "
     "time. Between them, nothing leaves shared memory.",
     "step.cpp", "trainStep"},
};

} // namespace

OperationKind kindOf(std::string_view operation) {
    for (std::size_t kind = 0; kind < std::size(operationTable); ++kind)
        if (operationTable[kind].name == operation) return static_cast<OperationKind>(kind);
    return OperationKind::loss;
}

const OperationRow& rowOf(OperationKind kind) { return operationTable[static_cast<std::size_t>(kind)]; }

// Not the machines' blue and orange. The two halves of the backward pass are shades of one colour.
ImU32 colourOf(const Theme& theme, OperationKind kind) {
    const ImU32 back = seriesColour(theme, 3);
    switch (kind) {
    case OperationKind::gather: return mixed(theme.muted, theme.warning, 0.75f);
    case OperationKind::forward: return seriesColour(theme, 2);
    case OperationKind::loss: return seriesColour(theme, 5);
    case OperationKind::backwardInputs: return back;
    case OperationKind::backwardWeights: return mixed(back, theme.background, 0.3f);
    case OperationKind::update: return mixed(back, theme.gpu, 0.5f);
    case OperationKind::wholeStep: return seriesColour(theme, 2);
    }
    return theme.text;
}

void fillOperation(const Ui& ui, ImDrawList& draw, ImVec2 min, ImVec2 max, OperationKind kind) {
    const float width = max.x - min.x;
    // ImGui divides by zero for corners of a fraction of a pixel.
    const float rounding = width >= ui.px(8) ? ui.px(3) : 0;
    draw.AddRectFilled(min, max, colourOf(ui.theme, kind), rounding);
    if (width < ui.px(9)) return;
    // Strokes lean one way for input gradients, the other way for weight gradients, and stand for the update.
    const ImU32 ink = faded(ui.theme.background, 0.5f);
    const float gap = ui.px(11);
    const float height = max.y - min.y;
    draw.PushClipRect(min, max, true);
    std::size_t strokes = 0;
    for (float x = min.x - height; x < max.x && strokes < 160; x += gap, ++strokes) {
        if (kind == OperationKind::backwardInputs)
            draw.AddLine({x, min.y}, {x + height, max.y}, ink, ui.line(1.5f));
        else if (kind == OperationKind::backwardWeights)
            draw.AddLine({x, max.y}, {x + height, min.y}, ink, ui.line(1.5f));
        else if (kind == OperationKind::update)
            draw.AddLine({x + height, min.y}, {x + height, max.y}, ink, ui.line(1.5f));
    }
    if (kind == OperationKind::loss)
        draw.AddLine({min.x, (min.y + max.y) / 2}, {max.x, (min.y + max.y) / 2}, ink, ui.line(2));
    draw.PopClipRect();
}

} // namespace lockstep::demos
