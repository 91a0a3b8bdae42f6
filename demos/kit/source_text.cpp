#include "demos/kit/source_text.h"

#include <algorithm>

namespace lockstep::demos {

std::string_view textOf(const ShaderTexts& changed, std::string_view file) {
    const auto found = changed.find(file);
    return found == changed.end() ? sourceText(file) : found->second;
}

std::vector<std::string_view> linesOf(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

namespace {

/// The file that a line includes, if the program has it; else empty.
std::string includedBy(const ShaderTexts& changed, std::string_view line) {
    constexpr std::string_view word = "#include \"";
    if (!line.starts_with(word)) return {};
    const std::string_view rest = line.substr(word.size());
    std::string included(rest.substr(0, rest.find('"')));
    return textOf(changed, included).empty() ? std::string() : included;
}

void expand(const ShaderTexts& changed, const std::string& file, const std::vector<std::string>& kept,
            int depth, std::string& into) {
    constexpr int deepest = 16; // as the compiler's
    for (const std::string_view line : linesOf(textOf(changed, file))) {
        const std::string included = depth < deepest ? includedBy(changed, line) : std::string();
        if (included.empty() || std::ranges::find(kept, included) != kept.end())
            into.append(line).append("\n");
        else
            expand(changed, included, kept, depth + 1, into);
    }
}

} // namespace

std::string withIncludesExpanded(const ShaderTexts& changed, const std::string& file,
                                 const std::vector<std::string>& kept) {
    std::string text;
    expand(changed, file, kept, 0, text);
    return text;
}

std::vector<std::string> withIncludes(const ShaderTexts& changed, const std::string& file) {
    std::vector<std::string> files{file};
    for (std::size_t i = 0; i < files.size(); ++i)
        for (const std::string_view line : linesOf(textOf(changed, files[i]))) {
            const std::string included = includedBy(changed, line);
            if (included.empty() || std::ranges::find(files, included) != files.end()) continue;
            files.push_back(included);
        }
    return files;
}

std::vector<std::string> stepShaders() {
    constexpr std::string_view operations[] = {"gather_batch", "dense", "loss", "update", "whole_step"};
    constexpr std::string_view ending = ".comp";
    std::vector<std::string> shaders;
    for (std::string_view name : sourceNames()) {
        const auto begins = [name](std::string_view operation) { return name.starts_with(operation); };
        if (!name.ends_with(ending) || std::ranges::none_of(operations, begins)) continue;
        name.remove_suffix(ending.size());
        shaders.emplace_back(name);
    }
    return shaders;
}

bool isStepShaderFile(std::string_view file) {
    return std::ranges::any_of(stepShaders(), [file](const std::string& shader) {
        const std::vector<std::string> files = withIncludes({}, shader + ".comp");
        return std::ranges::find(files, file) != files.end();
    });
}

} // namespace lockstep::demos
