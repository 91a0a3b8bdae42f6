// Histograms of every layer's weights, and of their gradients where those are cheap enough to work out here.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "demos/exhibits/playground/playground_view.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t bins = 24;
constexpr std::size_t gradientRows = 64;
constexpr double mostGradientWork = 6e6; // multiplications

struct Histogram {
    float reach = 0; // from -reach to reach
    std::size_t counts[bins] = {};
    std::size_t most = 0;
    float mean = 0;
    float deviation = 0;
};

Histogram histogramOf(const LayerLayout& layer, std::span<const float> values) {
    Histogram histogram;
    double sum = 0;
    double squares = 0;
    const auto each = [&](auto visit) {
        for (std::size_t o = 0; o < layer.outputs; ++o)
            for (std::size_t i = 0; i < layer.inputs; ++i)
                visit(values[layer.weightOffset + o * layer.rowStride + i]);
    };
    each([&](float value) {
        histogram.reach = std::max(histogram.reach, std::abs(value));
        sum += static_cast<double>(value);
        squares += static_cast<double>(value) * static_cast<double>(value);
    });
    const auto count = static_cast<double>(layer.outputs * layer.inputs);
    histogram.mean = static_cast<float>(sum / count);
    histogram.deviation =
        static_cast<float>(std::sqrt(std::max(0.0, squares / count - sum / count * sum / count)));
    const float reach = std::max(histogram.reach, 1e-12f);
    each([&](float value) {
        const float share = std::clamp((value / reach + 1) / 2, 0.0f, 0.9999f);
        std::size_t& bin = histogram.counts[static_cast<std::size_t>(share * bins)];
        histogram.most = std::max(histogram.most, ++bin);
    });
    return histogram;
}

void drawHistogram(Ui& ui, const Histogram& histogram, ImVec2 low, ImVec2 high) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float width = (high.x - low.x) / bins;
    draw.AddLine({low.x, high.y}, high, ui.theme.border, ui.line());
    // So few that each can be a dot of its own.
    const float dot =
        std::min({ui.px(9), 2 * width,
                  (high.y - low.y) / static_cast<float>(std::max<std::size_t>(histogram.most, 1))});
    const bool dots = dot >= ui.px(4);
    for (std::size_t i = 0; i < bins; ++i) {
        if (histogram.counts[i] == 0) continue;
        const float share = static_cast<float>(histogram.counts[i]) / static_cast<float>(histogram.most);
        const float x = low.x + width * static_cast<float>(i);
        const float middle = (static_cast<float>(i) + 0.5f) / bins * 2 - 1;
        const ImU32 colour = mixed(ui.theme.muted, signedColour(ui.theme, middle < 0 ? -1.0f : 1.0f),
                                   0.3f + 0.7f * std::abs(middle));
        if (!dots)
            draw.AddRectFilled({x, high.y - std::max(ui.line(), share * (high.y - low.y))},
                               {x + width - ui.line(), high.y}, colour);
        for (std::size_t n = 0; dots && n < histogram.counts[i]; ++n)
            draw.AddCircleFilled({x + width / 2, high.y - dot * (static_cast<float>(n) + 0.5f)}, dot / 2,
                                 colour);
    }
    const float zero = (low.x + high.x) / 2;
    draw.AddLine({zero, low.y}, {zero, high.y}, faded(ui.theme.text, 0.4f), ui.line());
}

/// The ends of its axis, and between them which layer it is, as far as that fits.
void drawBelowHistogram(const Ui& ui, std::size_t layer, float reach, ImVec2 at, float width) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const std::string least = translatedFormat("{:.2g}", -reach);
    const std::string most = translatedFormat("{:.2g}", reach);
    const float ends = 2 * std::max(lettersWidth(least), lettersWidth(most)) + ui.px(12);
    if (ends <= width) {
        draw.AddText(at, ui.theme.muted, least.c_str());
        draw.AddText({at.x + width - lettersWidth(most), at.y}, ui.theme.muted, most.c_str());
    }
    const float room = ends <= width ? width - ends : width;
    for (const std::string& text : {translatedFormat("layer {}", layer + 1), fmt::format("{}", layer + 1)}) {
        if (lettersWidth(text) > room) continue;
        draw.AddText({at.x + (width - lettersWidth(text)) / 2, at.y}, ui.theme.text, text.c_str());
        return;
    }
}

/// A layer's histogram with its reach below, in a box of that size.
void drawEntry(const PlaygroundParts& parts, const char* what, std::string_view words, std::size_t layer,
               std::span<const float> values, ImVec2 size) {
    Ui& ui = parts.ui;
    const LayerLayout place = ParamLayout(parts.model.shape()).layer(layer);
    const Histogram histogram = histogramOf(place, values);
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const std::string control = fmt::format("{}/{}", what, layer + 1);
    ImGui::InvisibleButton(control.c_str(), size);
    ui.noteControl(control.c_str(), words);
    const float line = ImGui::GetTextLineHeight();
    const float inner = ui.px(5); // dots of the outer bins reach beyond these
    drawHistogram(ui, histogram, {low.x + inner, low.y},
                  {low.x + size.x - inner, low.y + size.y - line - ui.px(4)});
    drawBelowHistogram(ui, layer, histogram.reach, {low.x, low.y + size.y - line}, size.x);
    ui.explainItem(
        {.title = translatedFormat("{}, layer {} of {} ({} to {})", translated(what), layer + 1,
                                   parts.model.shape().layers(), place.inputs, place.outputs),
         .values = {{"largest", translatedFormat("{:.4g}", histogram.reach)},
                    {"mean", translatedFormat("{:.4g}", histogram.mean)},
                    {"std. dev.", translatedFormat("{:.4g}", histogram.deviation)},
                    {"weights", fmt::format("{}", place.inputs * place.outputs)}},
         .text = "Histogram of the weights, from the most negative to the most positive. Biases are not "
                 "included."});
}

void drawRow(const PlaygroundParts& parts, const char* what, std::string_view words,
             std::span<const float> values, ImVec2 room) {
    Ui& ui = parts.ui;
    const std::size_t layers = parts.model.shape().layers();
    ImGui::BeginGroup();
    ui.muted(fittedText(what, room.x));
    const float gap = ui.px(28);
    const float width =
        std::min(ui.px(150), (room.x - gap * static_cast<float>(layers - 1)) / static_cast<float>(layers));
    for (std::size_t layer = 0; layer < layers; ++layer) {
        if (layer > 0) ImGui::SameLine(0, gap);
        drawEntry(parts, what, words, layer, values, {width, room.y});
    }
    ImGui::EndGroup();
}

/// Rows of the next batch that its gradient can be worked out for within a frame; 0: none.
std::size_t affordableRows(const PlaygroundModel& model) {
    if (!model.trainable()) return 0;
    const double perRow = 3 * static_cast<double>(model.shape().parameters());
    return std::min(gradientRows, static_cast<std::size_t>(mostGradientWork / perRow));
}

/// From a neuron's bias through the weights of its inputs and round again: what the mouse picks by pointing.
void drawNeighbours(const PlaygroundParts& parts, ParameterPlace& place) {
    Ui& ui = parts.ui;
    const std::size_t inputs = parts.model.shape().widths[place.to.layer - 1];
    const std::size_t numbers = inputs + 1; // 0 is the bias
    std::size_t at = place.from ? *place.from + 1 : 0;
    if (ui.button("Previous##parameter",
                  "The parameter before this one: a weight or the bias of the neuron."))
        at = (at + numbers - 1) % numbers;
    ImGui::SameLine();
    if (ui.button("Next##parameter", "The parameter after this one: a weight or the bias of the neuron."))
        at = (at + 1) % numbers;
    ImGui::SameLine();
    place.from = at == 0 ? std::nullopt : std::optional(at - 1);
    ui.muted(place.from ? translatedFormat("input {} of {}", at, inputs) : std::string("bias"));
}

} // namespace

void drawWeights(const PlaygroundParts& parts) {
    Ui& ui = parts.ui;
    const PlaygroundModel& model = parts.model;
    const float line = ImGui::GetTextLineHeightWithSpacing();
    const ImVec2 all = ImGui::GetContentRegionAvail();
    const float gap = ui.px(24);
    // Side by side, or one above the other where the room is high.
    const bool beside = all.x > 1.5f * all.y;
    const float spacing = ImGui::GetStyle().ItemSpacing.y;
    const ImVec2 room = beside ? ImVec2{(all.x - gap) / 2, std::max(ui.px(40), all.y - line)}
                               : ImVec2{all.x, std::max(ui.px(40), (all.y - 2 * line - 2 * spacing) / 2)};
    drawRow(parts, "Weights", "Histogram of this layer's weights.", model.parameters(), room);
    if (beside) ImGui::SameLine(std::round(room.x + gap));
    if (const std::size_t rows = affordableRows(model); rows > 0) {
        drawRow(
            parts,
            rows < model.order().batch() ? "Gradients of the next batch's first examples"
                                         : "Gradients of the next batch",
            "Histogram of the gradient of this layer's weights.",
            gradient(model.shape(), model.parameters(), model.dataset(), model.order(), model.step(), rows),
            room);
        return;
    }
    if (model.earlier().size() != model.parameters().size()) {
        ui.muted("Changes appear after the first steps.");
        return;
    }
    std::vector<float> change(model.parameters());
    for (std::size_t i = 0; i < change.size(); ++i) change[i] -= model.earlier()[i];
    drawRow(parts, translatedFormat("Changes in the last {} steps", model.stepsSinceEarlier()).c_str(),
            saysItself, change, room);
}

void drawEditor(const PlaygroundParts& parts) {
    Ui& ui = parts.ui;
    PlaygroundView& view = parts.view;
    if (std::exchange(view.openEditor, false)) ImGui::OpenPopup("parameter");
    ImGui::SetNextWindowSize({ui.px(300), 0});
    if (!ImGui::BeginPopup("parameter")) {
        view.edited.reset();
        return;
    }
    const NetShape shape = parts.model.shape();
    auto& place = view.edited;
    // The network may have become another while this was open.
    const bool there = place && isNeuron(shape, place->to) &&
                       (!place->from || isNeuron(shape, {place->to.layer - 1, *place->from}));
    if (there) {
        ImGui::PushTextWrapPos(ui.px(280));
        ui.heading(parameterTitle(parts.model, *place));
        ImGui::PopTextWrapPos();
        const std::size_t index = parameterIndex(shape, *place);
        float value = parts.model.parameters()[index];
        ImGui::SetNextItemWidth(-1);
        bool changed =
            ui.slider("##parameter", "The value of this weight or bias. Training continues from it.", value,
                      -4, 4, "%.3f");
        if (ui.button("Zero##parameter", "Sets the parameter to 0.")) value = 0, changed = true;
        ImGui::SameLine();
        if (ui.button("Other sign##parameter", "Multiplies the parameter by -1."))
            value = -value, changed = true;
        if (changed && std::isfinite(value)) parts.model.setParameter(index, value);
        drawNeighbours(parts, *place);
        ui.detail(parameterDetail(parts, *place));
        view.shownParameter = place; // the link itself is lit
    }
    if (!there) ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
}

} // namespace lockstep::demos
