// Where the program is, and where it may keep things.
#pragma once

#include <filesystem>

namespace lockstep::platform {

/// The running program's file; empty where the system does not tell.
std::filesystem::path programFile();

/// Its folder; empty where the system does not tell.
std::filesystem::path programFolder();

/// Where programs of this user keep what they can make again: $XDG_CACHE_HOME or ~/.cache, on Windows
/// %LOCALAPPDATA%. Empty where the environment names none.
std::filesystem::path userCacheFolder();

/// The same for this program: a folder of its name in it. It need not exist.
std::filesystem::path ownCacheFolder();

} // namespace lockstep::platform
