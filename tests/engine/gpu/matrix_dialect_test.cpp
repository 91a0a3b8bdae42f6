// Cooperative matrices in NVIDIA's words, translated into Khronos': what every instruction becomes.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/gpu/matrix_dialect.h"
#include "engine/gpu/reflection.h"
#include "engine/step/shaders.h"

using namespace lockstep;

namespace {

using Words = std::vector<std::uint32_t>;

struct Instruction {
    std::uint32_t opcode;
    Words operands;
};

std::vector<Instruction> instructionsOf(std::span<const std::uint32_t> words) {
    std::vector<Instruction> all;
    for (std::size_t at = 5; at < words.size(); at += words[at] >> 16) {
        REQUIRE((words[at] >> 16) > 0);
        REQUIRE(at + (words[at] >> 16) <= words.size());
        const auto operands = words.subspan(at + 1, (words[at] >> 16) - 1);
        all.push_back({words[at] & 0xFFFF, {operands.begin(), operands.end()}});
    }
    return all;
}

std::size_t countOf(const std::vector<Instruction>& all, std::uint32_t opcode) {
    return static_cast<std::size_t>(std::ranges::count(all, opcode, &Instruction::opcode));
}

// Numbers as the specification has them.
constexpr std::uint32_t typeInt = 21, constantTrue = 41, constant = 43;
constexpr std::uint32_t typeNv = 5358, loadNv = 5359, storeNv = 5360, mulAddNv = 5361;
constexpr std::uint32_t typeKhr = 4456, loadKhr = 4457, storeKhr = 4458, mulAddKhr = 4459;
constexpr std::uint32_t matricesNv = 5357, matricesKhr = 6022; // capabilities

// A module of matrices alone, as far as the translation looks: types 10 to 12 are [M][K], [K][N] and [M][N].
Words smallModule(std::uint32_t columnMajor, std::uint32_t thirdFactor, std::uint32_t isSigned) {
    Words words{0x07230203, 0x00010500, 0, 40, 0};
    const auto put = [&](std::uint32_t opcode, const Words& operands) {
        words.push_back(static_cast<std::uint32_t>(operands.size() + 1) << 16 | opcode);
        words.insert(words.end(), operands.begin(), operands.end());
    };
    put(17, {matricesNv});
    put(typeInt, {1, 32, 0});
    put(typeInt, {2, 8, isSigned});
    put(constant, {1, 3, 16});
    put(constantTrue, {4, 5});
    for (const std::uint32_t type : {10u, 11u, 12u}) put(typeNv, {type, 2, 3, 3, 3});
    put(loadNv, {10, 20, 30, 31, columnMajor});
    put(loadNv, {11, 21, 30, 31, columnMajor, 1, 32}); // with memory operands
    put(mulAddNv, {12, 22, 20, 21, thirdFactor});
    put(storeNv, {30, 22, 31, columnMajor});
    return words;
}

} // namespace

TEST_CASE("the engine's shaders with matrices are translated whole") {
    for (const char* name : {"dense_matrix", "dense_backward_inputs_matrix", "dense_backward_weights_matrix",
                             "roof_matrix", "roof_matrix_int8"}) {
        CAPTURE(name);
        const auto words = shaderWords(name);
        REQUIRE(gpu::reflect(words, {}, name).matrices == gpu::MatrixDialect::nv);
        const Words translated = gpu::toKhrMatrices(words, name);
        const gpu::ShaderInfo before = gpu::reflect(words, {}, name);
        const gpu::ShaderInfo after = gpu::reflect(translated, {}, name);
        CHECK(after.matrices == gpu::MatrixDialect::khr);
        CHECK(after.bindings.size() == before.bindings.size());
        CHECK(after.sharedBytes == before.sharedBytes);

        const std::vector<Instruction> nv = instructionsOf(words);
        const std::vector<Instruction> khr = instructionsOf(translated);
        for (const auto& [from, to] :
             {std::pair{typeNv, typeKhr}, {loadNv, loadKhr}, {storeNv, storeKhr}, {mulAddNv, mulAddKhr}}) {
            CHECK(countOf(khr, from) == 0);
            CHECK(countOf(khr, to) == countOf(nv, from));
        }
        CHECK(countOf(khr, mulAddKhr) > 0);
        // All ids stay below the bound, and factors and sums have the uses 0, 1 and 2.
        std::map<std::uint32_t, std::uint32_t> numbers;
        std::set<std::uint32_t> uses;
        for (const Instruction& each : khr) {
            if (each.opcode == constant) numbers[each.operands[1]] = each.operands[2];
            if (each.opcode == typeKhr) uses.insert(numbers.at(each.operands[5]));
            if (each.opcode == constant) CHECK(each.operands[1] < translated[3]);
        }
        CHECK(uses == std::set<std::uint32_t>{0, 1, 2});
        for (const Instruction& each : khr) { // signed integers alone need to be named
            if (each.opcode != mulAddKhr) continue;
            const bool integers = std::string_view(name) == "roof_matrix_int8";
            CHECK(each.operands.size() == (integers ? 6 : 5));
            if (integers) CHECK(each.operands.back() == 0xF);
        }
        const std::string text(reinterpret_cast<const char*>(translated.data()), translated.size() * 4);
        CHECK(text.find("SPV_KHR_cooperative_matrix") != std::string::npos);
        CHECK(text.find("SPV_NV_cooperative_matrix") == std::string::npos);
    }
}

TEST_CASE("order, stride, memory operands and signs find their places") {
    const std::vector<Instruction> khr = instructionsOf(gpu::toKhrMatrices(smallModule(5, 22, 1), "small"));
    std::map<std::uint32_t, std::uint32_t> numbers;
    std::vector<Words> loads;
    for (const Instruction& each : khr) {
        if (each.opcode == constant) numbers[each.operands[1]] = each.operands[2];
        if (each.opcode == loadKhr) loads.push_back(each.operands);
        if (each.opcode == 17) CHECK(each.operands[0] == matricesKhr);
        if (each.opcode == mulAddKhr) CHECK(each.operands == Words{12, 22, 20, 21, 22, 0xF});
        if (each.opcode == storeKhr) {
            CHECK(each.operands.size() == 4);
            CHECK(numbers.at(each.operands[2]) == 1);
            CHECK(each.operands[3] == 31);
        }
    }
    REQUIRE(loads.size() == 2);
    CHECK(numbers.at(loads[0][3]) == 1); // columns
    CHECK(loads[0][4] == 31);            // the stride
    CHECK(Words(loads[1].begin() + 5, loads[1].end()) == Words{1, 32});
    for (const Instruction& each : instructionsOf(gpu::toKhrMatrices(smallModule(5, 22, 0), "small")))
        if (each.opcode == mulAddKhr) CHECK(each.operands.size() == 5); // unsigned: no operand more
}

TEST_CASE("what cannot be translated is refused") {
    CHECK_THROWS_WITH(gpu::toKhrMatrices(smallModule(9, 22, 1), "small"),
                      doctest::Contains("'small' stores matrices in an order that is no constant"));
    CHECK_THROWS_WITH(gpu::toKhrMatrices(smallModule(5, 20, 1), "small"),
                      doctest::Contains("both as factor and as sum"));
    CHECK_THROWS_WITH(gpu::toKhrMatrices(smallModule(5, 33, 1), "small"), doctest::Contains("unknown type"));
    const Words whole = smallModule(5, 22, 1);
    for (std::size_t length = 0; length < whole.size();
         ++length) // cut anywhere, it throws or ends, and reads no further
        try {
            gpu::toKhrMatrices(std::span(whole).first(length), "small");
        } catch (const std::runtime_error&) {
        }
    CHECK_THROWS_AS(gpu::toKhrMatrices(std::span(whole).first(3), "small"), std::runtime_error);
}
