// A script of user input: one action per line, which run_headless.cpp lists.
#pragma once

#include <cstddef>
#include <cstdint>
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
/// The same of a regular file of at most 1 MB. Throws std::runtime_error if it is none or cannot be read.
std::vector<ScriptLine> readScript(const std::filesystem::path& file);

/// The number that a part of the line's argument makes up. Throws scriptError() unless it is in range.
float numberIn(const ScriptLine& line, std::string_view text, double least, double most);
/// The whole number from 0 that is the line's argument.
std::uint64_t countIn(const ScriptLine& line, std::uint64_t most);

/// "script.txt:3: ..."
std::runtime_error scriptError(const ScriptLine& line, const std::string& what);

} // namespace lockstep::demos
