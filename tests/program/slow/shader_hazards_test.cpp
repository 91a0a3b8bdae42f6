// What a changed shader may try to do to the machine: it never ends, it grows, it writes where it should not,
// it makes a driver crash.
#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <set>

#include <spirv-tools/libspirv.hpp>
#include <spirv/unified1/spirv.hpp>

#include "engine/gpu/bounded_access.h"
#include "engine/gpu/buffer.h"
#include "engine/gpu/error.h"
#include "engine/gpu/loop_limit.h"
#include "engine/gpu/recorder.h"
#include "engine/gpu/shader_rules.h"
#include "engine/platform/apart.h"
#include "engine/step/shaders.h"
#include "tests/shader_trials.h"

using namespace lockstep;
using namespace lockstep::demos;
using namespace lockstep::platform;
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

/// What a validator says against the module, with its loops counted; nothing if it is valid.
std::string invalid(const std::vector<std::uint32_t>& words, bool reported) {
    const gpu::LoopReport report{.binding = 9, .number = [](const std::string&) { return 1u; }};
    const auto limited =
        gpu::limitLoops(words, {}, "update", reported ? std::optional(report) : std::nullopt);
    spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_2);
    std::string said;
    tools.SetMessageConsumer([&](spv_message_level_t, const char*, const spv_position_t&, const char* text) {
        said.append(text).append("\n");
    });
    return tools.Validate(limited) ? "" : "invalid: " + said;
}

/// What an edited shader may have beside its statements.
struct Extras {
    std::string globals = {};
    std::string extensions = {};
};

/// A shader whose 64 invocations have their number, `i`, and `zero` and `one`, which the compiler does not
/// know. `body` begins on line 9.
std::string shaderText(const std::string& body, const Extras& extras) {
    return "#version 450\n" + extras.extensions +
           "#line 2\nlayout(local_size_x = 64) in;\n"
           "layout(binding = 0) buffer Data { uint data[]; };\n"
           "layout(push_constant) uniform Params { uint zero, one; };\n" +
           extras.globals + "\n#line 7\nvoid main() {\nuint i = gl_LocalInvocationIndex, sum = 0;\n" + body +
           "\ndata[i] = sum + zero;\n}\n";
}

struct HazardParams {
    std::uint32_t zero = 0, one = 1;
};

/// Compiles it as an edited shader and runs it on a device for trials. Returns data[], with the sum of every
/// invocation and 64 words behind them that are 77 as they were.
std::vector<std::uint32_t> hazardRun(const std::string& body, const Extras& extras = {}) {
    static gpu::Device device([] {
        gpu::DeviceOptions options = testDeviceOptions();
        options.robust = true;
        return options;
    }());
    const CompiledShader compiled = compileShader("update", {{"update.comp", shaderText(body, extras)}});
    if (!compiled.errors.empty()) throw std::runtime_error(describe(compiled.errors.front()));
    gpu::KernelSource source;
    source.name = "update";
    source.words = compiled.words;
    source.edited = true;
    const gpu::Kernel<HazardParams> kernel(device, source);
    const std::vector<std::uint32_t> data(128, 77);
    gpu::Buffer buffer(device, data.size() * sizeof(data[0]), gpu::Memory::device, "data");
    buffer.uploadValues<std::uint32_t>(data);
    gpu::Recorder recorder(device);
    recorder.begin();
    recorder.dispatch(kernel, {64, 1, 1}, HazardParams{}, {buffer.view()});
    recorder.submit();
    recorder.finish();
    return buffer.downloadValues<std::uint32_t>(data.size());
}

std::string hazardRefusal(const std::string& body, const Extras& extras = {}) {
    try {
        hazardRun(body, extras);
    } catch (const std::exception& error) {
        return error.what();
    }
    return "it runs";
}

std::string repeated(std::size_t times, const std::function<std::string(std::size_t)>& text) {
    std::string all;
    for (std::size_t k = 0; k < times; ++k) all += text(k);
    return all;
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

TEST_CASE("an invocation that leaves a loop early still comes to every barrier") {
    // What of the 64 invocations the first spends alone, in loops of each form.
    for (const char* endless :
         {"while (one > 0) sum += data[i];", "for (uint k = 0; k < 0xFFFFFFFFu * one; ++k) sum += data[i];",
          "do { sum += data[i]; } while (one > 0);", "while (true) { sum += data[i]; if (zero > 0) break; }",
          "for (;;) { for (uint k = 0; k < 4; ++k) sum += data[i]; if (zero == one) break; }"}) {
        CAPTURE(endless);
        const std::string body = "s[i] = 0;\nif (i == 0) { " + std::string(endless) +
                                 " }\nbarrier();\nfor (uint k = 0; k < 8 * one; ++k) {\n"
                                 "if (k % 8 == i % 8) s[i] = i;\nbarrier();\n}\nbarrier();\nsum = s[63 - i];";
        std::vector<std::uint32_t> expected(128, 77);
        for (std::uint32_t i = 0; i < 64; ++i) expected[i] = 63 - i;
        const Extras extras{.globals = "shared uint s[64];"};
        CHECK(hazardRun(body, extras) == expected);
        const CompiledShader compiled = compileShader("update", {{"update.comp", shaderText(body, extras)}});
        for (const bool reported : {false, true}) CHECK(invalid(compiled.words, reported) == "");
    }
    // Without an exit that every round passes, it returns.
    const std::string nested =
        "while (true) { if (data[i] > 3) { if (data[i + one] > 4) break; data[i] = 0; } sum += one; }";
    const CompiledShader compiled = compileShader("update", {{"update.comp", shaderText(nested, {})}});
    REQUIRE(compiled.errors.empty());
    const auto returns = [](std::span<const std::uint32_t> words) {
        std::size_t found = 0;
        for (std::size_t at = 5; at < words.size(); at += words[at] >> 16)
            if ((words[at] & 0xFFFFu) == spv::OpReturn) ++found;
        return found;
    };
    CHECK(returns(compiled.words) == 1);
    CHECK(returns(gpu::limitLoops(compiled.words, {}, "update", std::nullopt)) == 2);
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
        for (const bool reported : {false, true}) CHECK(invalid(compiled.words, reported) == "");
        CHECK(gpu::reflect(words, {}, shader).bindings.size() ==
              gpu::reflect(compiled.words, {}, shader).bindings.size());
    }
    CHECK(counted >= 5);
}

TEST_CASE("an index beyond an array is the last one, and never leaves it") {
    // What every invocation reads.
    struct Row {
        const char* globals;
        const char* body;
        std::uint32_t first; // the sum of invocation 0
        std::uint32_t sum;   // of the others
    };
    constexpr const char* shared4 = "shared uint s[4];";
    const Row rows[] = {
        {shared4, "if (i < 4) s[i] = 10 + i;\nbarrier();\nsum = s[i * 1000003u];", 10, 13},
        {shared4, "if (i < 4) s[i] = 10 + i;\nbarrier();\nsum = s[int(i) - 100];", 13, 13},
        {shared4, "if (i < 4) s[i] = 10 + i;\nbarrier();\nsum = s[i + 0x80000000u];", 13, 13},
        {shared4, "s[i * 1000003u + 4] = 5;\nbarrier();\nsum = s[3];", 5, 5},
        {shared4, "s[3] = 0;\nbarrier();\natomicAdd(s[i * 9999u + 4], 1);\nbarrier();\nsum = s[3];", 64, 64},
        {"struct A { uint v[2]; };\nstruct B { uint p; A m[3]; };\nshared B s[4];",
         "if (i < 24) s[i / 6].m[i / 2 % 3].v[i % 2] = i;\nbarrier();\nsum = s[i + 4].m[i + 3].v[i + 2];", 23,
         23},
        {"shared mat4 s;", "if (i < 16) s[i / 4][i % 4] = i;\nbarrier();\nsum = uint(s[i + 4][i + 4]);", 15,
         15},
        {"shared bool s[4];", "s[3] = true;\nbarrier();\nsum = s[i + 4] ? 1 : 0;", 1, 1},
        {"shared uint s[gl_WorkGroupSize.x];", "s[i] = i;\nbarrier();\nsum = s[i + 64];", 63, 63},
        {"", "uint a[4] = uint[4](1, 2, 3, 4);\nsum = a[i * 7919u];", 1, 4},
        {"", "uint a[4] = uint[4](1, 2, 3, 4);\na[i + 4] = 9;\nsum = a[3];", 9, 9},
        {"uint a[4];", "a[i * 99999u] = 9;\nsum = a[i == 0 ? 0 : 3];", 9, 9},
        {"", "const uint t[4] = uint[4](1, 2, 3, 4);\nsum = t[i + 4];", 4, 4},
        {"", "uvec4 v = uvec4(1, 2, 3, 4);\nsum = v[i + 4];", 4, 4},
        {"", "uvec4 v = uvec4(1, 2, 3, 4);\nv[i + 4] = 9;\nsum = v.w;", 9, 9},
        {"", "sum = gl_NumWorkGroups[i + 3];", 1, 1},
        {"void write(inout uint a[4], uint k) { a[k] = 6; }", "uint a[4];\nwrite(a, i + 4);\nsum = a[3];", 6,
         6},
        {shared4, "uint u;\nif (i < 4) s[i] = 10 + i;\nbarrier();\nsum = s[u];", 10,
         10}, // which has no value
        {shared4, "uint u[4];\nif (i < 4) s[i] = 10 + i;\nbarrier();\nsum = s[u[i]];", 10, 10},
        // Without elements, it has one.
        {"layout(constant_id = 40) const uint n = 4;\nshared uint s[n * 2 - 8];",
         "s[i + 1] = 5;\nbarrier();\nsum = s[i];", 5, 5},
        {"layout(constant_id = 40) const uint n = 4;\nshared uint s[n * 2 - 4];",
         "if (i < 4) s[i] = 10 + i;\nbarrier();\nsum = s[n * i + i * 1000u];", 10, 13},
    };
    for (const Row& row : rows) {
        CAPTURE(row.globals);
        CAPTURE(row.body);
        std::vector<std::uint32_t> expected(128, row.sum);
        expected[0] = row.first;
        std::fill(expected.begin() + 64, expected.end(), 77);
        CHECK(hazardRun(row.body, {row.globals}) == expected);
    }
}

TEST_CASE("an index beyond a buffer does no harm") {
    for (const char* body : {"data[i * 1000003u + 128] = 5;\nsum = data[i * 99999999u + 128] * 0;",
                             "data[0x3FFFFFFF] = 5;\nsum = data[0x10000000] * 0;",
                             "sum = atomicAdd(data[i * 99999u + 128], 1u) * 0;"}) {
        CAPTURE(body);
        std::vector<std::uint32_t> expected(128, 77);
        std::fill_n(expected.begin(), 64, 0);
        CHECK(hazardRun(body) == expected);
    }
}

TEST_CASE("divisions without a result have one, and end nothing") {
    struct Row {
        const char* body;
        std::uint32_t sum;
    };
    const std::string smallest = "int a = int(0x80000000u * one), b = -int(one);\n";
    const std::string constants =
        "layout(constant_id = 40) const int c = -1;\nlayout(constant_id = 41) const int "
        "m = -2147483648;\nlayout(constant_id = 42) const int z = 0;\n";
    const Row rows[] = {
        {"sum = uint(a / b);", 0x80000000u},
        {"sum = uint(a % b);", 0},
        {"sum = uint(a / int(zero)) + (7 * one) / zero + (7 * one) % zero;", 0x80000007u},
        {"sum = uint((ivec3(5, 7, a) / ivec3(int(zero), one, b)).z);", 0x80000000u},
        {"for (int k = 1; k >= -1; --k) sum += uint(a / k);", 0x80000000u}, // three times
        {"const int q = m / c;\nsum = uint(q);", 0x80000000u},
        {"const int q = m % c;\nsum = uint(q);", 0},
        {"const int q = m / z + m % z;\nsum = uint(q);", 0},
    };
    for (const Row& row : rows) {
        CAPTURE(row.body);
        CHECK(hazardRun(smallest + row.body, {constants})[5] == row.sum);
    }
    for (const char* body :
         {"int a = -2147483647 - 1;\nsum = uint(a / -1);", "int a = -2147483647 - 1;\nsum = uint(a % -1);"}) {
        const std::string message = hazardRefusal(body);
        CAPTURE(message);
        CHECK((message == "it runs" || contains(message, "a division of constants that has no result")));
    }
}

TEST_CASE("what only drivers could refuse is refused before, and named") {
    struct Row {
        const char* says;
        const char* extension; // after GL_, or empty
        std::string globals;
        std::string body;
    };
    const std::string pointers = "layout(buffer_reference, std430) buffer Pointer { uint v; };\n"
                                 "layout(binding = 1) buffer Pointers { Pointer pointer[]; };";
    const std::string nested = repeated(40, [](std::size_t k) {
        return "struct S" + std::to_string(k + 1) + " { S" + std::to_string(k) + " a; };\n";
    });
    const Row rows[] = {
        {"uses raw pointers (buffer_reference)", "EXT_buffer_reference", pointers, "pointer[i].v = 7;"},
        {"64-bit integers", "EXT_shader_explicit_arithmetic_types_int64", "",
         "sum = uint(5ul / uint64_t(i));"},
        {"16-bit integers", "EXT_shader_explicit_arithmetic_types_int16", "",
         "sum = uint(uint16_t(i) + 1us);"},
        {"subgroupShuffle", "KHR_shader_subgroup_shuffle", "", "sum = subgroupShuffle(i, 1000u);"},
        {"SPV_KHR_non_semantic_info", "EXT_debug_printf", "", "debugPrintfEXT(\"%d\", i);"},
        {"uses images", "", "layout(binding = 1, r32ui) uniform uimageBuffer im;",
         "imageStore(im, int(i), uvec4(1));"},
        {"binds an array of buffers", "", "layout(binding = 1) buffer D { uint d[]; } many[9];",
         "many[i].d[0] = 7;"},
        {"binds an array of buffers", "", "layout(binding = 1) buffer D { uint d[]; } many[9];",
         "many[3].d[0] = 7;"},
        {"16640 bytes of variables for every invocation", "", "",
         "uint a[4160];\na[i] = i;\nsum = a[i * 7919u];"},
        {"2000000000 bytes of variables for every invocation", "", "",
         "uint a[500000000];\na[i] = i;\nsum = a[i * 7919u];"},
        {"20000 bytes of variables for every invocation", "", "",
         repeated(5,
                  [](std::size_t k) {
                      const std::string a = "a" + std::to_string(k);
                      return "uint " + a + "[1000]; " + a + "[i] = i; sum += " + a + "[sum];\n";
                  })},
        {"bytes of shared memory", "", "shared uint s[1000000];", "s[i * 7919u] = i;\nsum = s[i];"},
        {"bytes of shared memory", "", "shared uint s[1000000][100000];", "s[i][i] = i;\nsum = s[i][3];"},
        {"4 GB or more of variables", "", "layout(constant_id = 40) const uint n = 2000000000u;",
         "uint a[n];\na[i] = 1;\nsum = a[i + 1];"},
        {"update.comp:9: '[' :  array index out of range '70'", "", "shared uint s[64];", "s[70] = 1;"},
        {"nests types too deeply", "",
         "struct S0 { uint a; };\n" + nested + "layout(binding = 1) buffer B { S40 s; } b;",
         "sum = b.s" + repeated(41, [](std::size_t) { return ".a"; }) + ";"},
        {"update.comp:9: too large an array or structure is copied as a whole", "",
         "layout(binding = 1) buffer B { uint a[100000]; } from;\nlayout(binding = 2) buffer C { uint "
         "a[100000]; } to;",
         "to.a = from.a;"},
        {"update.comp:9: more than 64 blocks inside each other", "", "",
         repeated(
             100,
             [](std::size_t k) { return "if (data[sum + 64] != " + std::to_string(k) + ") { ++sum; "; }) +
             std::string(100, '}')},
        {"ecursi", "", "uint r(uint x) { return x > 0 ? r(x - 1) : 0; }", "sum = r(i);"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.body.substr(0, 100));
        Extras extras{row.globals};
        if (row.extension[0] != '\0')
            extras.extensions = "#extension GL_" + std::string(row.extension) + " : require\n";
        const std::string message = hazardRefusal(row.body, extras);
        CAPTURE(message);
        CHECK(message.find(row.says) != std::string::npos);
    }
}

TEST_CASE("sizes and constants that double with every line take no time") {
    std::string chain = "layout(constant_id = 40) const uint c0 = 1;\n";
    for (int k = 0; k < 60; ++k) {
        const std::string before = "c" + std::to_string(k);
        chain += "const uint c" + std::to_string(k + 1) + " = " + before + " + " + before + ";\n";
    }
    CHECK(hazardRun("sum = c31;", {chain})[5] == 0x80000000u);
}

TEST_CASE("a loop that asks to be unrolled is so as far as a driver can") {
    const std::string globals = "layout(constant_id = 40) const uint n = 60000;\n";
    const Extras extras{globals, "#extension GL_EXT_control_flow_attributes : require\n"};
    CHECK(hazardRun("[[unroll]] for (uint k = 0; k < n; ++k) sum += data[64 + (k & 63)];", extras)[5] ==
          60000 * 77);
}

TEST_CASE("edited shaders may use what the built-in ones use, and little else") {
    std::set<std::uint32_t> capabilities, storageClasses;
    std::set<std::string> extensions;
    std::uint32_t largest = 0;
    for (std::string_view name : sourceNames()) {
        if (!name.ends_with(".comp")) continue;
        const std::string shader(name.substr(0, name.size() - 5));
        const auto words = shaderWords(shader);
        CAPTURE(shader);
        REQUIRE(words.size() > 5);
        largest = std::max(largest, gpu::reflect(words, {}, shader).privateBytes);
        for (std::size_t at = 5; at < words.size(); at += words[at] >> 16) {
            const std::uint32_t opcode = words[at] & 0xFFFFu;
            if (opcode == spv::OpCapability) capabilities.insert(words[at + 1]);
            if (opcode == spv::OpExtension) extensions.insert(reinterpret_cast<const char*>(&words[at + 1]));
            if (opcode == spv::OpTypePointer) storageClasses.insert(words[at + 2]);
        }
    }
    const auto listed = [](const auto& list) { return std::set(list.begin(), list.end()); };
    std::set<std::uint32_t> allowed = listed(gpu::allowedCapabilities());
    CHECK(allowed.erase(spv::CapabilityImageQuery) == 1); // the one addition
    CHECK(allowed == capabilities);
    std::set<std::string> names;
    for (const std::string_view each : gpu::allowedExtensions()) names.emplace(each);
    CHECK(names.erase("SPV_KHR_cooperative_matrix") == 1); // a dialect of another one
    CHECK(names == extensions);
    CHECK(listed(gpu::allowedStorageClasses()) == storageClasses);
    CHECK(largest > 100);
    CHECK(largest <= gpu::mostPrivateBytes / 2);
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
    CHECK(contains(compiled.errors[0].message, "does a macro or an expression grow endlessly?"));
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

namespace {

using Bytes = const std::string&;

const ApartWork returnsMuch("returns-much", [](Bytes input) { return input + std::string(300'000, 'x'); });
const ApartWork aborts("aborts", [](Bytes) -> std::string { std::abort(); });
const ApartWork throws("throws", [](Bytes) -> std::string { throw std::runtime_error("no"); });
const ApartWork divides("divides", [](Bytes) -> std::string {
    std::raise(SIGFPE);
    return "x";
});
const ApartWork neverEnds("never-ends", [](Bytes) {
    volatile std::uint64_t rounds = 0;
    while (rounds < ~std::uint64_t{0}) rounds = rounds + 1;
    return std::string();
});
const ApartWork hungers("hungers", [](Bytes) { return std::string(std::size_t{1} << 31, 'x').substr(0, 1); });

} // namespace

TEST_CASE("work apart returns its result; a crash, an endless loop and hunger are told apart") {
    const ApartOutcome whole = returnsMuch.run("given ");
    CHECK(whole.end == ApartEnd::finished);
    CHECK(whole.output == "given " + std::string(300'000, 'x'));
    CHECK(aborts.run("").end == ApartEnd::crashed);
    CHECK(throws.run("").end == ApartEnd::threw);
    CHECK(divides.run("").end == ApartEnd::division);
    const auto start = std::chrono::steady_clock::now();
    CHECK(neverEnds.run("", {.seconds = 1}).end == ApartEnd::outOfTime);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
    CHECK(hungers.run("", {.moreMemory = 1 << 28}).end == ApartEnd::outOfMemory);
}
