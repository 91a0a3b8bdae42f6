// Pixels as PNG files, and parts of them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "demos/draw/read_png.h"
#include "demos/draw/ui.h"

namespace lockstep::demos {

/// The bytes of a PNG file, with the alpha channel or without it. Throws std::runtime_error.
std::vector<std::byte> encodedPng(const Pixels& pixels, bool alpha);

/// Writes atomically; the alpha channel is left out. Throws std::runtime_error with the file and the reason.
void writePng(const std::filesystem::path& file, const Pixels& pixels);

/// The part within `area`, at least one pixel; without an area, everything.
Pixels cropped(Pixels pixels, const std::optional<Place>& area);

} // namespace lockstep::demos
