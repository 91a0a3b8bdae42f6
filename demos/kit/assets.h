// What comes with the program: presets, lessons, licences.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace lockstep::demos {

/// The folder of that name ("presets"): in `assets` beside the program, in share/lockstep of the prefix that
/// it is installed in, or in the source tree. Empty: nowhere.
std::filesystem::path assetFolder(std::string_view name);

/// The files of all presets, by name.
std::vector<std::filesystem::path> presetFiles();

} // namespace lockstep::demos
