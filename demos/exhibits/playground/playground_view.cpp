#include "demos/exhibits/playground/playground_view.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/files/json_field.h"

namespace lockstep::demos {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view answerWords[] = {"map", "surface", "layer"};
constexpr std::string_view lowerWords[] = {"losses", "weights"};
constexpr std::size_t pages = 5;

/// In the order of the JSON.
template <class View, class Field> void forEachField(View& view, Field field) {
    field("page", view.page);
    field("answer", view.answer, answerWords);
    field("lower", view.lower, lowerWords);
    field("decided", view.discretise);
    field("train_points", view.trainPoints);
    field("test_points", view.testPoints);
    field("yaw", view.yaw);
    field("pitch", view.pitch);
    field("zoom", view.zoom);
    field("layer", view.foldLayer);
    field("axes", view.foldAxes);
    field("keep_weights", view.keepWeights);
    field("settings_shown", view.settingsShown);
}

/// The same number as JSON's double, with as few digits as a float needs: half as many.
double withFewDigits(float value) {
    char text[32];
    const char* const end = std::to_chars(std::begin(text), std::end(text), value).ptr;
    double shorter = 0;
    std::from_chars(text, end, shorter);
    return static_cast<float>(shorter) == value ? shorter : value;
}

std::string number(float value) { return translatedFormat("{:.4g}", value); }

std::string inputName(const PlaygroundModel& model, std::size_t layer, std::size_t index) {
    if (layer == 0) return featureLabel(model.settings().features[index]);
    return fmt::format("a{}", index + 1);
}

std::string probeText(const PlaygroundParts& parts) {
    const ImVec2 at = parts.view.probe.value_or(ImVec2{});
    return translatedFormat("at ({:.1f}, {:.1f})", at.x, at.y);
}

} // namespace

std::vector<LayerValues> valuesAtProbe(const PlaygroundParts& parts) {
    const ImVec2 at = parts.view.probe.value_or(ImVec2{});
    return forward(parts.model.shape(), parts.model.parameters(),
                   planeFeatures(at.x, at.y, parts.model.settings().features), 1);
}

ImU32 pointColour(const Theme& theme, std::size_t classes, const LabelledPoint& point) {
    if (classes > 0) return classColour(theme, point.label);
    // A value of 0 must not vanish in the ground.
    const ImU32 zero = theme.dark ? theme.text : theme.muted;
    return mixed(zero, signedColour(theme, point.target < 0 ? -1.0f : 1.0f),
                 std::abs(point.target) * 1.5f + 0.1f);
}

std::string featureLabel(PlaneFeature feature) {
    constexpr const char* labels[] = {"x", "y", "x²", "y²", "x y", "sin x", "sin y"};
    return labels[static_cast<std::size_t>(feature)];
}

bool countSlider(Ui& ui, const char* control, std::string_view words, std::size_t& value, std::size_t from,
                 std::size_t to, const char* format) {
    const auto low = static_cast<float>(from);
    const auto high = static_cast<float>(to);
    auto shown = static_cast<float>(value);
    if (!ui.logSlider(control, words, shown, low, high, format)) return false;
    value = static_cast<std::size_t>(std::lround(std::clamp(shown, low, high)));
    return true;
}

std::string neuronTitle(const PlaygroundModel& model, NeuronPlace place) {
    if (place.layer == 0)
        return translatedFormat("Feature {}", featureLabel(model.settings().features[place.index]));
    const std::size_t outputs = model.shape().outputs();
    if (place.layer == model.settings().hidden.size() + 1)
        return outputs == 1 ? "Output" : translatedFormat("Output of class {}", place.index + 1);
    return translatedFormat("Neuron {} of layer {}", place.index + 1, place.layer);
}

std::string parameterTitle(const PlaygroundModel& model, const ParameterPlace& place) {
    const auto [layer, index] = place.to;
    const bool last = layer == model.settings().hidden.size() + 1;
    const std::string neuron = !last ? translatedFormat("neuron {} of layer {}", index + 1, layer)
                               : model.shape().outputs() == 1
                                   ? std::string(translated("output"))
                                   : translatedFormat("output of class {}", index + 1);
    if (!place.from) return translatedFormat("Bias of {}", neuron);
    return translatedFormat("Weight of {}, input {}", neuron, inputName(model, layer - 1, *place.from));
}

std::size_t parameterIndex(const NetShape& shape, const ParameterPlace& place) {
    const LayerLayout layout = ParamLayout(shape).layer(place.to.layer - 1);
    if (!place.from) return layout.biasOffset + place.to.index;
    return layout.weightOffset + place.to.index * layout.rowStride + *place.from;
}

Detail neuronDetail(const PlaygroundParts& parts, NeuronPlace place) {
    const PlaygroundModel& model = parts.model;
    const NetShape shape = model.shape();
    const float output = valuesAtProbe(parts)[place.layer].row(0)[place.index];
    Detail detail{.title = neuronTitle(model, place),
                  .values = {{probeText(parts), number(output)}},
                  .text = "An input of the network. Click to add or remove it."};
    if (place.layer == 0) return detail;
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
        detail.values.emplace_back(
            translatedFormat("w{} (for {})", i + 1, inputName(model, place.layer - 1, i)),
            number(model.parameters()[parameterIndex(shape, {place, i})]));
    if (shown < inputs) detail.values.emplace_back("more inputs", fmt::format("{}", inputs - shown));
    detail.text = "The map shows its output over the plane. Click to edit its bias.";
    return detail;
}

Detail parameterDetail(const PlaygroundParts& parts, const ParameterPlace& place) {
    const PlaygroundModel& model = parts.model;
    const std::size_t index = parameterIndex(model.shape(), place);
    const float value = model.parameters()[index];
    Detail detail{.title = parameterTitle(model, place),
                  .formula = place.from ? "z = … + w a + …" : "z = … + b",
                  .values = {{place.from ? "w" : "b", number(value)}}};
    if (model.earlier().size() == model.parameters().size())
        detail.values.emplace_back(translatedFormat("change in {} steps", model.stepsSinceEarlier()),
                                   number(value - model.earlier()[index]));
    if (place.from) {
        const float input = valuesAtProbe(parts)[place.to.layer - 1].row(0)[*place.from];
        detail.values.emplace_back("a " + probeText(parts), number(input));
        detail.values.emplace_back("w a", number(value * input));
    }
    detail.text = place.from ? "Orange and solid: positive. Blue and dashed: negative. Thicker means larger. "
                               "Click to edit it."
                             : "Added to the weighted sum of the inputs. Click to edit it.";
    return detail;
}

ordered_json toJson(const ViewSettings& view) {
    ordered_json json;
    forEachField(view, JsonWriter{json});
    return json;
}

ViewSettings viewFromJson(const ordered_json& given) {
    ViewSettings view;
    const ordered_json json = jsonCompleted(toJson(view), given, "view");
    forEachField(view, JsonReader{json});
    if (view.page >= pages)
        throw std::invalid_argument(fmt::format("the field 'page' must be below {}", pages));
    if (view.foldAxes.size() != 3) throw std::invalid_argument("the field 'axes' must have three numbers");
    return view;
}

ordered_json weightsToJson(const std::vector<float>& weights) {
    ordered_json json = ordered_json::array();
    for (const float weight : weights) json.push_back(withFewDigits(weight));
    return json;
}

std::vector<float> weightsFromJson(const ordered_json& json, const NetShape& shape) {
    const std::size_t count = ParamLayout(shape).size();
    if (!json.is_array() || json.size() != count)
        throw std::invalid_argument(fmt::format("the field 'weights' must have {} numbers", count));
    if (!jsonHolds<std::vector<float>>(json))
        throw std::invalid_argument("the field 'weights' must have numbers");
    return json.get<std::vector<float>>();
}

} // namespace lockstep::demos
