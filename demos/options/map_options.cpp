#include "demos/options/map_options.h"

#include <array>
#include <charconv>
#include <limits>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "demos/options/parse.h"
#include "engine/net/names.h"

namespace lockstep::demos {

namespace {

constexpr std::string_view mapLanes[] = {"cpu:best", "gpu:best"};

/// `text` at its first `mark`: what is before and what is behind. Throws `error` without one.
std::array<std::string_view, 2> halves(std::string_view text, char mark, const std::string& error) {
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos) throw std::invalid_argument(error);
    return {trimmed(text.substr(0, at)), trimmed(text.substr(at + 1))};
}

/// The number in `text`; the largest there is, where it is too large.
std::uint64_t wholeNumber(std::string_view text, const std::string& error) {
    std::uint64_t value = std::numeric_limits<std::uint64_t>::max();
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code == std::errc::invalid_argument || end != text.data() + text.size())
        throw std::invalid_argument(error);
    return value;
}

double logarithm(std::string_view text, const std::string& error) {
    const ParsedNumber number = parseNumber(text);
    if (number.kind != NumberKind::finite) throw std::invalid_argument(error);
    if (number.value < -mapReach || number.value > mapReach)
        throw std::invalid_argument(fmt::format("{0} is no logarithm from -{1} to {1}", text, mapReach));
    return number.value;
}

/// "LEFT:RIGHT,BOTTOM:TOP", decimal logarithms: "-3:6,-3:6".
MapWindow windowFromText(std::string_view text) {
    const std::string error = fmt::format(
        "'{}' is no window; write LEFT:RIGHT,BOTTOM:TOP in decimal logarithms, as in -3:6,-3:6", text);
    const auto [horizontal, vertical] = halves(text, ',', error);
    const auto [left, right] = halves(horizontal, ':', error);
    const auto [bottom, top] = halves(vertical, ':', error);
    const MapWindow window{logarithm(left, error), logarithm(right, error), logarithm(bottom, error),
                           logarithm(top, error)};
    if (!(window.left < window.right && window.bottom < window.top))
        throw std::invalid_argument(
            fmt::format("'{}' is an empty window: LEFT is below RIGHT, and BOTTOM below TOP", text));
    return window;
}

std::string presetList() {
    std::string text = "a network and a region of the map:";
    for (const MapPreset& preset : mapPresets())
        text += fmt::format("\n  {}: {}", preset.name, preset.summary);
    return text;
}

// Options are read in the order in which they are added: what is said overrides the preset.
void addRequestOptions(CLI::App& command, MapRequest& request) {
    command.option_defaults()->group("Map");
    MapJob& job = request.job;
    const auto readPlace = [&request](std::string_view text) {
        request.place() = mapPresetFromName(text).place();
    };
    addText(command, "--preset", "NAME", readPlace, presetList());
    addText(command, "--window", "LEFT:RIGHT,BOTTOM:TOP", request.window, windowFromText,
            "region: decimal logarithms of the two hyperparameters [-3:6,-3:6]");
    addText(command, "--axes", "NAME", job.axes, mapAxesFromName,
            "rates: the learning rates of the two layers;\nrate-and-scale: one learning rate, and "
            "the scale of the initial weights [rates]");
    const auto readNetwork = [&job](std::string_view text) { readMapNetwork(text, job); };
    addText(command, "--network", "I-H-1", readNetwork, "inputs and hidden neurons, at most 16-16-1 [8-8-1]");
    addText(command, "--activation", "NAME", job.activation, activationFromName,
            "activation of the hidden layer: identity relu tanh [tanh]");
    addNumber(command, "--examples", "N", job.examples, atLeastOne(),
              "training examples, the same for all networks, at most 512 [16]");
    addNumber(command, "--steps", "N", job.steps, atLeastOne(),
              "training steps per network, at most 2000 [200]");
    addText(command, "--seed", "N", job.seed, seedFromText,
            "random seed for examples and initial weights [1]");
    addText(command, "--size", "WIDTHxHEIGHT", request.size, mapSizeFromText,
            "pixels, at most 4096x4096 [512x512]");
}

} // namespace

void addMapOptions(CLI::App& command, MapOptions& options) {
    addRequestOptions(command, options.request);
    addMachineOptions(command, options, "a contestant; repeat for more [cpu:best and gpu:best]:", mapLanes);
    command.option_defaults()->group(outputGroup);
    command.add_flag("--quiet", options.quiet, "do not show progress");
    addValue(command, "--png", "FILE", options.pngFile,
             "save the picture of the first lane that finished one");
    addValue(command, "--csv", "FILE", options.csvFile,
             "write one row per pixel (up to 2048x2048 pixels); - for standard output");
    addValue(command, "--json", "FILE", options.jsonFile,
             "write all results except the pixels; - for standard output");
}

std::string mapNetworkText(const MapJob& job) { return fmt::format("{}-{}-1", job.inputs, job.hidden); }

void readMapNetwork(std::string_view text, MapJob& job) {
    const std::string error =
        fmt::format("'{}' is no network of a map; write INPUTS-HIDDEN-1, as in 8-8-1", text);
    const auto [inputs, rest] = halves(text, '-', error);
    const auto [hidden, outputs] = halves(rest, '-', error);
    if (wholeNumber(outputs, error) != 1) throw std::invalid_argument(error);
    job.inputs = wholeNumber(inputs, error);
    job.hidden = wholeNumber(hidden, error);
}

MapSize mapSizeFromText(std::string_view text) {
    const auto pixels = [text](std::string_view digits) {
        const std::uint64_t count =
            wholeNumber(digits, fmt::format("'{}' is no size; write WIDTHxHEIGHT, as in 512x512", text));
        if (count < 1 || count > largestMap)
            throw std::invalid_argument(
                fmt::format("a map has 1x1 to {0}x{0} pixels, not {1}", largestMap, text));
        return static_cast<std::uint32_t>(count);
    };
    std::string bare(text);
    std::erase_if(bare, [](char letter) { return letter == ' ' || letter == ','; });
    const std::size_t cross = bare.find('x');
    const std::uint32_t width = pixels(std::string_view(bare).substr(0, cross));
    if (cross == std::string::npos) return {width, width};
    return {width, pixels(std::string_view(bare).substr(cross + 1))};
}

std::string mapSizeText(MapSize size) { return fmt::format("{}x{}", size.width, size.height); }

MapPoint MapRequest::point(std::size_t pixel) const {
    return window.point(static_cast<std::uint32_t>(pixel % size.width),
                        static_cast<std::uint32_t>(pixel / size.width), size.width, size.height);
}

std::span<const MapPreset> mapPresets() {
    constexpr MapWindow wholePlane{-3, 6, -3, 6}; // as the paper's figures show it
    constexpr std::size_t asManyAsWeights = 16 * 16 + 16;
    const auto paper = [](Activation activation, std::size_t examples) {
        return MapJob{
            .inputs = 16, .hidden = 16, .activation = activation, .examples = examples, .steps = 500};
    };
    static const MapPreset presets[] = {
        {{{}, wholePlane}, "overview", "the whole range of learning rates, for a small tanh network"},
        {{{}, {1.2, 1.5, 1.3, 1.6}}, "edge", "part of the border, enlarged thirty times"},
        {{{}, {1.35, 1.43, 1.37, 1.45}}, "island", "an island of divergence among rates that converge"},
        {{{}, {0.36, 0.46, 1.62, 1.72}}, "threads", "where the border frays"},
        {{{.activation = Activation::relu}, wholePlane}, "relu", "the same network with ReLU"},
        {{{.activation = Activation::identity}, wholePlane},
         "identity",
         "the same network without an activation"},
        {{{.axes = MapAxes::rateAndScale}, {-1, 5, -3, 3}},
         "scale",
         "one learning rate, and the scale of the initial weights"},
        {{paper(Activation::tanh, asManyAsWeights), wholePlane},
         "sohl-dickstein-tanh",
         "the paper's figure of the tanh network, 16 wide, 272 examples"},
        {{paper(Activation::relu, asManyAsWeights), wholePlane},
         "sohl-dickstein-relu",
         "the paper's figure of the ReLU network"},
        {{paper(Activation::identity, 16), wholePlane},
         "sohl-dickstein-identity",
         "the paper's figure of the network without an activation, 16 examples"},
    };
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
