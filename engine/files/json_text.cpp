#include "engine/files/json_text.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/files/file_bytes.h"
#include "engine/net/names.h"

namespace lockstep {

namespace {

[[noreturn]] void throwAt(std::string_view name, std::string_view text, std::size_t at,
                          const std::string& reason) {
    const std::string_view before = text.substr(0, std::min(at, text.size()));
    const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
    const std::string_view inLine = before.substr(before.rfind('\n') + 1); // npos + 1 is 0
    throw std::runtime_error(
        concat(placeInFile(name, line, inLine.size() + 1), ": not valid JSON: ", reason));
}

// Brackets inside of strings do not count; a text that is no JSON is the parser's business.
void checkSize(std::string_view name, std::string_view text) {
    std::size_t depth = 0;
    std::size_t values = 1;
    bool quoted = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char letter = text[at];
        if (letter == '"') quoted = !quoted;
        if (quoted && letter == '\\') ++at;
        if (quoted) continue;
        // What an opening bracket or a comma begins; a key counts with its value.
        if ((letter == '[' || letter == '{' || letter == ',') && ++values > mostJsonValues)
            throwAt(name, text, at, concat("more than ", mostJsonValues, " values"));
        if ((letter == '[' || letter == '{') && ++depth > deepestJson)
            throwAt(name, text, at, concat("more than ", deepestJson, " nested brackets"));
        if ((letter == ']' || letter == '}') && depth > 0) --depth;
    }
}

/// "invalid literal; last read: 'x'" of what the parser says.
std::string reasonOf(const nlohmann::json::parse_error& error) {
    const std::string text = error.what();
    const std::size_t detail = text.find(" - ");
    return detail == std::string::npos ? text.substr(text.find(": ") + 2) : text.substr(detail + 3);
}

} // namespace

nlohmann::ordered_json parseJson(std::string_view text, std::string_view name) {
    checkSize(name, text);
    try {
        return nlohmann::ordered_json::parse(text);
    } catch (const nlohmann::json::parse_error& error) {
        throwAt(name, text, error.byte == 0 ? 0 : error.byte - 1, reasonOf(error));
    } catch (const nlohmann::json::exception& error) { // a number that is too large
        const std::string reason = error.what();
        throw std::runtime_error(concat(name, ": not valid JSON:", reason.substr(reason.find(']') + 1)));
    }
}

nlohmann::ordered_json readJsonFile(const std::filesystem::path& file, std::uint64_t largest) {
    const std::vector<std::byte> bytes = readFileBytes(file, largest);
    return parseJson(asText(bytes), file.string());
}

} // namespace lockstep
