// Everything that a person can set in the playground, as one value. No window, no device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/kit/run_settings.h"
#include "engine/data/points_2d.h"
#include "engine/net/dataset.h"
#include "engine/net/net_shape.h"
#include "engine/net/plane_features.h"
#include "engine/net/settings.h"

namespace lockstep::demos {

/// Every neuron has a picture of its own.
inline constexpr RunLimits playgroundLimits{.layers = drawnLimits.layers, .width = 1024};
inline constexpr std::size_t mostSamples = 100000;
inline constexpr std::size_t mostOwnPoints = 20000;
inline constexpr std::size_t mostOwnClasses = 9; ///< one per key
inline constexpr float planeReach = 6;           ///< the plane is [-6, 6] x [-6, 6]

/// The data set's name for the points that a user draws or loads.
inline constexpr std::string_view ownData = "own";

struct PlaygroundSettings {
    std::string data = "circle"; ///< one of points2dNames, or ownData
    double noise = 0;            ///< 0 to 0.8
    std::size_t samples = 500;   ///< training and test together; of generated sets
    double trainShare = 0.5;     ///< 0.1 to 0.9
    std::uint64_t dataSeed = 1;
    std::vector<LabelledPoint> own; ///< kept while another set is shown
    bool ownValues = false;         ///< own points have values (regression) instead of classes

    std::vector<PlaneFeature> features{PlaneFeature::x, PlaneFeature::y};
    std::vector<std::size_t> hidden{4, 2};
    Activation activation = Activation::tanh;
    Activation outputActivation = Activation::identity; ///< where the loss allows one
    Loss loss = Loss::binaryCrossEntropy;               ///< see effectiveLoss()
    InitScheme init = InitScheme::xavier;               ///< of the next reset
    /// As TensorFlow Playground begins.
    TrainSettings train{.optimizer = {.kind = Optimizer::sgd, .learningRate = 0.03, .weightDecay = 0},
                        .batch = 10};
    std::string lane; ///< "cpu:best", ...; empty: chosen for the machine

    /// Classes of the data: 0 where they have values.
    std::size_t classes() const;
    /// Values cannot be compared by cross-entropy: then the mean squared error.
    Loss effectiveLoss() const;
    bool allowsOutputActivation() const;
    /// The network that these settings mean.
    NetShape shape() const;

    /// Throws std::invalid_argument naming what makes no sense.
    void validate() const;

    bool operator==(const PlaygroundSettings&) const = default;
};

/// The same points with the same features.
bool sameData(const PlaygroundSettings& a, const PlaygroundSettings& b);
/// All the same but the optimizer's numbers, which a trainer can change under way.
bool sameTrainer(const PlaygroundSettings& a, const PlaygroundSettings& b);

/// As JSON, every number exactly; and back: a field that is missing has its default. Throws
/// std::invalid_argument naming the field that is unknown or wrong.
nlohmann::ordered_json toJson(const PlaygroundSettings& settings);
PlaygroundSettings playgroundSettingsFromJson(const nlohmann::ordered_json& json);

struct PlanePoint {
    LabelledPoint at;
    bool test = false; ///< held back for the test split
};

struct PlaygroundData {
    std::vector<PlanePoint> points;
    Dataset dataset; ///< features of the points; without training examples while there are no points
};

/// The points that the settings name, and their features.
PlaygroundData makePlaygroundData(const PlaygroundSettings& settings);

/// Shows a table of two columns and a target as own points; columns that leave the plane are scaled into it.
/// Returns whether one was. Throws with file and reason, and then nothing has changed.
bool takeOwnPoints(PlaygroundSettings& settings, const std::filesystem::path& file);

} // namespace lockstep::demos
