// The same bits, whatever is fused: a driver may contract a product and a sum to one instruction, which
// rounds once, and do so in one kernel and not in another. It may not where SPIR-V says NoContraction.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <spirv/unified1/spirv.hpp>

#include "demos/kit/source_text.h"
#include "engine/step/shaders.h"

using namespace lockstep;
using namespace lockstep::demos;

namespace {

/// The files whose arithmetic several kernels include: the optimizer's step, the terms of the losses, and the
/// functions that these and the activations are made of.
const std::set<std::string, std::less<>> sharedArithmetic{
    "update.glsl",     "loss.glsl", "loss_terms.glsl",      "population_loss.glsl",
    "activation.glsl", "math.glsl", "population_step.glsl", // the optimizer's numbers of each network
};

struct Arithmetic {
    std::map<std::string, std::size_t> exact; ///< instructions that are not to be contracted, by file
    std::set<std::string> loose;              ///< the other ones of the files above: "update.glsl:31"
    std::size_t decorated = 0;                ///< in all files
};

bool rounds(std::uint32_t opcode) {
    switch (opcode) {
    case spv::OpFAdd:
    case spv::OpFSub:
    case spv::OpFMul:
    case spv::OpFDiv:
    case spv::OpDot:
    case spv::OpVectorTimesScalar: return true;
    default: return false; // GLSL's fma() is one operation in any case
    }
}

/// `words` from a compiler that leaves the lines of the text in them; built-in shaders have none.
Arithmetic arithmeticOf(std::span<const std::uint32_t> words) {
    constexpr std::size_t header = 5;
    Arithmetic found;
    std::set<std::uint32_t> exact;
    std::map<std::uint32_t, std::string> files;
    std::string file;
    std::uint32_t line = 0;
    for (std::size_t at = header; at < words.size(); at += words[at] >> 16) {
        const std::uint32_t opcode = words[at] & 0xFFFFu;
        const auto operands = words.subspan(at + 1, (words[at] >> 16) - 1);
        if (opcode == spv::OpDecorate && operands[1] == spv::DecorationNoContraction)
            exact.insert(operands[0]);
        if (opcode == spv::OpString) files[operands[0]] = reinterpret_cast<const char*>(&operands[1]);
        if (opcode == spv::OpLine) {
            file = files[operands[0]];
            line = operands[1];
        }
        if (!rounds(opcode)) continue;
        const bool kept = exact.contains(operands[1]);
        if (kept) ++found.decorated;
        if (!sharedArithmetic.contains(file)) continue;
        if (kept)
            ++found.exact[file];
        else
            found.loose.insert(file + ":" + std::to_string(line));
    }
    return found;
}

/// The kernels that hold an optimizer's step or terms of a loss.
std::vector<std::string> kernelsThatRound() {
    std::vector<std::string> kernels;
    for (const std::string_view name : sourceNames()) {
        if (!name.ends_with(".comp")) continue;
        const std::vector<std::string> files = withIncludes({}, std::string(name));
        const bool rounds = std::ranges::any_of(files, [](const std::string& each) {
            return each == "update.glsl" || each == "loss_terms.glsl";
        });
        if (rounds) kernels.emplace_back(name.substr(0, name.size() - 5));
    }
    return kernels;
}

Arithmetic compiledArithmetic(const std::string& shader, const ShaderTexts& changed) {
    const CompiledShader compiled = compileShader(shader, changed);
    REQUIRE(compiled.errors.empty());
    return arithmeticOf(compiled.words);
}

} // namespace

TEST_CASE("nothing of an update or of a loss may be contracted, in any kernel") {
    const std::vector<std::string> kernels = kernelsThatRound();
    for (const char* known :
         {"update", "update_half", "weight_gradients", "dense_backward_weights_update_texel",
          "loss_and_gradient", "last_layer", "score", "whole_step", "population_invocation",
          "population_workgroup", "population_score_looped"})
        CHECK(std::ranges::count(kernels, known) == 1);
    for (const std::string& kernel : kernels) {
        CAPTURE(kernel);
        const Arithmetic arithmetic = compiledArithmetic(kernel, {});
        for (const std::string& place : arithmetic.loose) FAIL_CHECK(place << " may be contracted");
        const std::vector<std::string> files = withIncludes({}, kernel + ".comp");
        for (const char* file : {"update.glsl", "loss.glsl", "loss_terms.glsl", "population_loss.glsl"})
            if (std::ranges::count(files, file) > 0) CHECK(arithmetic.exact.contains(file));
        // The built-in shader, which has no lines, is the same program.
        CHECK(arithmeticOf(shaderWords(kernel)).decorated == arithmetic.decorated);
    }
}

TEST_CASE("a formula without `precise` is found") {
    const auto without = [](const std::string& kernel, const std::string& file, const std::string& head) {
        std::string text(sourceText(file));
        const std::size_t at = text.find("precise " + head);
        REQUIRE(at != std::string::npos);
        text.erase(at, std::string("precise ").size());
        return compiledArithmetic(kernel, {{file, text}}).loose;
    };
    CHECK(without("weight_gradients", "update.glsl", "PARAMETERS updated(").size() == 2);
    CHECK(without("score", "loss_terms.glsl", "float lossTerm(").size() == 4);
    CHECK(without("loss_and_gradient", "math.glsl", "float logarithm(").size() > 3);
}
