// Pixels in memory, and as files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "demos/draw/ui.h"

namespace lockstep::demos {

/// Pixels as files and tests want them: RGBA, row by row from the top.
struct Pixels {
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    std::vector<std::uint8_t> rgba;
};

/// The bytes of a PNG file, with the alpha channel or without it. Throws std::runtime_error.
std::vector<std::byte> encodedPng(const Pixels& pixels, bool alpha);

/// Writes atomically; the alpha channel is left out. Throws std::runtime_error with the file and the reason.
void writePng(const std::filesystem::path& file, const Pixels& pixels);

/// Reads a PNG of at most 4,096 pixels a side. Throws std::runtime_error with `name` and the reason.
Pixels decodePng(std::span<const std::byte> file, const std::string& name);

/// The part within `area`, at least one pixel; without an area, everything.
Pixels cropped(Pixels pixels, const std::optional<Place>& area);

} // namespace lockstep::demos
