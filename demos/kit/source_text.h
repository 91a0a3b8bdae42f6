// The program's own sources, embedded when it is built, the changes that a user has made to them, and a
// compiler for changed shaders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::demos {

/// The built-in text of a file by its name ("dense_blocked.comp", "plain_ops.cpp"); empty when there is none.
std::string_view sourceText(std::string_view name);
/// The names of all files.
std::vector<std::string_view> sourceNames();

/// Changed texts of shaders and of what they include, by file name: "dense_naive.comp", "activation.glsl".
using ShaderTexts = std::map<std::string, std::string, std::less<>>;

/// A file's text: the changed one, or the built-in one; empty when there is no such file. Valid as long as
/// `changed` stays as it is.
std::string_view textOf(const ShaderTexts& changed, std::string_view file);

std::vector<std::string_view> linesOf(std::string_view text);

enum class SourceWord { other, keyword, type, number, comment, directive };

struct SourcePiece {
    std::string_view text;
    SourceWord word = SourceWord::other;

    bool operator==(const SourcePiece&) const = default;
};

/// A line of GLSL or C++, in pieces to be coloured; together they are the line. Comments over several lines
/// and texts in quotes, which the kernels do not have, are taken for code.
std::vector<SourcePiece> sourcePieces(std::string_view line);

/// The file and what it includes, each once, in the order of first mention.
std::vector<std::string> withIncludes(const ShaderTexts& changed, const std::string& file);

/// The file's text with every include replaced by the included text, so that the order of lines is that in
/// which a compiler reads them. Files named in `kept` stay as they are included.
std::string withIncludesExpanded(const ShaderTexts& changed, const std::string& file,
                                 const std::vector<std::string>& kept = {});

/// The shaders that training steps are made of, on any rung: "dense_naive".
std::vector<std::string> stepShaders();
/// The shaders of experiments on parallelism: "lab_sum".
std::vector<std::string> labShaders();
/// A shader of a training step, or something that one includes: what may be changed.
bool isStepShaderFile(std::string_view file);

struct CompileError {
    std::string file;     ///< "dense_naive.comp", or what it includes
    std::size_t line = 0; ///< from 1; 0: the file as a whole
    std::string message;

    bool operator==(const CompileError&) const = default;
};

/// "dense_naive.comp:23: 'foo' : undeclared identifier".
std::string describe(const CompileError& error);

struct CompiledShader {
    std::vector<std::uint32_t> words; ///< SPIR-V; empty when there are errors
    std::vector<CompileError> errors;
};

/// Compiles the compute shader <stem>.comp as the build does (Vulkan 1.2, optimised). Includes are the
/// changed texts and the embedded ones, never files. Any thread.
CompiledShader compileShader(const std::string& stem, const ShaderTexts& changed);

} // namespace lockstep::demos
