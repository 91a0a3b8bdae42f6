// What a changed shader may try to do to the machine: it never ends, it grows, it writes where it should not.
#include <doctest/doctest.h>

#include <chrono>

#include <spirv/unified1/spirv.hpp>

#include "demos/kit/run_apart.h"
#include "engine/gpu/loop_limit.h"
#include "engine/step/shaders.h"
#include "tests/shader_trials.h"

using namespace lockstep;
using namespace lockstep::demos;
using namespace lockstep::test;

namespace {

std::size_t linesBefore(const std::string& file, const std::string& what) {
    const std::string_view text = sourceText(file);
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string_view::npos);
    return static_cast<std::size_t>(
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

/// The places of the loops that are counted in a shader of this text.
std::vector<std::string> countedLoops(const std::string& body, const gpu::SpecConstants& constants = {}) {
    const std::string text = "#version 450\nlayout(local_size_x = 8) in;\n"
                             "layout(constant_id = 7) const uint size = 8;\n"
                             "layout(binding = 0) buffer Data { uint data[]; };\n"
                             "void main() {\nuint n = data[0], sum = 0, at = gl_LocalInvocationIndex;\n" +
                             body + "\ndata[at] = sum;\n}\n";
    const CompiledShader compiled = compileShader("update", {{"update.comp", text}});
    REQUIRE(compiled.errors.empty());
    std::vector<std::string> places;
    const auto number = [&](const std::string& place) {
        places.push_back(place);
        return static_cast<std::uint32_t>(places.size());
    };
    const auto words =
        gpu::limitLoops(compiled.words, constants, "update", gpu::LoopReport{.binding = 1, .number = number});
    CHECK((words.size() > compiled.words.size()) == !places.empty());
    CHECK(gpu::reflect(words, constants, "update").bindings.size() == (places.empty() ? 1 : 2));
    return places;
}

} // namespace

TEST_CASE("a loop that never ends is stopped, and named") {
    const Dataset data = classData();
    const std::string loop = "float sum = 0.0;";
    const auto line = std::to_string(linesBefore("dense_naive.comp", loop) + 2);
    for (const char* endless : {"while (true) { sum += 1.0; if (sum < 0.0) break; }",
                                "for (uint i = 0; i < 0xFFFFFFFFu; ++i) sum += inputs[i % 4];",
                                "uint i = 0; do { sum += 1.0; i += 2; } while (i != 1);"}) {
        CAPTURE(endless);
        const auto texts = changed("dense_naive.comp", loop, loop + "\n" + endless);
        const std::string message = refusal(smallJob(data), texts);
        CAPTURE(message);
        CHECK(contains(message, "dense_naive.comp:" + line + ": the loop was stopped"));
    }
}

TEST_CASE("invocations that wait for each other are stopped, too") {
    const Dataset data = classData();
    const std::string loop = "barrier();";
    const auto texts = changed("product_tiled.glsl", loop, "while (productK() > 0) { " + loop + " }");
    const std::string message = refusal(smallJob(data), texts, Rung::tiled);
    CAPTURE(message);
    CHECK(contains(message, "the loop was stopped"));
}

TEST_CASE("loops between constants are not counted, as far as they are short") {
    CHECK(countedLoops("for (uint i = 0; i < 100; ++i) sum += data[i];").empty());
    CHECK(countedLoops("for (int i = -4; i <= 4; ++i) sum += data[at + i];").empty());
    CHECK(countedLoops("for (uint i = at; i < 256; i += 8) sum += data[i];").empty());
    CHECK(countedLoops("for (uint s = 128; s > 0; s >>= 1) sum += data[s];").empty());
    CHECK(countedLoops("for (uint i = 0; i < size * 8; ++i) sum += data[i];").empty());
    CHECK(countedLoops("for (uint i = 0; i < 256; ++i) for (uint j = 0; j < 256; ++j) sum += data[i * j];")
              .empty());
    const std::vector<std::string> seventh{"update.comp:7"};
    CHECK(countedLoops("for (uint i = 0; i < 65537; ++i) sum += data[i];") == seventh);
    CHECK(countedLoops("for (uint i = 0; i < 256; ++i) for (uint j = 0; j < 257; ++j) sum += data[i * j];") ==
          seventh); // the inner one
    CHECK(countedLoops("for (uint i = 0; i < n; ++i) sum += data[i];") == seventh);
    CHECK(countedLoops("for (int i = int(n); i < 10; ++i) sum += data[i];") == seventh);
    CHECK(countedLoops("for (uint i = 0; i < 100; ++i) i -= sum += data[i];") == seventh);
    CHECK(countedLoops("for (uint i = 0; i < size * 8; ++i) sum += data[i];", {{7, 1u << 20}}) == seventh);
    std::string many; // each is short
    for (int i = 0; i < 100; ++i) many += "for (uint i = 0; i < 60000; ++i) sum += data[i];\n";
    CHECK(countedLoops(many).size() == 83); // 17 x 60,000 rounds are a million
}

TEST_CASE("every shader of a step has the same bindings with its loops counted") {
    std::size_t counted = 0;
    for (const std::string& shader : stepShaders()) {
        CAPTURE(shader);
        const CompiledShader compiled = compileShader(shader, {});
        const auto words = gpu::limitLoops(compiled.words, {}, shader, std::nullopt);
        if (words.size() > compiled.words.size()) ++counted;
        CHECK(gpu::reflect(words, {}, shader).bindings.size() ==
              gpu::reflect(compiled.words, {}, shader).bindings.size());
    }
    CHECK(counted >= 5);
}

TEST_CASE("macros that grow for ever end the compiler, and nothing else") {
    std::string text = "#version 450\n#define A0 sum += 1.0;\n";
    for (int i = 1; i < 48; ++i) {
        const std::string before = " A" + std::to_string(i - 1);
        text += "#define A" + std::to_string(i) + before + before + "\n";
    }
    text += "void main() {\nfloat sum = 0.0;\nA47\n}\n";
    const CompiledShader compiled = compileShader("update", {{"update.comp", text}});
    REQUIRE(compiled.errors.size() == 1);
    CAPTURE(compiled.errors[0].message);
    CHECK(contains(compiled.errors[0].message, "the compiler does not get to its end"));
    CHECK(compileShader("update", {}).errors.empty()); // as ever
}

TEST_CASE("an expression too deep for the compiler ends the compiler, and nothing else") {
    std::string text =
        "#version 450\nlayout(binding = 0) buffer Data { float data[]; };\nvoid main() {\ndata[0] = data[1]";
    for (int i = 0; i < 200'000; ++i) text += "*data[2]";
    const CompiledShader compiled = compileShader("update", {{"update.comp", text + ";\n}\n"}});
    REQUIRE(compiled.errors.size() == 1);
    CHECK(compiled.words.empty());
}

TEST_CASE("a text of a megabyte is compiled or refused") {
    const std::string head = "#version 450\nvoid main() {\nfloat sum = 0.0;\n";
    std::string comments = head;
    while (comments.size() < 1'000'000) comments += "// nothing\n";
    CHECK(compileShader("update", {{"update.comp", comments + "}\n"}}).errors.empty());
    std::string blocks = head;
    while (blocks.size() < 1'000'000) blocks += "{";
    CHECK(!compileShader("update", {{"update.comp", blocks}}).errors.empty());
    std::string statements =
        "#version 450\nlayout(binding = 0) buffer Data { float data[]; };\nvoid main() {\n";
    while (statements.size() < 1'000'000) statements += "data[gl_LocalInvocationIndex] += sin(data[3]);\n";
    const CompiledShader compiled = compileShader("update", {{"update.comp", statements + "}\n"}});
    REQUIRE(compiled.errors.size() == 1);
    CHECK(compiled.words.empty());
}

TEST_CASE("work apart returns its result; a crash, an endless loop and hunger return nothing") {
    CHECK(runApart([] { return std::string(300'000, 'x'); }, {}) == std::string(300'000, 'x'));
    CHECK(runApart([]() -> std::string { std::abort(); }, {}) == std::nullopt);
    CHECK(runApart([]() -> std::string { throw std::runtime_error("no"); }, {}) == std::nullopt);
    const auto start = std::chrono::steady_clock::now();
    const auto endless = [] {
        volatile std::uint64_t rounds = 0;
        while (rounds < ~std::uint64_t{0}) rounds = rounds + 1;
        return std::string();
    };
    CHECK(runApart(endless, {.seconds = 1}) == std::nullopt);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
    const auto hungry = [] { return std::string(std::size_t{1} << 31, 'x').substr(0, 1); };
    CHECK(runApart(hungry, {.moreMemory = 1 << 28}) == std::nullopt);
}
