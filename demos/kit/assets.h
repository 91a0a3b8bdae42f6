// What comes with the program: presets, lessons.
#pragma once

#include <filesystem>
#include <string_view>

namespace lockstep::demos {

/// The folder of that name ("presets"): beside the program, or in the source tree. Empty: nowhere.
std::filesystem::path assetFolder(std::string_view name);

} // namespace lockstep::demos
