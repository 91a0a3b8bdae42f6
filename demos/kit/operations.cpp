#include "demos/kit/operations.h"

namespace lockstep::demos {

OperationKind kindOf(std::string_view operation) {
    for (const OperationKind kind : operationKinds)
        if (operation == nameOf(kind)) return kind;
    if (operation == nameOf(OperationKind::wholeStep)) return OperationKind::wholeStep;
    return OperationKind::loss;
}

std::string_view nameOf(OperationKind kind) {
    switch (kind) {
    case OperationKind::gather: return "gather_batch";
    case OperationKind::forward: return "dense";
    case OperationKind::loss: return "loss_and_gradient";
    case OperationKind::backwardInputs: return "dense_backward_inputs";
    case OperationKind::backwardWeights: return "dense_backward_weights";
    case OperationKind::update: return "update";
    case OperationKind::wholeStep: return "whole_step";
    }
    return "";
}

const char* labelOf(OperationKind kind) {
    switch (kind) {
    case OperationKind::gather: return "batch";
    case OperationKind::forward: return "forward";
    case OperationKind::loss: return "loss";
    case OperationKind::backwardInputs: return "backward: inputs";
    case OperationKind::backwardWeights: return "backward: weights";
    case OperationKind::update: return "update";
    case OperationKind::wholeStep: return "whole step";
    }
    return "";
}

const char* purposeOf(OperationKind kind) {
    switch (kind) {
    case OperationKind::gather:
        return "Picks the examples of this step, in an order that all machines get from the seed.";
    case OperationKind::forward:
        return "One layer forwards: every neuron weighs its inputs, adds its bias and answers.";
    case OperationKind::loss: return "How wrong the answers are, and which way each output should move.";
    case OperationKind::backwardInputs:
        return "The blame is passed down, through the weights, to the layer below.";
    case OperationKind::backwardWeights:
        return "Which way every weight of the layer should move, summed over the batch.";
    case OperationKind::update: return "Every weight and bias takes one small step downhill.";
    case OperationKind::wholeStep:
        return "Batch, forward, loss, backward and update of the whole network in one kernel, which does "
               "many "
               "steps at a time: between its parts nothing leaves shared memory.";
    }
    return "";
}

// The machines' blue and orange are left out. The two halves of the way back are shades of one colour.
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
    // Corners of a fraction of a pixel make ImGui divide by zero.
    const float rounding = width >= ui.px(8) ? ui.px(3) : 0;
    draw.AddRectFilled(min, max, colourOf(ui.theme, kind), rounding);
    if (width < ui.px(9)) return;
    // Strokes one way for what flows backwards, the other way for weights, upright for the update.
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
