// Pictures as files.
#pragma once

#include <filesystem>

#include "demos/shell/offscreen.h"

namespace lockstep::demos {

/// Writes atomically; the alpha channel is left out. Throws std::runtime_error with the file and the reason.
void writePng(const std::filesystem::path& file, const Pixels& pixels);

} // namespace lockstep::demos
