// The playground's state: its settings, and under "view" how it is looked at. With "weights", also what was
// learned.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/exhibits/playground/playground_exhibit.h"
#include "engine/files/json_field.h"
#include "engine/net/names.h"

namespace lockstep::demos {

namespace {

using nlohmann::ordered_json;

constexpr NameOf<AnswerView> answerNames[] = {
    {AnswerView::map, "map"}, {AnswerView::surface, "surface"}, {AnswerView::layer, "layer"}};
constexpr NameOf<LowerView> lowerNames[] = {{LowerView::losses, "losses"}, {LowerView::weights, "weights"}};
constexpr std::size_t pages = 5;

ordered_json toJson(const PlaygroundView& view) {
    return {{"page", view.page},
            {"answer", nameOf(answerNames, view.answer)},
            {"lower", nameOf(lowerNames, view.lower)},
            {"decided", view.discretise},
            {"train_points", view.trainPoints},
            {"test_points", view.testPoints},
            {"yaw", view.camera.yaw},
            {"pitch", view.camera.pitch},
            {"zoom", view.camera.zoom},
            {"layer", view.foldLayer},
            {"axes", view.foldAxes},
            {"keep_weights", view.keepWeights}};
}

// What a view's JSON says about those fields that are part of the state.
struct ViewState {
    std::size_t page = 0;
    AnswerView answer = AnswerView::map;
    LowerView lower = LowerView::losses;
    bool decided = false, trainPoints = true, testPoints = true, keepWeights = false;
    SurfaceCamera camera;
    std::size_t layer = 1;
    std::size_t axes[3] = {0, 1, 2};
};

ViewState viewFromJson(ordered_json json, const ordered_json& given) {
    if (!given.is_object()) throw std::invalid_argument("the field 'view' must be an object");
    for (const auto& [field, value] : given.items()) {
        if (!json.contains(field))
            throw std::invalid_argument(fmt::format("'view' has no field '{}'", field));
        json[field] = value;
    }
    ViewState view;
    view.page = jsonValue<std::size_t>(json, "page");
    if (view.page >= pages)
        throw std::invalid_argument(fmt::format("the field 'page' must be below {}", pages));
    view.answer = valueFromName(answerNames, "answer", jsonValue<std::string>(json, "answer"));
    view.lower = valueFromName(lowerNames, "lower", jsonValue<std::string>(json, "lower"));
    view.decided = jsonValue<bool>(json, "decided");
    view.trainPoints = jsonValue<bool>(json, "train_points");
    view.testPoints = jsonValue<bool>(json, "test_points");
    view.camera = {static_cast<float>(jsonValue<double>(json, "yaw")),
                   static_cast<float>(jsonValue<double>(json, "pitch")),
                   static_cast<float>(jsonValue<double>(json, "zoom"))};
    view.layer = jsonValue<std::size_t>(json, "layer");
    const auto axes = jsonValue<std::vector<std::size_t>>(json, "axes");
    if (axes.size() != std::size(view.axes))
        throw std::invalid_argument("the field 'axes' must have three numbers");
    std::ranges::copy(axes, view.axes);
    view.keepWeights = jsonValue<bool>(json, "keep_weights");
    return view;
}

void take(PlaygroundView& view, const ViewState& state) {
    view.page = state.page;
    view.answer = state.answer;
    view.lower = state.lower;
    view.discretise = state.decided;
    view.trainPoints = state.trainPoints;
    view.testPoints = state.testPoints;
    view.keepWeights = state.keepWeights;
    view.camera = state.camera;
    view.foldLayer = state.layer;
    std::ranges::copy(state.axes, view.foldAxes);
    view.drawing = false;
    view.edited.reset();
}

/// The same number as JSON's double, with as few digits as a float needs: half as many.
double withFewDigits(float value) {
    char text[32];
    const char* const end = std::to_chars(std::begin(text), std::end(text), value).ptr;
    double shorter = 0;
    std::from_chars(text, end, shorter);
    return static_cast<float>(shorter) == value ? shorter : value;
}

std::vector<float> weightsFromJson(const ordered_json& json, const NetShape& shape) {
    const std::size_t count = ParamLayout(shape).size();
    if (!json.is_array() || json.size() != count)
        throw std::invalid_argument(fmt::format("the field 'weights' must have {} numbers", count));
    std::vector<float> weights;
    for (const ordered_json& number : json) {
        if (!number.is_number()) throw std::invalid_argument("the field 'weights' must have numbers");
        weights.push_back(number.get<float>());
    }
    return weights;
}

} // namespace

ordered_json PlaygroundExhibit::state() const {
    ordered_json json = demos::toJson(model_.settings());
    json["view"] = toJson(view_);
    json["plot"] = plot_.state();
    const std::vector<float>& weights = model_.parameters();
    // JSON has no NaN: a network that has failed comes back with fresh weights.
    if (view_.keepWeights && std::ranges::all_of(weights, [](float w) { return std::isfinite(w); })) {
        json["step"] = model_.step();
        ordered_json& list = json["weights"] = ordered_json::array();
        for (const float weight : weights) list.push_back(withFewDigits(weight));
    }
    return json;
}

std::function<void()> PlaygroundExhibit::readState(const ordered_json& state) {
    if (!state.is_object()) throw std::invalid_argument("the playground's state must be an object");
    ordered_json json = state;
    const auto taken = [&json](const char* field) {
        ordered_json value;
        if (const auto found = json.find(field); found != json.end()) value = *found, json.erase(field);
        return value;
    };
    const ordered_json view = taken("view");
    const ordered_json plot = taken("plot");
    const ordered_json weights = taken("weights");
    const ordered_json step = taken("step");
    const PlaygroundSettings settings = playgroundSettingsFromJson(json);
    const ViewState newView =
        viewFromJson(toJson(PlaygroundView{}), view.is_null() ? ordered_json::object() : view);
    if (!step.is_null() && (!step.is_number_unsigned() || step.get<std::uint64_t>() > mostSteps / 2))
        throw std::invalid_argument(
            fmt::format("the field 'step' must be a whole number up to {}", mostSteps / 2));
    const std::uint64_t steps = step.is_null() ? 0 : step.get<std::uint64_t>();
    std::vector<float> values;
    if (!weights.is_null()) values = weightsFromJson(weights, settings.shape());
    Plot newPlot = plot_;
    if (!plot.is_null()) newPlot.setState(plot);
    return [this, settings, newView, values, steps, newPlot] {
        plot_ = newPlot;
        model_.pause();
        model_.change(settings);
        model_.reset();
        if (!values.empty()) model_.setWeights(values, steps);
        take(view_, newView);
    };
}

} // namespace lockstep::demos
