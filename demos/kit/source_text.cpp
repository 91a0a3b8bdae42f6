#include "demos/kit/source_text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>

#include <nlohmann/json.hpp>
#include <shaderc/shaderc.hpp>

#include "engine/net/names.h"
#include "engine/platform/apart.h"

namespace lockstep::demos {

using platform::ApartEnd;
using platform::ApartOutcome;
using platform::ApartWork;

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

constexpr std::string_view sourceKeywords[] = {
    "break",  "buffer",    "case",    "class",    "const",  "constexpr", "continue", "default",
    "do",     "else",      "flat",    "for",      "if",     "in",        "inline",   "inout",
    "layout", "namespace", "out",     "readonly", "return", "shared",    "static",   "struct",
    "switch", "template",  "uniform", "using",    "while",  "writeonly"};
constexpr std::string_view sourceTypes[] = {
    "auto",  "bool",  "char", "double", "f16vec4", "float",        "float16_t", "int",
    "ivec2", "ivec4", "mat4", "std",    "uint",    "uimageBuffer", "uvec2",     "uvec3",
    "uvec4", "vec2",  "vec3", "vec4",   "void",    "size_t"};

bool isNamePart(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

SourceWord wordOf(std::string_view word) {
    if (word.front() >= '0' && word.front() <= '9') return SourceWord::number;
    if (std::ranges::find(sourceKeywords, word) != std::end(sourceKeywords)) return SourceWord::keyword;
    const bool type =
        word.starts_with("gl_") || std::ranges::find(sourceTypes, word) != std::end(sourceTypes);
    return type ? SourceWord::type : SourceWord::other;
}

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

// What an include brings, alive until shaderc gives it back.
struct Included {
    std::string name;
    std::string text;
    shaderc_include_result result{};
};

class Includer final : public shaderc::CompileOptions::IncluderInterface {
  public:
    explicit Includer(const ShaderTexts& changed) : changed_(changed) {}

    // An empty name says that it failed, and why.
    shaderc_include_result* GetInclude(const char* requested, shaderc_include_type, const char*,
                                       std::size_t depth) override {
        constexpr std::size_t deepest = 16;
        auto included = std::make_unique<Included>();
        const std::string_view text = textOf(changed_, requested);
        if (depth > deepest)
            included->text = "circular #include";
        else if (text.empty())
            included->text = "the program has no file of this name";
        else {
            included->name = requested;
            included->text = text;
        }
        included->result = {included->name.data(), included->name.size(), included->text.data(),
                            included->text.size(), included.get()};
        return &included.release()->result;
    }

    void ReleaseInclude(shaderc_include_result* result) override {
        delete static_cast<Included*>(result->user_data);
    }

  private:
    const ShaderTexts& changed_;
};

/// "FILE:LINE: error: MESSAGE", or without LINE or FILE; nothing for other lines, such as "1 error
/// generated."
std::optional<CompileError> errorFrom(std::string_view line, const std::string& file) {
    constexpr std::string_view word = "error: ";
    const std::size_t at = line.find(word);
    if (at == std::string_view::npos) return std::nullopt;
    CompileError error{file, 0, std::string(line.substr(at + word.size()))};
    std::string_view place = line.substr(0, at); // "dense_naive.comp:23: "
    const std::size_t colon = place.find(':');
    if (colon == std::string_view::npos || colon == 0) return error;
    error.file = place.substr(0, colon);
    place.remove_prefix(colon + 1);
    std::from_chars(place.data(), place.data() + place.size(), error.line);
    return error;
}

std::vector<CompileError> errorsFrom(const std::string& log, const std::string& file) {
    constexpr std::size_t most = 20; // more than anybody reads
    std::vector<CompileError> errors;
    for (const std::string_view line : linesOf(log)) {
        const std::optional<CompileError> error = errorFrom(line, file);
        if (error && errors.size() < most && std::ranges::find(errors, *error) == errors.end())
            errors.push_back(*error);
    }
    if (errors.empty()) errors.push_back({file, 0, log.empty() ? "it does not compile" : log.substr(0, 400)});
    return errors;
}

std::vector<std::string> shadersBeginning(std::initializer_list<std::string_view> words) {
    constexpr std::string_view ending = ".comp";
    std::vector<std::string> shaders;
    for (std::string_view name : sourceNames()) {
        const auto begins = [name](std::string_view word) { return name.starts_with(word); };
        if (!name.ends_with(ending) || std::ranges::none_of(words, begins)) continue;
        name.remove_suffix(ending.size());
        shaders.emplace_back(name);
    }
    return shaders;
}

/// The compiler takes a text without this line for another language, and prints pages about it.
bool beginsWithVersion(std::string_view text) {
    for (std::string_view line : linesOf(text)) {
        line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
        if (line.empty() || line.starts_with("//")) continue;
        return line.starts_with("#version 450");
    }
    return false;
}

constexpr std::string_view compiled = "compiled"; // what follows is SPIR-V, else errors

const shaderc::Compiler& compiler() {
    // For good: with the last compiler, glslang forgets its built-in functions, and parsing them took most of
    // the time.
    static const shaderc::Compiler compiler;
    static const bool warm = compiler
                                 .CompileGlslToSpv("#version 450\nvoid main() {}", shaderc_compute_shader, "",
                                                   shaderc::CompileOptions())
                                 .GetNumErrors() == 0;
    static_cast<void>(warm);
    return compiler;
}

/// Takes a shader's stem and the changed texts as MessagePack.
std::string compileOf(const std::string& input) {
    const nlohmann::json read = nlohmann::json::from_msgpack(input);
    const std::string file = read.at(0).get<std::string>() + ".comp";
    const auto changed = read.at(1).get<ShaderTexts>();
    shaderc::CompileOptions options;
    options.SetTargetEnvironment(shaderc_target_env_vulkan, shaderc_env_version_vulkan_1_2);
    options.SetOptimizationLevel(shaderc_optimization_level_performance);
    options.SetForcedVersionProfile(450, shaderc_profile_none);
    options.SetSuppressWarnings();
    options.SetGenerateDebugInfo(); // where its loops are
    options.SetIncluder(std::make_unique<Includer>(changed));
    const std::string_view text = textOf(changed, file);
    const shaderc::SpvCompilationResult result =
        compiler().CompileGlslToSpv(text.data(), text.size(), shaderc_compute_shader, file.c_str(), options);
    const std::string errors = result.GetErrorMessage();
    if (result.GetCompilationStatus() != shaderc_compilation_status_success)
        return errors.empty() ? throw std::bad_alloc() : errors; // it has run out of memory
    return std::string(compiled).append(reinterpret_cast<const char*>(result.cbegin()),
                                        reinterpret_cast<const char*>(result.cend()));
}

const ApartWork compilation("compile", compileOf);

/// Why the compiler has returned nothing.
const char* whyItEnded(ApartEnd end) {
    switch (end) {
    case ApartEnd::division:
        return "the compiler stops at a division of constants that has no result: by 0, or -2147483648 / -1 "
               "(also with %)";
    case ApartEnd::outOfTime:
        return "the compiler does not get to its end in 10 seconds; does a macro or an expression grow "
               "endlessly?";
    case ApartEnd::outOfMemory:
        return "the compiler needs more than a gigabyte; does a macro or an expression grow endlessly?";
    case ApartEnd::notStarted: return "the system has no memory left for the compiler; close other programs";
    case ApartEnd::crashed:
    case ApartEnd::threw: return "the compiler crashes; is an expression or a block nested very deeply?";
    default: throw std::logic_error("the compiler has finished");
    }
}

} // namespace

std::vector<SourcePiece> sourcePieces(std::string_view line) {
    std::vector<SourcePiece> pieces;
    const auto add = [&](std::size_t length, SourceWord word) {
        pieces.push_back({line.substr(0, length), word});
        line.remove_prefix(length);
    };
    if (line.starts_with('#')) add(std::min(line.find("//"), line.size()), SourceWord::directive);
    while (!line.empty()) {
        if (line.starts_with("//")) {
            add(line.size(), SourceWord::comment);
        } else if (isNamePart(line.front())) {
            const bool number = line.front() <= '9'; // its point and exponent belong to it
            std::size_t end = 1;
            while (end < line.size() && (isNamePart(line[end]) || (number && line[end] == '.'))) ++end;
            add(end, wordOf(line.substr(0, end)));
        } else {
            std::size_t end = 1;
            while (end < line.size() && !isNamePart(line[end]) && !line.substr(end).starts_with("//")) ++end;
            add(end, SourceWord::other);
        }
    }
    return pieces;
}

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
    return shadersBeginning({"gather_batch", "dense", "loss", "update", "whole_step"});
}

std::vector<std::string> labShaders() { return shadersBeginning({"lab_"}); }

bool isStepShaderFile(std::string_view file) {
    return std::ranges::any_of(stepShaders(), [file](const std::string& shader) {
        const std::vector<std::string> files = withIncludes({}, shader + ".comp");
        return std::ranges::find(files, file) != files.end();
    });
}

std::string describe(const CompileError& error) {
    return placeInFile(error.file, error.line) + ": " + error.message;
}

CompiledShader compileShader(const std::string& stem, const ShaderTexts& changed) {
    const std::string file = stem + ".comp";
    if (!beginsWithVersion(textOf(changed, file)))
        return {{}, {{file, 1, "the first line must be #version 450"}}};
    static_cast<void>(compiler()); // a copy has it as it is
    const std::vector<std::uint8_t> input = nlohmann::json::to_msgpack({stem, changed});
    const ApartOutcome outcome = compilation.run({input.begin(), input.end()});
    if (outcome.end != ApartEnd::finished) return {{}, {{file, 0, whyItEnded(outcome.end)}}};
    const std::string& output = outcome.output;
    if (!output.starts_with(compiled)) return {{}, errorsFrom(output, file)};
    std::vector<std::uint32_t> words((output.size() - compiled.size()) / sizeof(std::uint32_t));
    constexpr std::size_t most = 1 << 18; // drivers take minutes for more
    if (words.size() > most) return {{}, {{file, 0, "it is too long once it is compiled"}}};
    std::memcpy(words.data(), output.data() + compiled.size(), words.size() * sizeof(std::uint32_t));
    return {std::move(words), {}};
}

} // namespace lockstep::demos
