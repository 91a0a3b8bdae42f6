// A script of user input: one action per line, which run_headless.cpp lists.
#pragma once

#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::demos {

struct ScriptLine {
    std::string file;       ///< its name, for messages
    std::size_t number = 0; ///< in its file, from 1
    std::string verb;
    std::string argument; ///< the rest of the line
};

/// Its lines without empty ones and comments (#).
///   name   for messages
std::vector<ScriptLine> scriptFromText(std::string_view text, const std::string& name);
/// The same of a file. Throws std::runtime_error if it cannot be read.
std::vector<ScriptLine> readScript(const std::filesystem::path& file);

/// "script.txt:3: ..."
std::runtime_error scriptError(const ScriptLine& line, const std::string& what);

} // namespace lockstep::demos
