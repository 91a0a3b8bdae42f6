// Where the running program lies, to find the files that were installed with it.
#pragma once

#include <filesystem>

namespace lockstep {

/// The folder of the running program; empty where the system does not tell.
std::filesystem::path programFolder();

} // namespace lockstep
