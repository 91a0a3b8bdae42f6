// The options of `lockstep map`, as values, with the sizes and presets of maps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "demos/options/run_options.h"
#include "engine/grid/map.h"

namespace CLI {
class App;
}

namespace lockstep::demos {

inline constexpr std::uint32_t largestMap = 4096; ///< pixels along a side
inline constexpr double mapReach =
    30; ///< decades from 1 that a window may reach: a float's numbers end there

struct MapSize {
    std::uint32_t width = 0;
    std::uint32_t height = 0;

    std::size_t pixels() const { return static_cast<std::size_t>(width) * height; }
    bool operator==(const MapSize&) const = default;
};

/// "WIDTHxHEIGHT", or a single number for a square; each 1 to largestMap, with or without blanks and commas.
/// Throws std::invalid_argument.
MapSize mapSizeFromText(std::string_view text);
/// "512x512".
std::string mapSizeText(MapSize size);

struct MapPreset {
    std::string_view name;
    std::string_view summary; ///< a sentence without its full stop
    MapJob job;
    MapWindow window;
};

/// The first is what is shown without a choice.
std::span<const MapPreset> mapPresets();

/// Throws std::invalid_argument with the nearest right name.
const MapPreset& mapPresetFromName(std::string_view text);

inline constexpr std::uint64_t largestTable = std::uint64_t{2048} * 2048; ///< pixels of a CSV file

struct MapNetwork {
    std::size_t inputs = 0;
    std::size_t hidden = 0;
};

/// What was said; what was not is the preset's.
struct MapOptions : MachineOptions {
    std::string preset;
    std::optional<MapWindow> window;
    std::optional<MapAxes> axes;
    std::optional<MapNetwork> network;
    std::optional<Activation> activation;
    std::optional<std::size_t> examples;
    std::optional<std::uint32_t> steps;
    std::optional<std::uint64_t> seed;
    MapSize size{512, 512};

    bool quiet = false;
    std::string pngFile;
    std::string jsonFile; ///< "-": standard output
    std::string csvFile;
};

/// Adds all of them to a command, to be read into `options`, which has to outlive the parsing.
void addMapOptions(CLI::App& command, MapOptions& options);

/// The preset, and what was said instead of its parts. Throws std::invalid_argument for what cannot be
/// mapped.
MapJob mapJob(const MapOptions& options);
MapWindow mapWindow(const MapOptions& options);

/// "LEFT:RIGHT,BOTTOM:TOP", decimal logarithms from -30 to 30: "-3:6,-3:6". Throws std::invalid_argument.
MapWindow mapWindowFromText(std::string_view text);
/// The same text, with all digits.
std::string mapWindowText(const MapWindow& window);

/// "8-8-1": inputs, hidden neurons and the one output. Throws std::invalid_argument.
MapNetwork mapNetworkFromText(std::string_view text);

} // namespace lockstep::demos
