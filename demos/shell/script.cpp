#include "demos/shell/script.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

namespace lockstep::demos {

namespace {

constexpr std::array<std::string_view, 19> verbs{
    "frames", "click", "try",  "rightclick", "hover",    "drag",  "dragto", "move",  "down",   "up",
    "wheel",  "key",   "type", "resize",     "controls", "theme", "drop",   "state", "picture"};

} // namespace

std::vector<ScriptLine> readScript(const std::filesystem::path& file) {
    std::ifstream stream(file);
    if (!stream) throw std::runtime_error("cannot read the script " + file.string());
    std::vector<ScriptLine> lines;
    std::string text;
    for (std::size_t number = 1; std::getline(stream, text); ++number) {
        const std::size_t begin = text.find_first_not_of(" \t\r");
        if (begin == std::string::npos || text[begin] == '#') continue;
        text.erase(text.find_last_not_of(" \t\r") + 1);
        const std::size_t blank = std::min(text.find(' ', begin), text.size());
        ScriptLine line{number, text.substr(begin, blank - begin), {}};
        if (blank < text.size()) line.argument = text.substr(text.find_first_not_of(' ', blank));
        if (std::ranges::find(verbs, line.verb) == verbs.end())
            throw std::runtime_error(
                fmt::format("{}, line {}: there is no command '{}'", file.string(), number, line.verb));
        lines.push_back(std::move(line));
    }
    return lines;
}

} // namespace lockstep::demos
