// Compiles the program's own shaders while it runs, with the changes that a person has made to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "demos/kit/source_text.h"

namespace lockstep::demos {

struct CompileError {
    std::string file;     ///< "dense_naive.comp", or what it includes
    std::size_t line = 0; ///< from 1; 0: the file as a whole
    std::string message;

    bool operator==(const CompileError&) const = default;
};

/// "dense_naive.comp, line 23: 'foo' : undeclared identifier".
std::string describe(const CompileError& error);

struct CompiledShader {
    std::vector<std::uint32_t> words; ///< SPIR-V; empty when there are errors
    std::vector<CompileError> errors;
};

/// Compiles the compute shader <stem>.comp as the build does (Vulkan 1.2, optimised). Includes are the
/// changed texts and the embedded ones, never files. Any thread.
CompiledShader compileShader(const std::string& stem, const ShaderTexts& changed);

} // namespace lockstep::demos
