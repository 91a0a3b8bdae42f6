#include "demos/shell/script_lines.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "engine/files/file_bytes.h"
#include "engine/net/names.h"

namespace lockstep::demos {

namespace {

constexpr std::uint64_t largestScript = 1'000'000; // bytes

} // namespace

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
    const std::vector<std::byte> bytes = readFileBytes(file, largestScript);
    return scriptFromText(asText(bytes), file.string());
}

float numberIn(const ScriptLine& line, std::string_view text, double least, double most) {
    const ParsedNumber number = parseNumber(trimmed(text));
    if (number.kind != NumberKind::finite || number.value < least || number.value > most)
        throw scriptError(line, fmt::format("{} takes numbers from {} to {}, not '{}'", line.verb, least,
                                            most, trimmed(text)));
    return static_cast<float>(number.value);
}

std::uint64_t countIn(const ScriptLine& line, std::uint64_t most) {
    const ParsedNumber number = parseNumber(line.argument);
    if (number.kind != NumberKind::finite || number.value < 0 || std::trunc(number.value) != number.value ||
        number.value > static_cast<double>(most))
        throw scriptError(line, fmt::format("{} takes a whole number from 0 to {}, not '{}'", line.verb, most,
                                            line.argument));
    return static_cast<std::uint64_t>(number.value);
}

std::runtime_error scriptError(const ScriptLine& line, const std::string& what) {
    return std::runtime_error(placeInFile(line.file, line.number) + ": " + what);
}

} // namespace lockstep::demos
