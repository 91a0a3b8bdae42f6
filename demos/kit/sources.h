// The program's own sources, embedded when it is built: what is shown is what runs.
#pragma once

#include <string_view>
#include <vector>

namespace lockstep::demos {

/// The text of a file by its name ("dense_blocked.comp", "plain_ops.cpp"); empty when there is none.
std::string_view sourceText(std::string_view name);
/// The names of all files.
std::vector<std::string_view> sourceNames();

} // namespace lockstep::demos
