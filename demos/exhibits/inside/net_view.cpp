#include "demos/exhibits/inside/inside.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "demos/exhibits/inside/operation_words.h"
#include "engine/net/plain_ops.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t leastDots = 3; // of a column, where the layer has as many
constexpr std::size_t mostDots = 12;
constexpr std::size_t rowsAsked = 32; // of a batch, for which neurons are active in it
constexpr std::size_t mostMarks = 30; // that move at once: more of them overlap
constexpr float moreUnits = 12;       // below a column: there is more
constexpr float there = 0.85f;        // phase of an arrival: it can be read before the next operation begins

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
    case Operation::storeActivations:
    case Operation::fetchActivations: return {l, l + 1, 0, 0, 0};
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
    Sketch(Ui& ui, const NetMoment& moment, ImVec2 min, ImVec2 max)
        : ui_(ui), shape_(moment.shape), trace_(moment.trace), data_(moment.data), example_(moment.example),
          draw_(*ImGui::GetWindowDrawList()), min_(min), max_(max) {
        const NetShape& shape = shape_;
        const float room = bottom() - min.y - ui.px(moreUnits);
        most_ = std::clamp(static_cast<std::size_t>(std::max(room, 0.0f) / ui.px(20)), leastDots, mostDots);
        makeMargins(room);
        spacing_ = (max_.x - min_.x) / static_cast<float>(shape.widths.size());
        pitch_ = std::min(room / static_cast<float>(most_), ui.px(60));
        radius_ = std::clamp(std::min(spacing_ / 8, pitch_ * 0.36f), ui.px(2), ui.px(18));
        for (std::size_t level = 0; level < shape.widths.size(); ++level) neurons_.push_back(chosen(level));
    }

    /// lit   each in its weight's colour, as thick as the weight is large
    void links(std::size_t layer, bool lit) const {
        const TracedTensor* weights = lit ? find({TensorKind::weights, layer}) : nullptr;
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

    /// The example before the inputs, each of which is connected to its pixel.
    void image() const {
        if (imageSide_ <= 0) return;
        const TracedTensor* inputs = find({TensorKind::activations, 0});
        const std::size_t wide = data_->imageWidth, high = data_->imageHeight;
        const float cell = imageSide_ / static_cast<float>(std::max(wide, high));
        const ImVec2 low{imageLeft_,
                         (min_.y + bottom() - ui_.px(moreUnits) - cell * static_cast<float>(high)) / 2};
        const ImVec2 far{low.x + cell * static_cast<float>(wide), low.y + cell * static_cast<float>(high)};
        draw_.AddRectFilled(low, far, ui_.theme.background, ui_.px(2));
        for (std::size_t i = 0; inputs != nullptr && i < wide * high; ++i) {
            const float value = inputs->values[row(*inputs) * inputs->columns + i];
            if (!(value > 0.02f)) continue;
            const float x = low.x + cell * static_cast<float>(i % wide);
            const float y = low.y + cell * static_cast<float>(i / wide);
            draw_.AddRectFilled({x, y}, {x + cell, y + cell},
                                mixed(ui_.theme.background, ui_.theme.text, std::min(value, 1.0f)));
        }
        draw_.AddRect(low, far, ui_.theme.border, ui_.px(2), 0, ui_.line());
        for (std::size_t i = 0; i < dots(0); ++i) {
            const std::size_t pixel = neuron(0, i);
            if (pixel >= wide * high) continue;
            const ImVec2 from{low.x + cell * (static_cast<float>(pixel % wide) + 0.5f),
                              low.y + cell * (static_cast<float>(pixel / wide) + 0.5f)};
            const ImVec2 to{dot(0, i).x - radius_, dot(0, i).y};
            draw_.AddCircle(from, ui_.px(3), ui_.theme.text, 12, ui_.line());
            draw_.AddLine(from, to, faded(ui_.theme.text, 0.3f), ui_.line(0.8f));
        }
    }

    /// Behind each output its class, and how probable the network takes it to be, as a bar and as a number.
    /// `known`: it has computed.
    void classes(bool known) const {
        const std::size_t last = shape_.layers();
        if (namesWidth_ <= 0) {
            const bool regression = shape_.loss == Loss::meanSquared || shape_.loss == Loss::huber;
            if (data_ == nullptr || !regression) return;
            const std::string_view word = shape_.outputs() == 1 ? "prediction" : "predictions";
            return heading(word, x(last) - textWidth(word) / 2);
        }
        const TracedTensor* outputs = find({TensorKind::activations, last});
        const TracedTensor* targets = find({TensorKind::targets, 0});
        std::vector<double> shares;
        if (known && outputs != nullptr && outputs->keptRows() > 0)
            shares = plain::probabilities(shape_, outputs->values.data() + row(*outputs) * outputs->columns);
        std::optional<std::size_t> label;
        if (targets != nullptr && example_ < targets->values.size())
            label = static_cast<std::size_t>(std::max(targets->values[example_], 0.0f));
        const auto best = shares.empty() ? shares.end() : std::ranges::max_element(shares);
        const float left = dot(last, 0).x + radius_ + valueWidth() + ui_.px(10);
        const float right = max_.x + namesWidth_ - ui_.px(4);
        const float number = lettersWidth("100 %");
        float names = 0;
        for (std::size_t i = 0; i < dots(last); ++i)
            names = std::max(names, textWidth(data_->classNames[classOf(i)]));
        names = std::min(names + ui_.px(4), (right - left - number) * 0.7f); // strong letters are wider
        const float begin = left + names + ui_.px(8);
        const float bar = std::max(right - number - ui_.px(6) - begin, 0.0f);
        const float letters = ImGui::GetTextLineHeight();
        const std::string_view word = shape_.outputs() == 1 ? "probability" : "probabilities";
        heading(word, std::max(right - textWidth(word), left));
        for (std::size_t i = 0; i < dots(last); ++i) {
            const float y = dot(last, i).y;
            const std::size_t of = classOf(i);
            const bool labelled = label == of;
            const bool chosen = best != shares.end() && shares[of] == *best;
            const ImU32 colour = labelled ? ui_.theme.good : chosen ? ui_.theme.text : ui_.theme.muted;
            draw_.AddText(labelled ? ui_.fonts.strong : ImGui::GetFont(), ImGui::GetFontSize(),
                          {left, y - letters / 2}, legible(ui_.theme, colour),
                          fittedText(data_->classNames[of], names).c_str());
            if (of >= shares.size()) continue;
            const float end = begin + bar * static_cast<float>(shares[of]);
            draw_.AddRectFilled({begin, y - letters * 0.35f}, {begin + bar, y + letters * 0.35f},
                                faded(ui_.theme.muted, 0.12f), ui_.px(3));
            draw_.AddRectFilled({begin, y - letters * 0.35f}, {end, y + letters * 0.35f},
                                faded(labelled ? ui_.theme.good : ui_.theme.gpu, 0.7f),
                                end - begin >= ui_.px(6) ? ui_.px(3) : 0);
            const std::string share = translatedFormat("{:.0f} %", 100 * shares[of]);
            drawText(draw_, {right - lettersWidth(share), y - letters / 2},
                     labelled || chosen ? ui_.theme.text : ui_.theme.muted, share);
        }
    }

    /// `tensor`: the example's row colours the neurons that are drawn, each column on a scale of its own.
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

    /// Values on their way along the links, each in its colour, `share` of `reach` from the column `from`:
    /// those of the largest products, value times weight, the largest first. Where activations and gradients
    /// meet in a weight, `meet`, it is the product of these two.
    void signal(std::size_t layer, std::size_t from, float share, const TracedTensor* tensor,
                const TracedTensor* meet = nullptr) const {
        const std::size_t to = from == layer ? layer + 1 : layer;
        const std::vector<float> values = shownValues(from, tensor);
        const std::vector<float> others = shownValues(to, meet);
        const float largest = largestOf(values);
        const float reach = meet == nullptr ? 1.0f : 0.5f;
        const std::vector<Moving> moving = strongest(layer, from, values, others);
        for (std::size_t i = 0; i < moving.size(); ++i) {
            // One after another: side by side, they would cover the column that they arrive at.
            const float late = static_cast<float>(i) / static_cast<float>(moving.size());
            const float own = share * 1.5f - late * 0.5f;
            if (own <= 0 || own >= 1) continue;
            const float eased = own * own * (3 - 2 * own);
            const ImVec2 begin = dot(from, moving[i].sender);
            const ImVec2 end = dot(to, moving[i].receiver);
            const auto along = [&](float way) {
                return ImVec2{begin.x + (end.x - begin.x) * way * reach,
                              begin.y + (end.y - begin.y) * way * reach};
            };
            const ImU32 colour =
                values.empty() ? ui_.theme.text
                               : mixed(valueColour(values[moving[i].sender], largest), ui_.theme.text, 0.25f);
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
        if (trace_ == nullptr && (level == 0 || level == shape_.layers()))
            return; // of the data, not here yet
        const std::string all = fmt::format("{}", shape_.widths[level]);
        std::string text = translatedFormat("{} of {}", dots(level), all);
        // An arrow may stand beside it.
        if (dots(level) == shape_.widths[level] || lettersWidth(text) > spacing_ * 0.58f) text = all;
        const float wide = lettersWidth(text);
        if (wide > spacing_ - ui_.px(2)) return;
        drawText(draw_, {x(level) - wide / 2, bottom() + ui_.px(2)}, colour, text);
    }

    /// Some layer has more neurons than are drawn.
    bool leftOut() const {
        return std::ranges::any_of(shape_.widths, [&](std::size_t width) { return width > most_; });
    }

  private:
    struct Moving {
        std::size_t sender = 0; // dots
        std::size_t receiver = 0;
        float product = 0; // its magnitude
    };

    /// The links between the columns with the largest products of what is sent and, at the other end,
    /// `others` or, without those, the link's weight. Where nothing is known, some of all.
    std::vector<Moving> strongest(std::size_t layer, std::size_t from, const std::vector<float>& values,
                                  const std::vector<float>& others) const {
        const std::size_t to = from == layer ? layer + 1 : layer;
        const TracedTensor* weights = find({TensorKind::weights, layer});
        std::vector<Moving> links;
        for (std::size_t s = 0; s < dots(from); ++s)
            for (std::size_t r = 0; r < dots(to); ++r) {
                const std::size_t a = from == layer ? s : r, b = from == layer ? r : s;
                const std::size_t at = neuron(layer + 1, b) * shape_.widths[layer] + neuron(layer, a);
                const bool weighted = weights != nullptr && at < weights->values.size();
                const float factor = !others.empty() ? others[r] : weighted ? weights->values[at] : 1;
                const float product = values.empty() ? 1 : std::abs(values[s] * factor);
                if (product != 0) links.push_back({s, r, std::isfinite(product) ? product : 0});
            }
        if (!values.empty()) {
            std::ranges::stable_sort(links, std::greater{}, &Moving::product);
            links.resize(std::min(links.size(), mostMarks));
            return links;
        }
        const std::size_t every = links.size() / mostMarks + 1;
        for (std::size_t i = 0; i * every < links.size(); ++i) links[i] = links[i * every];
        links.resize((links.size() + every - 1) / every);
        return links;
    }
    /// Above the last column where there is room, else below it, where only its width stands.
    void heading(std::string_view word, float left) const {
        const float above = dot(shape_.layers(), 0).y - radius_ - ui_.px(5) - ImGui::GetTextLineHeight();
        drawText(draw_, {left, above >= min_.y ? above : bottom() + ui_.px(2)}, ui_.theme.muted, word);
    }
    /// A single output is the probability of the second of two classes.
    std::size_t classOf(std::size_t output) const { return shape_.outputs() == 1 ? 1 : output; }

    // Where there is room between two columns.
    void number(ImVec2 at, float value) const {
        const std::string text = translatedFormat("{:.2g}", value + 0.0f); // no -0
        const ImVec2 size = ImGui::CalcTextSize(text.c_str());
        const float left = at.x + radius_ + ui_.px(5);
        if (left + size.x > std::min(at.x + spacing_ - radius_, max_.x + namesWidth_)) return;
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
    const TracedTensor* find(const TensorId& id) const {
        return trace_ == nullptr ? nullptr : trace_->find(id);
    }
    /// The example's, in a tensor with a row per example: of large ones, only the first rows are kept.
    std::size_t row(const TracedTensor& tensor) const {
        return std::min(example_, std::max<std::size_t>(tensor.keptRows(), 1) - 1);
    }
    float valueWidth() const { return ui_.px(5) + ImGui::CalcTextSize("-0.0000").x; }
    /// Room for an image at the left and for names of classes at the right, in a sketch that is wide enough.
    void makeMargins(float room) {
        if (data_ == nullptr || max_.x - min_.x < ui_.px(560)) return;
        const float width = max_.x - min_.x;
        if (data_->imageWidth > 0 && data_->imageWidth * data_->imageHeight == shape_.inputs()) {
            imageSide_ = std::min({width * 0.22f, room * 0.8f, ui_.px(360)});
            imageLeft_ = min_.x + ui_.px(6);
            min_.x += imageSide_ + ui_.px(10);
        }
        const std::size_t classes = data_->classNames.size();
        const bool named = shape_.outputs() == 1
                               ? shape_.loss == Loss::binaryCrossEntropy && classes == 2
                               : shape_.loss == Loss::crossEntropy && classes == shape_.outputs();
        if (!named || shape_.outputs() > most_) return;
        namesWidth_ = std::min(width * 0.24f, ui_.px(280));
        max_.x -= namesWidth_;
    }
    /// The example's values of the neurons that are drawn; empty where they are not known.
    std::vector<float> shownValues(std::size_t level, const TracedTensor* tensor) const {
        const std::size_t width = shape_.widths[level];
        std::vector<float> values;
        if (tensor == nullptr || tensor->columns != width || tensor->values.size() < width) return values;
        const std::size_t first = row(*tensor) * width;
        for (std::size_t i = 0; i < dots(level); ++i)
            values.push_back(tensor->values[first + neuron(level, i)]);
        return values;
    }
    std::size_t dots(std::size_t level) const { return std::min(shape_.widths[level], most_); }
    std::size_t neuron(std::size_t level, std::size_t dot) const { return neurons_[level][dot]; }
    /// The neurons that are shown, the same for every example. In a wide layer, evenly from the more active
    /// half of those that are not 0 for all of the batch: most of a ReLU's neurons are 0 for an example, and
    /// so are their gradients.
    std::vector<std::size_t> chosen(std::size_t level) const {
        std::vector<std::size_t> neurons(shape_.widths[level]);
        std::iota(neurons.begin(), neurons.end(), std::size_t{0});
        if (neurons.size() <= most_) return neurons;
        const TracedTensor* tensor = find({TensorKind::activations, level});
        std::size_t among = neurons.size();
        if (tensor != nullptr && tensor->columns == among && tensor->values.size() >= among) {
            std::vector<float> sums(among, 0.0f);
            for (std::size_t at = 0; at < std::min(tensor->keptRows(), rowsAsked) * among; ++at) {
                const float value = std::abs(tensor->values[at]);
                sums[at % among] += std::isfinite(value) ? value : std::numeric_limits<float>::infinity();
            }
            const auto sum = [&](std::size_t neuron) { return sums[neuron]; };
            std::ranges::stable_sort(neurons, std::greater{}, sum);
            const auto zeros = static_cast<std::size_t>(std::ranges::count(sums, 0.0f));
            among = std::max((among - zeros) / 2, most_);
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
    const StepTrace* trace_;
    const Dataset* data_;
    std::size_t example_;
    ImDrawList& draw_;
    ImVec2 min_; // of the columns
    ImVec2 max_;
    float imageSide_ = 0; // of the example's image; 0: none
    float imageLeft_ = 0;
    float namesWidth_ = 0; // of the classes' names; 0: none
    float spacing_ = 0;    // of the columns
    float pitch_ = 0;      // of the dots in one
    float radius_ = 0;
    std::size_t most_ = leastDots;
    std::vector<std::vector<std::size_t>> neurons_; // that are drawn, by level
};

// An example on its way forwards.
void drawPassing(Ui& ui, const Sketch& sketch, const NetMoment& moment) {
    const std::size_t layers = moment.shape.layers();
    const float passed = std::min(moment.phase, static_cast<float>(layers));
    const auto within = static_cast<std::size_t>(passed);
    const float share = std::min((passed - static_cast<float>(within)) / there, 1.0f);
    const auto activations = [&](std::size_t level) {
        return moment.trace == nullptr ? nullptr : moment.trace->find({TensorKind::activations, level});
    };
    for (std::size_t layer = 0; layer < layers; ++layer)
        sketch.links(layer, static_cast<float>(layer) < passed);
    sketch.image();
    if (passed > 0 && within < layers) {
        sketch.arrow(within, 1, colourOf(ui.theme, Operation::dense));
        sketch.signal(within, within, share, activations(within));
    }
    for (std::size_t level = 0; level <= layers; ++level) {
        const bool arrived = level <= within || (level == within + 1 && share >= 1);
        const bool newest = level == within + (share >= 1 ? 1 : 0);
        sketch.column(level, colourOf(ui.theme, level == 0 ? Operation::gatherBatch : Operation::dense),
                      arrived && newest, arrived ? activations(level) : nullptr);
        sketch.width(level, newest ? ui.theme.text : ui.theme.muted);
    }
    sketch.classes(within >= layers);
}

void drawOperation(Ui& ui, const Sketch& sketch, const NetMoment& moment, const Lit& lit) {
    const NetShape& shape = moment.shape;
    const StepTrace& trace = *moment.trace;
    const float phase = moment.phase;
    const ImU32 colour = colourOf(ui.theme, moment.operation->shownAs());
    for (std::size_t layer = 0; layer < shape.layers(); ++layer)
        if (!lit.links(layer)) sketch.links(layer, false);
    sketch.image();
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        if (!lit.links(layer)) continue;
        sketch.links(layer, true);
        sketch.arrow(layer, lit.direction, colour);
        if (phase < 0 || lit.direction == 0) continue;
        const float way = std::min(phase / there, 1.0f);
        const TracedTensor* activations = trace.find({TensorKind::activations, layer});
        const TracedTensor* gradients = trace.find({TensorKind::dSums, layer});
        if (lit.direction > 0 || lit.meet)
            sketch.signal(layer, layer, way, activations, lit.meet ? gradients : nullptr);
        if (lit.direction < 0)
            sketch.signal(layer, layer + 1, way, gradients, lit.meet ? activations : nullptr);
    }
    const bool arrived = phase < 0 || phase >= there;
    for (std::size_t level = 0; level < shape.widths.size(); ++level) {
        const bool on = lit.column(level);
        sketch.column(level, colour, on, valuesAt(trace, *moment.operation, level, arrived));
        sketch.width(level, on ? ui.theme.text : ui.theme.muted);
    }
    sketch.classes(valuesAt(trace, *moment.operation, shape.layers(), arrived) != nullptr);
}

} // namespace

float largestOf(std::span<const float> values) {
    float largest = 0;
    for (const float value : values)
        if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    return largest;
}

NetShape outlineOf(const RunOptions& settings) {
    NetShape shape;
    shape.widths = settings.hiddenWidths.value_or(std::vector<std::size_t>{mostDots});
    shape.widths.insert(shape.widths.begin(), mostDots);
    shape.widths.push_back(mostDots);
    return shape;
}

bool drawNet(Ui& ui, const NetMoment& moment, ImVec2 size) {
    const ImVec2 min = ImGui::GetCursorScreenPos();
    ImGui::Dummy(size);
    const NetShape& shape = moment.shape;
    const Sketch sketch(ui, moment, min, {min.x + size.x, min.y + size.y});
    if (moment.operation == nullptr)
        drawPassing(ui, sketch, moment);
    else
        drawOperation(ui, sketch, moment, litBy(*moment.operation, shape.layers()));
    return sketch.leftOut();
}

} // namespace lockstep::demos
