// How many pixels a map has, and how far it reaches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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

} // namespace lockstep::demos
