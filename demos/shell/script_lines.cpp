#include "demos/shell/script_lines.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include "engine/net/names.h"

namespace lockstep::demos {

std::vector<ScriptLine> scriptFromText(std::string_view text, const std::string& name) {
    std::istringstream stream{std::string(text)};
    std::vector<ScriptLine> lines;
    std::string each;
    for (std::size_t number = 1; std::getline(stream, each); ++number) {
        const std::size_t begin = each.find_first_not_of(" \t\r");
        if (begin == std::string::npos || each[begin] == '#') continue;
        each.erase(each.find_last_not_of(" \t\r") + 1);
        const std::size_t blank = std::min(each.find(' ', begin), each.size());
        ScriptLine line{name, number, each.substr(begin, blank - begin), {}};
        if (blank < each.size()) line.argument = each.substr(each.find_first_not_of(' ', blank));
        lines.push_back(std::move(line));
    }
    return lines;
}

std::vector<ScriptLine> readScript(const std::filesystem::path& file) {
    std::ifstream stream(file);
    if (!stream) throw std::runtime_error("cannot read the script " + file.string());
    std::ostringstream text;
    text << stream.rdbuf();
    return scriptFromText(text.str(), file.string());
}

std::runtime_error scriptError(const ScriptLine& line, const std::string& what) {
    return std::runtime_error(placeInFile(line.file, line.number) + ": " + what);
}

} // namespace lockstep::demos
