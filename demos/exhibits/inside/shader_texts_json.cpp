#include "demos/exhibits/inside/shader_texts_json.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace lockstep::demos {

namespace {

constexpr std::size_t longest = 1u << 18; // bytes of a text: the longest built-in one has a fiftieth of that

std::string textFrom(const std::string& file, const nlohmann::ordered_json& lines) {
    const auto broken = [&](const char* reason) {
        return std::invalid_argument(fmt::format("the field 'shaders' of 'inside': {} {}", file, reason));
    };
    if (!isStepShaderFile(file)) throw broken("is no shader of a training step");
    if (!lines.is_array() || lines.empty()) throw broken("has to be a list of lines");
    std::string text;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (!lines[i].is_string()) throw broken("has a line that is no text");
        const auto& line = lines[i].get_ref<const std::string&>();
        if (line.find_first_of(std::string_view("\0\n\r", 3)) != std::string::npos)
            throw broken("has a line that is none");
        if (i > 0) text += '\n';
        text += line;
        if (text.size() > longest) throw broken("is too long");
    }
    return text;
}

} // namespace

nlohmann::ordered_json toJson(const ShaderTexts& texts) {
    auto json = nlohmann::ordered_json::object();
    for (const auto& [file, text] : texts) {
        auto lines = nlohmann::ordered_json::array();
        for (std::size_t begin = 0; begin <= text.size();) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            lines.push_back(text.substr(begin, end - begin));
            begin = end + 1;
        }
        json[file] = std::move(lines);
    }
    return json;
}

ShaderTexts shaderTextsFromJson(const nlohmann::ordered_json& state) {
    ShaderTexts texts;
    const auto found = state.find("shaders");
    if (found == state.end()) return texts;
    if (!found->is_object())
        throw std::invalid_argument("the field 'shaders' of 'inside' has to be an object of texts");
    for (const auto& [file, lines] : found->items()) texts[file] = textFrom(file, lines);
    return texts;
}

} // namespace lockstep::demos
