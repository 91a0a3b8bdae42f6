#include "demos/kit/operations.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace lockstep::demos {

namespace {

constexpr OperationWords operationWords[] = {
    {Operation::gatherBatch, "batch", "plain_ops.cpp", "gatherBatch"},
    {Operation::dense, "forward", "plain_ops.cpp", "dense"},
    {Operation::lossAndGradient, "loss", "plain_loss.cpp", "lossAndGradient"},
    {Operation::denseBackwardInputs, "backward: inputs", "plain_ops.cpp", "denseBackwardInputs"},
    {Operation::denseBackwardWeights, "backward: weights", "plain_ops.cpp", "denseBackwardWeights"},
    {Operation::update, "update", "plain_update.cpp", "update"},
    {Operation::wholeStep, "whole step", "step.cpp", "trainStep"},
    {Operation::storeActivations, "to the host", "rewrite_offload.cpp", "offloadActivations"},
    {Operation::fetchActivations, "from the host", "rewrite_offload.cpp", "offloadActivations"},
};

} // namespace

const OperationWords& wordsOf(Operation operation) {
    const auto* found =
        std::ranges::find(operationWords, rowOf(operation).shownAs, &OperationWords::operation);
    if (found == std::end(operationWords)) throw std::logic_error("an operation without words");
    return *found;
}

// Not the machines' blue and orange. The two halves of the backward pass are shades of one colour.
ImU32 colourOf(const Theme& theme, Operation operation) {
    const ImU32 back = seriesColour(theme, 3);
    switch (rowOf(operation).shownAs) {
    case Operation::gatherBatch: return mixed(theme.muted, theme.warning, 0.75f);
    case Operation::dense: return seriesColour(theme, 2);
    case Operation::lossAndGradient: return seriesColour(theme, 5);
    case Operation::denseBackwardInputs: return back;
    case Operation::denseBackwardWeights: return mixed(back, theme.background, 0.3f);
    case Operation::update: return mixed(back, theme.gpu, 0.5f);
    case Operation::wholeStep: return seriesColour(theme, 2);
    case Operation::storeActivations: return mixed(theme.muted, theme.background, 0.3f);
    case Operation::fetchActivations: return theme.muted;
    default: throw std::logic_error("an operation without a colour");
    }
}

void fillOperation(const Ui& ui, ImDrawList& draw, ImVec2 min, ImVec2 max, Operation operation) {
    const Operation kind = rowOf(operation).shownAs;
    const float width = max.x - min.x;
    // ImGui divides by zero for corners of a fraction of a pixel.
    const float rounding = width >= ui.px(8) ? ui.px(3) : 0;
    draw.AddRectFilled(min, max, colourOf(ui.theme, operation), rounding);
    if (width < ui.px(9)) return;
    // Strokes lean one way for input gradients, the other way for weight gradients, and stand for the update.
    const ImU32 ink = faded(ui.theme.background, 0.5f);
    const float gap = ui.px(11);
    const float height = max.y - min.y;
    draw.PushClipRect(min, max, true);
    std::size_t strokes = 0;
    for (float x = min.x - height; x < max.x && strokes < 160; x += gap, ++strokes) {
        if (kind == Operation::denseBackwardInputs)
            draw.AddLine({x, min.y}, {x + height, max.y}, ink, ui.line(1.5f));
        else if (kind == Operation::denseBackwardWeights)
            draw.AddLine({x, max.y}, {x + height, min.y}, ink, ui.line(1.5f));
        else if (kind == Operation::update)
            draw.AddLine({x + height, min.y}, {x + height, max.y}, ink, ui.line(1.5f));
    }
    // A line through the middle for the loss, above it for what goes out, below it for what comes back.
    const auto across = [&](float y) { draw.AddLine({min.x, y}, {max.x, y}, ink, ui.line(2)); };
    if (kind == Operation::lossAndGradient) across((min.y + max.y) / 2);
    if (kind == Operation::storeActivations) across(min.y + height * 0.3f);
    if (kind == Operation::fetchActivations) across(min.y + height * 0.7f);
    draw.PopClipRect();
}

} // namespace lockstep::demos
