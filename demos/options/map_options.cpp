#include "demos/options/map_options.h"

#include <array>
#include <charconv>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "demos/options/parse.h"
#include "demos/options/run_options.h"
#include "demos/words/text.h"
#include "engine/net/names.h"

namespace lockstep::demos {

namespace {

constexpr std::string_view mapLanes[] = {"cpu:best", "gpu:best"};

constexpr const char* mapGroup = "Map";

/// `text` at its first `mark`: what is before and what is behind. Throws `error` without one.
std::array<std::string_view, 2> halves(std::string_view text, char mark, const std::string& error) {
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos) throw std::invalid_argument(error);
    return {trimmed(text.substr(0, at)), trimmed(text.substr(at + 1))};
}

std::uint64_t wholeNumber(std::string_view text, const std::string& error) {
    std::uint64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size()) throw std::invalid_argument(error);
    return value;
}

double logarithm(std::string_view text, const std::string& error) {
    const ParsedNumber number = parseNumber(text);
    if (number.kind != NumberKind::finite) throw std::invalid_argument(error);
    if (number.value < -mapReach || number.value > mapReach)
        throw std::invalid_argument(fmt::format("{0} is no logarithm from -{1} to {1}", text, mapReach));
    return number.value;
}

const MapPreset& presetOf(const MapOptions& options) {
    return options.preset.empty() ? mapPresets().front() : mapPresetFromName(options.preset);
}

std::string presetList() {
    std::string text = "a job and its window:";
    for (const MapPreset& preset : mapPresets())
        text += fmt::format("\n  {}: {}", preset.name, preset.summary);
    return text;
}

void addJobOptions(CLI::App& command, MapOptions& options) {
    addText(
        command, "--preset", "NAME",
        [&options](std::string_view text) { options.preset = mapPresetFromName(text).name; }, presetList())
        ->group(mapGroup);
    addText(
        command, "--window", "LEFT:RIGHT,BOTTOM:TOP",
        [&options](std::string_view text) { options.window = mapWindowFromText(text); },
        "decimal logarithms of the two hyperparameters, -3:6,-3:6")
        ->group(mapGroup);
    addText(
        command, "--axes", "NAME",
        [&options](std::string_view text) { options.axes = mapAxesFromName(text); },
        "rates: of the first layer and of the second;\nrate-and-scale: of both, and a factor of the first "
        "weights")
        ->group(mapGroup);
    addText(
        command, "--network", "I-H-1",
        [&options](std::string_view text) { options.network = mapNetworkFromText(text); },
        "inputs and hidden neurons, at most 16-16-1")
        ->group(mapGroup);
    addText(
        command, "--activation", "NAME",
        [&options](std::string_view text) { options.activation = activationFromName(text); },
        "identity relu tanh")
        ->group(mapGroup);
    command.add_option("--examples", options.examples, "that all networks learn, at most 512")
        ->type_name("N")
        ->check(atLeastOne())
        ->group(mapGroup);
    command.add_option("--steps", options.steps, "of every network, at most 2000")
        ->type_name("N")
        ->check(atLeastOne())
        ->group(mapGroup);
    addText(
        command, "--seed", "N", [&options](std::string_view text) { options.seed = seedFromText(text); },
        "of examples and first weights")
        ->group(mapGroup);
    addText(
        command, "--size", "WIDTHxHEIGHT",
        [&options](std::string_view text) { options.size = mapSizeFromText(text); },
        "pixels, at most 4096x4096 [512x512]")
        ->group(mapGroup);
}

} // namespace

void addMapOptions(CLI::App& command, MapOptions& options) {
    addJobOptions(command, options);
    addMachineOptions(command, options,
                      "a lane that trains; repeat it for several [cpu:best and gpu:best]:", mapLanes);
    command.add_flag("--quiet", options.quiet, "no progress")->group(outputGroup);
    command.add_option("--png", options.pngFile, "the picture of the first lane that has one")
        ->type_name("FILE")
        ->group(outputGroup);
    command
        .add_option("--csv", options.csvFile,
                    "a row per pixel, at most 2048x2048 of them; - for standard output")
        ->type_name("FILE")
        ->group(outputGroup);
    command.add_option("--json", options.jsonFile, "all results but the pixels; - for standard output")
        ->type_name("FILE")
        ->group(outputGroup);
}

MapJob mapJob(const MapOptions& options) {
    MapJob job = presetOf(options).job;
    if (options.axes) job.axes = *options.axes;
    if (options.network) {
        job.inputs = options.network->inputs;
        job.hidden = options.network->hidden;
    }
    if (options.activation) job.activation = *options.activation;
    if (options.examples) job.examples = *options.examples;
    if (options.steps) job.steps = *options.steps;
    if (options.seed) job.seed = *options.seed;
    job.validate();
    return job;
}

MapWindow mapWindow(const MapOptions& options) { return options.window.value_or(presetOf(options).window); }

MapWindow mapWindowFromText(std::string_view text) {
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

std::string mapWindowText(const MapWindow& window) {
    return fmt::format("{}:{},{}:{}", shortestText(window.left), shortestText(window.right),
                       shortestText(window.bottom), shortestText(window.top));
}

MapNetwork mapNetworkFromText(std::string_view text) {
    const std::string error =
        fmt::format("'{}' is no network of a map; write INPUTS-HIDDEN-1, as in 8-8-1", text);
    const auto [inputs, rest] = halves(text, '-', error);
    const auto [hidden, outputs] = halves(rest, '-', error);
    if (wholeNumber(outputs, error) != 1) throw std::invalid_argument(error);
    return {wholeNumber(inputs, error), wholeNumber(hidden, error)};
}

namespace {

std::uint32_t pixelsFromText(std::string_view digits, std::string_view text) {
    std::uint32_t pixels = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), pixels);
    if (code == std::errc::invalid_argument || end != digits.data() + digits.size())
        throw std::invalid_argument(fmt::format("'{}' is no size; write WIDTHxHEIGHT, as in 512x512", text));
    if (code != std::errc() || pixels < 1 || pixels > largestMap)
        throw std::invalid_argument(
            fmt::format("a map has 1x1 to {0}x{0} pixels, not {1}", largestMap, text));
    return pixels;
}

} // namespace

MapSize mapSizeFromText(std::string_view text) {
    std::string bare(text);
    std::erase_if(bare, [](char letter) { return letter == ' ' || letter == ','; });
    const std::size_t cross = bare.find('x');
    const std::uint32_t width = pixelsFromText(std::string_view(bare).substr(0, cross), text);
    if (cross == std::string::npos) return {width, width};
    return {width, pixelsFromText(std::string_view(bare).substr(cross + 1), text)};
}

std::string mapSizeText(MapSize size) { return fmt::format("{}x{}", size.width, size.height); }

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
        {"overview", "the whole range of learning rates, for a small tanh network", small(Activation::tanh),
         wholePlane},
        {"edge", "part of the border, enlarged thirty times", small(Activation::tanh), {1.2, 1.5, 1.3, 1.6}},
        {"island",
         "an island of divergence among rates that converge",
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
