#include "demos/options/map_presets.h"

#include <string_view>
#include <vector>

#include "engine/net/names.h"

namespace lockstep::demos {

namespace {

constexpr MapWindow wholePlane{-3, 6, -3, 6}; // as the paper's figures show it

MapJob small(Activation activation) {
    MapJob job;
    job.activation = activation;
    return job;
}

MapJob rateAndScale() {
    MapJob job;
    job.axes = MapAxes::rateAndScale;
    return job;
}

/// Width and examples of the paper's figures.
MapJob paper(Activation activation, std::size_t examples) {
    MapJob job;
    job.inputs = 16;
    job.hidden = 16;
    job.activation = activation;
    job.examples = examples;
    job.steps = 500;
    return job;
}

std::vector<MapPreset> makePresets() {
    constexpr std::size_t asManyAsWeights = 16 * 16 + 16;
    return {
        {"overview", "all rates that matter of a small tanh network", small(Activation::tanh), wholePlane},
        {"edge",
         "a part of the border, thirty times as large",
         small(Activation::tanh),
         {1.2, 1.5, 1.3, 1.6}},
        {"island",
         "rates that diverge among such that do not",
         small(Activation::tanh),
         {1.35, 1.43, 1.37, 1.45}},
        {"threads", "where the border frays", small(Activation::tanh), {0.36, 0.46, 1.62, 1.72}},
        {"relu", "the same network with ReLU", small(Activation::relu), wholePlane},
        {"identity", "the same network without an activation", small(Activation::identity), wholePlane},
        {"scale", "one rate, and how large the first weights are", rateAndScale(), {-1, 5, -3, 3}},
        {"sohl-dickstein-tanh", "the paper's figure of the tanh network, 16 wide, 272 examples",
         paper(Activation::tanh, asManyAsWeights), wholePlane},
        {"sohl-dickstein-relu", "the paper's figure of the ReLU network",
         paper(Activation::relu, asManyAsWeights), wholePlane},
        {"sohl-dickstein-identity", "the paper's figure of the network without an activation, 16 examples",
         paper(Activation::identity, 16), wholePlane},
    };
}

} // namespace

std::span<const MapPreset> mapPresets() {
    static const std::vector<MapPreset> presets = makePresets();
    return presets;
}

const MapPreset& mapPresetFromName(std::string_view text) {
    std::vector<std::string_view> known;
    for (const MapPreset& preset : mapPresets()) {
        if (preset.name == text) return preset;
        known.push_back(preset.name);
    }
    throwUnknownName("preset", text, known);
}

} // namespace lockstep::demos
