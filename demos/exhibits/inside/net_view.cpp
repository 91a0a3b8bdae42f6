#include "demos/exhibits/inside/inside.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "demos/exhibits/inside/operation_words.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t leastDots = 3; // of a column, where the layer has as many
constexpr std::size_t mostDots = 12;
constexpr float moreUnits = 12; // below a column: there is more
constexpr float there = 0.85f;  // phase of an arrival: it can be read before the next operation begins

/// What of the net an operation touches.
struct Lit {
    bool column(std::size_t level) const { return level >= columnBegin && level < columnEnd; }
    bool links(std::size_t layer) const { return layer >= linkBegin && layer < linkEnd; }

    std::size_t columnBegin = 0; // levels whose numbers are written
    std::size_t columnEnd = 0;
    std::size_t linkBegin = 0; // layers whose weights are used or written
    std::size_t linkEnd = 0;
    int direction = 0; // of the signal: 1 forwards, -1 backwards
    bool meet = false; // activations and gradients come together in the weights
};

Lit litBy(const TracedOperation& operation, std::size_t layers) {
    const std::size_t l = operation.layer;
    switch (operation.shownAs()) {
    case Operation::gatherBatch: return {0, 1, 0, 0, 0};
    case Operation::dense: return {l + 1, l + 2, l, l + 1, 1};
    case Operation::lossAndGradient: return {layers, layers + 1, 0, 0, 0};
    case Operation::denseBackwardInputs: return {l, l + 1, l, l + 1, -1};
    case Operation::denseBackwardWeights: return {0, 0, l, l + 1, -1, true};
    case Operation::update: return {0, 0, 0, layers, 0};
    case Operation::wholeStep: return {0, layers + 1, 0, layers, 0};
    default: throw std::logic_error("an operation that touches nothing");
    }
}

/// What the column shows, its first row: activations or gradients, as far as the step has come; null: nothing
/// yet.
/// arrived   what the operation computes counts, too
const TracedTensor* valuesAt(const StepTrace& trace, const TracedOperation& operation, std::size_t level,
                             bool arrived) {
    const std::size_t l = operation.layer;
    const Operation kind = operation.shownAs();
    if (kind == Operation::gatherBatch && (level > 0 || !arrived)) return nullptr;
    if (kind == Operation::dense && level > (arrived ? l + 1 : l)) return nullptr;
    const bool back = (kind == Operation::denseBackwardInputs && level >= (arrived ? l : l + 1)) ||
                      (kind == Operation::denseBackwardWeights && level > l);
    return trace.find(back ? TensorId{TensorKind::dSums, level - 1}
                           : TensorId{TensorKind::activations, level});
}

class Sketch {
  public:
    Sketch(Ui& ui, const NetShape& shape, const StepTrace& trace, ImVec2 min, ImVec2 max)
        : ui_(ui), shape_(shape), trace_(trace), draw_(*ImGui::GetWindowDrawList()), min_(min), max_(max) {
        spacing_ = (max.x - min.x) / static_cast<float>(shape.widths.size());
        const float room = bottom() - min.y - ui.px(moreUnits);
        most_ = std::clamp(static_cast<std::size_t>(std::max(room, 0.0f) / ui.px(24)), leastDots, mostDots);
        pitch_ = std::min(room / static_cast<float>(most_), ui.px(60));
        radius_ = std::clamp(std::min(spacing_ / 8, pitch_ * 0.36f), ui.px(2), ui.px(18));
        for (std::size_t level = 0; level < shape.widths.size(); ++level) neurons_.push_back(chosen(level));
    }

    /// lit   each in its weight's colour, as thick as the weight is large
    void links(std::size_t layer, bool lit) const {
        const TracedTensor* weights = lit ? trace_.find({TensorKind::weights, layer}) : nullptr;
        const float largest = weights == nullptr ? 0 : largestOf(weights->values);
        for (std::size_t a = 0; a < dots(layer); ++a)
            for (std::size_t b = 0; b < dots(layer + 1); ++b) {
                const std::size_t at =
                    neuron(layer + 1, b) * shape_.widths[layer] + neuron(layer, a); // [to][from]
                const bool known = largest > 0 && at < weights->values.size();
                const float weight = known ? weights->values[at] / largest : 0;
                const float size = std::isfinite(weight) ? std::sqrt(std::abs(weight)) : 1;
                const ImU32 colour =
                    known ? faded(signedColour(ui_.theme, weight < 0 ? -1.0f : 1.0f), 0.2f + 0.6f * size)
                    : lit ? ui_.theme.muted
                          : ui_.theme.border;
                draw_.AddLine(dot(layer, a), dot(layer + 1, b), colour,
                              ui_.line(lit ? 0.6f + 2 * size : 0.6f));
            }
    }

    /// `tensor`: its first row colours the neurons that are drawn, each column on a scale of its own.
    void column(std::size_t level, ImU32 colour, bool ring, const TracedTensor* tensor) const {
        const std::vector<float> values = shownValues(level, tensor);
        const float largest = largestOf(values);
        for (std::size_t i = 0; i < dots(level); ++i) {
            const ImVec2 at = dot(level, i);
            const bool known = !values.empty();
            draw_.AddCircleFilled(at, radius_, known ? valueColour(values[i], largest) : ui_.theme.panel, 24);
            draw_.AddCircle(at, radius_, ui_.theme.muted, 24, ui_.line());
            if (ring) draw_.AddCircle(at, radius_ + ui_.px(3), colour, 28, ui_.line(2));
            if (known) number(at, values[i]);
        }
        if (shape_.widths[level] > dots(level)) // there are more
            for (int i = 0; i < 3; ++i)
                draw_.AddCircleFilled({x(level), dot(level, dots(level) - 1).y + radius_ +
                                                     ui_.px(4 + 3 * static_cast<float>(i))},
                                      ui_.px(1.2f), ui_.theme.muted, 6);
    }

    /// Values on their way along the links, each in its colour, `share` of the way from the column `from`.
    void signal(std::size_t layer, std::size_t from, float share, const TracedTensor* tensor) const {
        const std::vector<float> values = shownValues(from, tensor);
        const float largest = largestOf(values);
        const float eased = share * share * (3 - 2 * share);
        for (std::size_t a = 0; a < dots(layer); ++a)
            for (std::size_t b = 0; b < dots(layer + 1); ++b) {
                const std::size_t sender = from == layer ? a : b;
                const ImVec2 begin = from == layer ? dot(layer, a) : dot(layer + 1, b);
                const ImVec2 end = from == layer ? dot(layer + 1, b) : dot(layer, a);
                const auto along = [&](float way) {
                    return ImVec2{begin.x + (end.x - begin.x) * way, begin.y + (end.y - begin.y) * way};
                };
                const ImU32 colour = values.empty()
                                         ? ui_.theme.text
                                         : mixed(valueColour(values[sender], largest), ui_.theme.text, 0.25f);
                draw_.AddLine(along(std::max(eased - 0.12f, 0.0f)), along(eased), colour, ui_.line(2.5f));
                draw_.AddCircleFilled(along(eased), std::max(radius_ * 0.3f, ui_.px(2)), colour, 12);
            }
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
        drawText(draw_, {x(level) - wide / 2, bottom() + ui_.px(2)}, colour, text);
    }

    /// Some layer has more neurons than are drawn.
    bool leftOut() const {
        return std::ranges::any_of(shape_.widths, [&](std::size_t width) { return width > most_; });
    }

  private:
    // Where there is room between two columns.
    void number(ImVec2 at, float value) const {
        const std::string text = fmt::format("{:.2g}", value + 0.0f); // no -0
        const ImVec2 size = ImGui::CalcTextSize(text.c_str());
        const float left = at.x + radius_ + ui_.px(5);
        if (left + size.x > std::min(at.x + spacing_ - radius_, max_.x)) return;
        const float top = at.y - size.y / 2;
        draw_.AddRectFilled({left - ui_.px(1), top}, {left + size.x + ui_.px(1), top + size.y},
                            faded(ui_.theme.panel, 0.8f), ui_.px(3));
        drawText(draw_, {left, top}, ui_.theme.text, text);
    }
    ImU32 valueColour(float value, float largest) const {
        if (!std::isfinite(value)) return ui_.theme.bad;
        const float share = largest > 0 ? std::sqrt(std::abs(value) / largest) : 0;
        return signedColour(ui_.theme, std::copysign(share, value));
    }
    /// The first row's values of the neurons that are drawn; empty where they are not known.
    std::vector<float> shownValues(std::size_t level, const TracedTensor* tensor) const {
        const std::size_t width = shape_.widths[level];
        std::vector<float> values;
        if (tensor == nullptr || tensor->columns != width || tensor->values.size() < width) return values;
        for (std::size_t i = 0; i < dots(level); ++i) values.push_back(tensor->values[neuron(level, i)]);
        return values;
    }
    std::size_t dots(std::size_t level) const { return std::min(shape_.widths[level], most_); }
    std::size_t neuron(std::size_t level, std::size_t dot) const { return neurons_[level][dot]; }
    /// The neurons that are shown. In a wide layer, those that are not 0, evenly from the largest to the
    /// smallest: most of a ReLU's neurons are 0, and so are their gradients.
    std::vector<std::size_t> chosen(std::size_t level) const {
        std::vector<std::size_t> neurons(shape_.widths[level]);
        std::iota(neurons.begin(), neurons.end(), std::size_t{0});
        if (neurons.size() <= most_) return neurons;
        const TracedTensor* tensor = trace_.find({TensorKind::activations, level});
        std::size_t among = neurons.size();
        if (tensor != nullptr && tensor->columns == among && tensor->values.size() >= among) {
            const auto magnitude = [&](std::size_t neuron) {
                const float value = std::abs(tensor->values[neuron]);
                return std::isfinite(value) ? value : std::numeric_limits<float>::infinity();
            };
            std::ranges::stable_sort(neurons, std::greater{}, magnitude);
            const auto zeros = static_cast<std::size_t>(std::ranges::count(neurons, 0.0f, magnitude));
            among = std::max(among - zeros, most_);
        }
        for (std::size_t i = 0; i < most_; ++i) neurons[i] = neurons[i * (among - 1) / (most_ - 1)];
        neurons.resize(most_);
        std::ranges::sort(neurons);
        return neurons;
    }
    float x(std::size_t level) const { return min_.x + spacing_ * (static_cast<float>(level) + 0.5f); }
    float bottom() const { return max_.y - ImGui::GetTextLineHeight() - ui_.px(4); }
    ImVec2 dot(std::size_t level, std::size_t index) const {
        const float middle = (min_.y + bottom() - ui_.px(moreUnits)) / 2;
        const float place = static_cast<float>(index) - (static_cast<float>(dots(level)) - 1) / 2;
        return {x(level), middle + pitch_ * place};
    }

    Ui& ui_;
    const NetShape& shape_;
    const StepTrace& trace_;
    ImDrawList& draw_;
    ImVec2 min_;
    ImVec2 max_;
    float spacing_ = 0; // of the columns
    float pitch_ = 0;   // of the dots in one
    float radius_ = 0;
    std::size_t most_ = leastDots;
    std::vector<std::vector<std::size_t>> neurons_; // that are drawn, by level
};

} // namespace

float largestOf(std::span<const float> values) {
    float largest = 0;
    for (const float value : values)
        if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    return largest;
}

bool drawNet(Ui& ui, const NetShape& shape, const StepTrace& trace, const TracedOperation& operation,
             float phase, ImVec2 size) {
    const ImVec2 min = ImGui::GetCursorScreenPos();
    ImGui::Dummy(size);
    const Lit lit = litBy(operation, shape.layers());
    const ImU32 colour = colourOf(ui.theme, operation.shownAs());
    const Sketch sketch(ui, shape, trace, min, {min.x + size.x, min.y + size.y});
    for (std::size_t layer = 0; layer < shape.layers(); ++layer)
        if (!lit.links(layer)) sketch.links(layer, false);
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        if (!lit.links(layer)) continue;
        sketch.links(layer, true);
        sketch.arrow(layer, lit.direction, colour);
        if (phase < 0 || lit.direction == 0) continue;
        const float way = std::min(phase / there, 1.0f) * (lit.meet ? 0.5f : 1.0f);
        if (lit.direction > 0 || lit.meet)
            sketch.signal(layer, layer, way, trace.find({TensorKind::activations, layer}));
        if (lit.direction < 0) sketch.signal(layer, layer + 1, way, trace.find({TensorKind::dSums, layer}));
    }
    for (std::size_t level = 0; level < shape.widths.size(); ++level) {
        const bool on = lit.column(level);
        const bool arrived = phase < 0 || phase >= there;
        sketch.column(level, colour, on, valuesAt(trace, operation, level, arrived));
        sketch.width(level, on ? ui.theme.text : ui.theme.muted);
    }
    return sketch.leftOut();
}

} // namespace lockstep::demos
