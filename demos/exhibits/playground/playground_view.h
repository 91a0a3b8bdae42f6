// What the playground's panels share: how a person looks at it, and what the mouse is over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "demos/draw/plot.h"
#include "demos/draw/theme.h"
#include "demos/draw/ui.h"
#include "demos/exhibits/playground/host_network.h"
#include "demos/exhibits/playground/passages.h"
#include "demos/exhibits/playground/plane_pictures.h"
#include "demos/exhibits/playground/playground_model.h"

namespace lockstep::demos {

/// What the 3-D views draw: the network's predictions on a coarse grid, or a layer's values for the data.
struct SurfaceSamples {
    std::uint64_t revision = 0;
    bool ofPoints = false;
    std::size_t layer = 0;
    std::size_t grid = 0; ///< along one side: rows are (y * grid + x), both from -6 to 6
    std::vector<LabelledPoint> points;
    LayerValues values;
};

/// A neuron: layer 0 is the features, the last one the outputs.
struct NeuronPlace {
    std::size_t layer = 0;
    std::size_t index = 0;

    bool operator==(const NeuronPlace&) const = default;
};

/// A number of the network: the weight of `to` for input `from`, or its bias.
struct ParameterPlace {
    NeuronPlace to;
    std::optional<std::size_t> from; ///< none: the bias

    bool operator==(const ParameterPlace&) const = default;
};

inline bool isNeuron(const NetShape& shape, NeuronPlace place) {
    return place.layer < shape.widths.size() && place.index < shape.widths[place.layer];
}

enum AnswerView : std::size_t { mapAnswer, surfaceAnswer, layerAnswer };
enum LowerView : std::size_t { lossesBelow, weightsBelow };

/// How a person looks at it: part of the state.
struct ViewSettings {
    std::size_t page = 0; ///< where there is room for one panel only
    std::size_t answer = mapAnswer;
    std::size_t lower = lossesBelow;
    bool discretise = false;
    bool trainPoints = true;
    bool testPoints = true;
    float yaw = 0.6f;   ///< of the 3-D views: radians around the height
    float pitch = 0.7f; ///< radians above the plane
    float zoom = 1;
    std::size_t foldLayer = 1;                  ///< whose neurons are the axes; 0 the features
    std::vector<std::size_t> foldAxes{0, 1, 2}; ///< neurons; as many as there are: no such axis
    bool keepWeights = true;                    ///< in state files, once there are other than initial ones
    bool settingsShown = false;                 ///< of training, below the data
};

/// As JSON, and back: a field that is missing has its default. Throws std::invalid_argument naming the field.
nlohmann::ordered_json toJson(const ViewSettings& view);
ViewSettings viewFromJson(const nlohmann::ordered_json& json);
/// The arena's floats, each with as few digits as it needs.
nlohmann::ordered_json weightsToJson(const std::vector<float>& weights);
std::vector<float> weightsFromJson(const nlohmann::ordered_json& json, const NetShape& shape);

struct PlaygroundView : ViewSettings {
    bool drawing = false;
    std::uint32_t drawnClass = 0;
    std::optional<SurfaceSamples> samples;
    std::future<SurfaceSamples> sampling; ///< the next ones: a wide network takes its time

    std::vector<float> calmWeights; ///< as links are drawn: they follow the network's smoothly

    Passages passages; ///< the preview

    // What the mouse pointed at in the last frame.
    std::optional<ImVec2> probe; ///< the place of the plane under the mouse
    std::optional<NeuronPlace> shownNeuron;
    std::optional<ParameterPlace> shownParameter;

    std::optional<ParameterPlace> edited;
    bool openEditor = false;
};

/// What every panel is handed.
struct PlaygroundParts {
    Ui& ui;
    PlaygroundModel& model;
    PlaygroundView& view;
    PlanePictures& pictures;
};

// The panels, each in a file of its own. A size of 0: all there is.
/// row   the data sets side by side, for above the network, with the way to the settings; else in a column
void drawDataPanel(const PlaygroundParts& parts, bool row);
void drawSettingsBar(const PlaygroundParts& parts, bool everything);
void drawNetwork(const PlaygroundParts& parts, ImVec2 size);
/// numbers   below the plane, or beside it
void drawAnswer(const PlaygroundParts& parts, ImVec2 size, bool numbers);
/// Losses, accuracies and steps, `width` wide.
void drawNumbers(const PlaygroundParts& parts, float width);
void drawSurface(const PlaygroundParts& parts, ImVec2 low, ImVec2 high);
void drawWeights(const PlaygroundParts& parts);
void drawEditor(const PlaygroundParts& parts);

/// Where a place of the plane is on a picture of it, `size` pixels high and wide.
inline ImVec2 onMap(float x, float y, ImVec2 low, float size) {
    return {low.x + size * (0.5f + x / (2 * planeReach)), low.y + size * (0.5f - y / (2 * planeReach))};
}

/// Returns where it has put the layers, from left to right.
std::vector<float> drawGraph(const PlaygroundParts& parts, ImVec2 low, ImVec2 high);

/// All layers' values for the place under the mouse; for the middle of the plane where it is elsewhere.
std::vector<LayerValues> valuesAtProbe(const PlaygroundParts& parts);
/// The colour of a point: its class's where there are `classes`, else its value's.
ImU32 pointColour(const Theme& theme, std::size_t classes, const LabelledPoint& point);

/// A logarithmic slider for a whole number. True when it was moved.
bool countSlider(Ui& ui, const char* control, std::string_view words, std::size_t& value, std::size_t from,
                 std::size_t to, const char* format = "%.0f");
/// "x", "x²", "sin x".
std::string featureLabel(PlaneFeature feature);
/// "neuron 3 of layer 2", "feature x", "output".
std::string neuronTitle(const PlaygroundModel& model, NeuronPlace place);
std::string parameterTitle(const PlaygroundModel& model, const ParameterPlace& place);
std::size_t parameterIndex(const NetShape& shape, const ParameterPlace& place);
/// Formula and live numbers for the panel on the right.
Detail neuronDetail(const PlaygroundParts& parts, NeuronPlace place);
Detail parameterDetail(const PlaygroundParts& parts, const ParameterPlace& place);

} // namespace lockstep::demos
