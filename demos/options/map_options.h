// The options of `lockstep map`, as values, with the sizes and presets of maps.
#pragma once

#include <cstddef>
#include <cstdint>
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
/// Decades from 1 that a window may reach: a float's numbers end there.
inline constexpr double mapReach = 30;

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

/// Networks, and the part of their plane to look at.
struct MapPlace {
    MapJob job;
    MapWindow window;

    bool operator==(const MapPlace&) const = default;
    MapPlace& place() { return *this; }
    const MapPlace& place() const { return *this; }
};

/// A picture of them.
struct MapRequest : MapPlace {
    MapSize size;

    /// Pixels are counted row by row from the top.
    MapPoint point(std::size_t pixel) const;
    /// Whether fp32 tells all pixels apart.
    bool resolved() const { return window.resolves(size.width, size.height); }
};

struct MapPreset : MapPlace {
    std::string_view name;
    std::string_view summary; ///< a sentence without its full stop
};

/// The first is what is shown without a choice.
std::span<const MapPreset> mapPresets();

/// Throws std::invalid_argument with the nearest right name.
const MapPreset& mapPresetFromName(std::string_view text);

/// The request is the first preset's, unless something else was said.
struct MapOptions : MachineOptions {
    MapRequest request{mapPresets().front().place(), {512, 512}};
};

/// Adds all of them to a command, to be read into `options`, which has to outlive the parsing.
void addMapOptions(CLI::App& command, MapOptions& options);

/// "8-8-1": inputs, hidden neurons and the one output.
std::string mapNetworkText(const MapJob& job);
/// Reads it into the job. Throws std::invalid_argument.
void readMapNetwork(std::string_view text, MapJob& job);

} // namespace lockstep::demos
