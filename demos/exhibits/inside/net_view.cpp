#include "demos/exhibits/inside/inside.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "demos/exhibits/inside/operation_words.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t mostDots = 6;

/// What of the net an operation touches.
struct Lit {
    bool column(std::size_t level) const { return level >= columnBegin && level < columnEnd; }
    bool links(std::size_t layer) const { return layer >= linkBegin && layer < linkEnd; }

    std::size_t columnBegin = 0; // levels whose numbers are written
    std::size_t columnEnd = 0;
    std::size_t linkBegin = 0; // layers whose weights are used or written
    std::size_t linkEnd = 0;
    int direction = 0; // of the signal: 1 forwards, -1 backwards
};

Lit litBy(const TracedOperation& operation, std::size_t layers) {
    const std::size_t l = operation.layer;
    switch (kindOf(operation)) {
    case OperationKind::gather: return {0, 1, 0, 0, 0};
    case OperationKind::forward: return {l + 1, l + 2, l, l + 1, 1};
    case OperationKind::loss: return {layers, layers + 1, 0, 0, 0};
    case OperationKind::backwardInputs: return {l, l + 1, l, l + 1, -1};
    case OperationKind::backwardWeights: return {0, 0, l, l + 1, -1};
    case OperationKind::update: return {0, 0, 0, layers, 0};
    case OperationKind::wholeStep: return {0, layers + 1, 0, layers, 0};
    }
    return {};
}

/// What the column shows, its first row: activations or gradients, as far as the step has come; null: nothing
/// yet.
/// arrived   what the operation computes counts, too
const TracedTensor* valuesAt(const StepTrace& trace, const TracedOperation& operation, std::size_t level,
                             bool arrived) {
    const std::size_t l = operation.layer;
    const OperationKind kind = kindOf(operation);
    if (kind == OperationKind::gather && (level > 0 || !arrived)) return nullptr;
    if (kind == OperationKind::forward && level > (arrived ? l + 1 : l)) return nullptr;
    const bool back = (kind == OperationKind::backwardInputs && level >= (arrived ? l : l + 1)) ||
                      (kind == OperationKind::backwardWeights && level > l);
    return trace.find(back ? TensorId{TensorKind::dSums, level - 1}
                           : TensorId{TensorKind::activations, level});
}

class Sketch {
  public:
    Sketch(Ui& ui, const NetShape& shape, ImVec2 min, ImVec2 max)
        : ui_(ui), shape_(shape), draw_(*ImGui::GetWindowDrawList()), min_(min), max_(max) {
        const float columns = static_cast<float>(shape.widths.size());
        spacing_ = (max.x - min.x) / columns;
        radius_ = std::clamp(spacing_ / 7, ui.px(2), ui.px(6));
    }

    void links(std::size_t layer, ImU32 colour, float thickness) const {
        for (std::size_t a = 0; a < dots(layer); ++a)
            for (std::size_t b = 0; b < dots(layer + 1); ++b)
                draw_.AddLine(dot(layer, a), dot(layer + 1, b), colour, thickness);
    }

    /// `tensor`: its first row colours the neurons that are drawn, each column on a scale of its own.
    void column(std::size_t level, ImU32 colour, bool ring, const TracedTensor* tensor) const {
        const std::size_t width = shape_.widths[level];
        const bool known = tensor != nullptr && tensor->columns == width && tensor->values.size() >= width;
        float largest = 0;
        for (std::size_t i = 0; known && i < width; ++i)
            if (std::isfinite(tensor->values[i])) largest = std::max(largest, std::abs(tensor->values[i]));
        for (std::size_t i = 0; i < dots(level); ++i) {
            const ImVec2 at = dot(level, i);
            const std::size_t neuron = width <= mostDots ? i : i * (width - 1) / (mostDots - 1);
            const float value = known ? tensor->values[neuron] : 0;
            const float share = largest > 0 ? std::sqrt(std::abs(value) / largest) : 0;
            const ImU32 filled =
                std::isfinite(value) ? signedColour(ui_.theme, std::copysign(share, value)) : ui_.theme.bad;
            draw_.AddCircleFilled(at, radius_, known ? filled : ui_.theme.panel, 12);
            draw_.AddCircle(at, radius_, ui_.theme.muted, 12, ui_.line());
            if (ring) draw_.AddCircle(at, radius_ + ui_.px(2.5f), colour, 16, ui_.line(1.5f));
            if (known) number(at, value);
        }
        if (shape_.widths[level] > mostDots) // there are more
            for (int i = 0; i < 3; ++i)
                draw_.AddCircleFilled({x(level), dot(level, dots(level) - 1).y + radius_ +
                                                     ui_.px(5 + 4 * static_cast<float>(i))},
                                      ui_.px(1.2f), ui_.theme.muted, 6);
    }

    /// The signal on its way: a bar between two columns.
    void signal(std::size_t layer, int direction, float phase, ImU32 colour) const {
        const float from = direction > 0 ? x(layer) : x(layer + 1);
        const float to = direction > 0 ? x(layer + 1) : x(layer);
        const float at = from + (to - from) * phase;
        draw_.AddLine({at, min_.y}, {at, bottom()}, colour, ui_.line(3));
    }

    /// Below the links: which way, or that weights change.
    void arrow(std::size_t layer, int direction, ImU32 colour) const {
        const float middle = (x(layer) + x(layer + 1)) / 2;
        const float y = bottom() + ImGui::GetTextLineHeight() / 2 + ui_.px(2);
        const float half = spacing_ * 0.2f;
        const float tip = middle + half * static_cast<float>(direction);
        const float back = tip - ui_.px(5) * static_cast<float>(direction);
        draw_.AddLine({middle - half, y}, {middle + half, y}, colour, ui_.line(2));
        if (direction == 0) return;
        draw_.AddTriangleFilled({tip, y}, {back, y - ui_.px(4)}, {back, y + ui_.px(4)}, colour);
    }

    void width(std::size_t level, ImU32 colour) const {
        const std::string text = fmt::format("{}", shape_.widths[level]);
        const float wide = ImGui::CalcTextSize(text.c_str()).x;
        if (wide > spacing_ - ui_.px(2)) return;
        draw_.AddText({x(level) - wide / 2, bottom() + ui_.px(2)}, colour, text.c_str());
    }

  private:
    // Where there is room between two columns.
    void number(ImVec2 at, float value) const {
        const std::string text = fmt::format("{:.2g}", value);
        const ImVec2 size = ImGui::CalcTextSize(text.c_str());
        const float left = at.x + radius_ + ui_.px(5);
        if (left + size.x + radius_ > at.x + spacing_) return;
        const float top = at.y - size.y / 2;
        draw_.AddRectFilled({left - ui_.px(1), top}, {left + size.x + ui_.px(1), top + size.y},
                            faded(ui_.theme.panel, 0.8f), ui_.px(3));
        draw_.AddText({left, top}, ui_.theme.text, text.c_str());
    }
    std::size_t dots(std::size_t level) const { return std::min(shape_.widths[level], mostDots); }
    float x(std::size_t level) const { return min_.x + spacing_ * (static_cast<float>(level) + 0.5f); }
    float bottom() const { return max_.y - ImGui::GetTextLineHeight() - ui_.px(4); }
    ImVec2 dot(std::size_t level, std::size_t index) const {
        const float room = bottom() - min_.y - ui_.px(20); // below the dots there may be more
        const float step = std::min(room / static_cast<float>(mostDots), ui_.px(26));
        const float count = static_cast<float>(dots(level));
        const float middle = min_.y + room / 2;
        return {x(level), middle + step * (static_cast<float>(index) - (count - 1) / 2)};
    }

    Ui& ui_;
    const NetShape& shape_;
    ImDrawList& draw_;
    ImVec2 min_;
    ImVec2 max_;
    float spacing_ = 0;
    float radius_ = 0;
};

} // namespace

void drawNet(Ui& ui, const NetShape& shape, const StepTrace& trace, const TracedOperation& operation,
             float phase, ImVec2 size) {
    const ImVec2 min = ImGui::GetCursorScreenPos();
    ImGui::Dummy(size);
    const Lit lit = litBy(operation, shape.layers());
    const ImU32 colour = colourOf(ui.theme, kindOf(operation));
    const Sketch sketch(ui, shape, min, {min.x + size.x, min.y + size.y});
    for (std::size_t layer = 0; layer < shape.layers(); ++layer)
        if (!lit.links(layer)) sketch.links(layer, ui.theme.border, ui.line(0.6f));
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        if (!lit.links(layer)) continue;
        sketch.links(layer, faded(colour, 0.75f), ui.line(1.2f));
        sketch.arrow(layer, lit.direction, colour);
        if (phase >= 0 && lit.direction != 0) sketch.signal(layer, lit.direction, phase, colour);
    }
    for (std::size_t level = 0; level < shape.widths.size(); ++level) {
        const bool on = lit.column(level);
        constexpr float there = 0.85f; // so that it can be read before the next operation begins
        const bool arrived = phase < 0 || phase >= there;
        sketch.column(level, colour, on, valuesAt(trace, operation, level, arrived));
        sketch.width(level, on ? ui.theme.text : ui.theme.muted);
    }
}

} // namespace lockstep::demos
