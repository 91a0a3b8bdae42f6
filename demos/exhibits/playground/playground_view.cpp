// Words and colours that several panels of the playground share.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "demos/exhibits/playground/playground_view.h"

namespace lockstep::demos {

namespace {

std::string number(float value) { return fmt::format("{:.4g}", value); }

std::string inputName(const PlaygroundModel& model, std::size_t layer, std::size_t index) {
    if (layer == 0) return featureLabel(model.settings().features[index]);
    return fmt::format("a{}", index + 1);
}

PlaygroundView::Probe probeOf(const PlaygroundParts& parts) {
    return parts.view.probe.value_or(PlaygroundView::Probe{});
}

std::vector<LayerValues> valuesAtProbe(const PlaygroundParts& parts) {
    const PlaygroundView::Probe at = probeOf(parts);
    return forward(parts.model.shape(), parts.model.parameters(),
                   planeFeatures(at.x, at.y, parts.model.settings().features), 1);
}

std::string probeText(const PlaygroundParts& parts) {
    const PlaygroundView::Probe at = probeOf(parts);
    return fmt::format("at ({:.1f}, {:.1f})", at.x, at.y);
}

} // namespace

ImU32 pointColour(const Theme& theme, const PlaygroundSettings& settings, const LabelledPoint& point) {
    if (settings.classes() > 0) return classColour(theme, point.label);
    // A value of 0 must not vanish in the ground.
    const ImU32 zero = theme.dark ? theme.text : theme.muted;
    return mixed(zero, signedColour(theme, point.target < 0 ? -1.0f : 1.0f),
                 std::abs(point.target) * 1.5f + 0.1f);
}

std::string featureLabel(PlaneFeature feature) {
    switch (feature) {
    case PlaneFeature::x: return "x";
    case PlaneFeature::y: return "y";
    case PlaneFeature::xx: return "x²";
    case PlaneFeature::yy: return "y²";
    case PlaneFeature::xy: return "x y";
    case PlaneFeature::sinX: return "sin x";
    case PlaneFeature::sinY: return "sin y";
    }
    return "?";
}

std::string neuronTitle(const PlaygroundModel& model, NeuronPlace place) {
    if (place.layer == 0) return "Feature " + featureLabel(model.settings().features[place.index]);
    const std::size_t outputs = model.shape().outputs();
    if (place.layer == model.settings().hidden.size() + 1)
        return outputs == 1 ? "Output" : fmt::format("Output of class {}", place.index + 1);
    return fmt::format("Neuron {} of layer {}", place.index + 1, place.layer);
}

std::string parameterTitle(const PlaygroundModel& model, const ParameterPlace& place) {
    std::string neuron = neuronTitle(model, place.to);
    neuron[0] = static_cast<char>(neuron[0] + ('a' - 'A')); // in the middle of the line
    if (!place.from) return "Bias of " + neuron;
    return fmt::format("Weight of {}, input {}", neuron, inputName(model, place.to.layer - 1, *place.from));
}

std::size_t parameterIndex(const NetShape& shape, const ParameterPlace& place) {
    const LayerLayout layout = ParamLayout(shape).layer(place.to.layer - 1);
    if (!place.from) return layout.biasOffset + place.to.index;
    return layout.weightOffset + place.to.index * layout.rowStride + *place.from;
}

Detail neuronDetail(const PlaygroundParts& parts, NeuronPlace place) {
    const PlaygroundModel& model = parts.model;
    const NetShape shape = model.shape();
    Detail detail;
    detail.title = neuronTitle(model, place);
    const std::vector<LayerValues> values = valuesAtProbe(parts);
    detail.values.emplace_back(probeText(parts), number(values[place.layer].at(0, place.index)));
    if (place.layer == 0) {
        detail.text = "An input of the network. Click to add or remove it.";
        return detail;
    }
    const std::size_t inputs = shape.widths[place.layer - 1];
    const std::size_t shown = std::min<std::size_t>(inputs, 8);
    std::string sum;
    const std::size_t written = inputs > 3 ? 2 : inputs; // with the bias in one line
    for (std::size_t i = 0; i < written; ++i)
        sum += fmt::format("{}w{} {}", i > 0 ? " + " : "", i + 1, inputName(model, place.layer - 1, i));
    detail.formula = fmt::format("z = {}{} +\u00A0b\na = {}", sum, inputs > written ? " + …" : "",
                                 formula(shape.activationOf(place.layer - 1)));
    detail.values.emplace_back("b", number(model.parameters()[parameterIndex(shape, {place, {}})]));
    for (std::size_t i = 0; i < shown; ++i)
        detail.values.emplace_back(fmt::format("w{} (for {})", i + 1, inputName(model, place.layer - 1, i)),
                                   number(model.parameters()[parameterIndex(shape, {place, i})]));
    if (shown < inputs) detail.values.emplace_back("more inputs", fmt::format("{}", inputs - shown));
    detail.text = "The map shows its output over the plane. Click to edit its bias.";
    return detail;
}

Detail parameterDetail(const PlaygroundParts& parts, const ParameterPlace& place) {
    const PlaygroundModel& model = parts.model;
    const std::size_t index = parameterIndex(model.shape(), place);
    const float value = model.parameters()[index];
    Detail detail;
    detail.title = parameterTitle(model, place);
    detail.formula = place.from ? "z = … + w a + …" : "z = … + b";
    detail.values.emplace_back(place.from ? "w" : "b", number(value));
    if (model.earlier().size() == model.parameters().size())
        detail.values.emplace_back(fmt::format("change in {} steps", model.stepsSinceEarlier()),
                                   number(value - model.earlier()[index]));
    if (place.from) {
        const float input = valuesAtProbe(parts)[place.to.layer - 1].at(0, *place.from);
        detail.values.emplace_back("a " + probeText(parts), number(input));
        detail.values.emplace_back("w a", number(value * input));
    }
    detail.text = place.from ? "Orange and solid: positive. Blue and dashed: negative. Thicker means larger. "
                               "Click to edit it."
                             : "Added to the weighted sum of the inputs. Click to edit it.";
    return detail;
}

} // namespace lockstep::demos
