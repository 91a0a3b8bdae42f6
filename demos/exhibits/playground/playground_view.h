// What the playground's panels share: how a person looks at it, and what the mouse is over.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "demos/draw/class_colours.h"
#include "demos/draw/plot.h"
#include "demos/draw/ui.h"
#include "demos/exhibits/playground/plane_pictures.h"
#include "demos/exhibits/playground/playground_model.h"
#include "demos/exhibits/playground/surface_sampler.h"

namespace lockstep::demos {

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

enum class AnswerView { map, surface, layer };
enum class LowerView { losses, weights };

struct SurfaceCamera {
    float yaw = 0.6f;   ///< radians around the height
    float pitch = 0.7f; ///< radians above the plane
    float zoom = 1;
};

struct PlaygroundView {
    std::size_t page = 0; ///< where there is room for one panel only
    AnswerView answer = AnswerView::map;
    LowerView lower = LowerView::losses;
    bool discretise = false;
    bool trainPoints = true;
    bool testPoints = true;
    bool drawing = false;
    std::uint32_t drawnClass = 0;
    SurfaceCamera camera;
    std::size_t foldLayer = 1;           ///< whose neurons are the axes; 0 the features
    std::size_t foldAxes[3] = {0, 1, 2}; ///< neurons; as many as there are: no such axis
    SurfaceSampler sampler;
    bool keepWeights = false; ///< in state files

    // Of the last frame.
    struct Probe {
        float x = 0;
        float y = 0;
    };
    std::optional<Probe> probe; ///< the place of the plane under the mouse
    std::optional<NeuronPlace> shownNeuron;
    std::optional<ParameterPlace> shownParameter;

    std::optional<ParameterPlace> edited;
    float editedValue = 0;
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
void drawDataPanel(const PlaygroundParts& parts);
void drawSettingsBar(const PlaygroundParts& parts, bool everything);
void drawNetwork(const PlaygroundParts& parts, ImVec2 size);
void drawAnswer(const PlaygroundParts& parts, ImVec2 size);
void drawSurface(const PlaygroundParts& parts, ImVec2 low, ImVec2 high);
void drawWeights(const PlaygroundParts& parts);
void drawEditor(const PlaygroundParts& parts);

// Points on the map.
void drawPoints(const PlaygroundParts& parts, ImVec2 low, float size);
/// What the mouse does to points of one's own while drawing; `at` is the place of the plane under it.
void drawWithMouse(const PlaygroundParts& parts, PlaygroundView::Probe at, float perPixel);

/// Of a point: its class's, or its value's.
ImU32 pointColour(const Theme& theme, const PlaygroundSettings& settings, const LabelledPoint& point);

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
