// Pictures as files.
#pragma once

#include <filesystem>
#include <optional>

#include "demos/draw/offscreen.h"
#include "demos/draw/ui.h"

namespace lockstep::demos {

/// Writes atomically; the alpha channel is left out. Throws std::runtime_error with the file and the reason.
void writePng(const std::filesystem::path& file, const Pixels& pixels);

/// What lies in `area`; all without one, and at least a pixel.
Pixels cropped(Pixels pixels, const std::optional<Place>& area);

} // namespace lockstep::demos
