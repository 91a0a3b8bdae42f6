// JSON of others: what is no JSON is refused with its place, and so is what is nested too deeply to be
// walked.
#include <doctest/doctest.h>

#include <fstream>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include "engine/files/json_text.h"
#include "tests/data_files.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

std::string nested(std::size_t depth, const std::string& open = "[", const std::string& close = "]") {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += open;
    text += "1";
    for (std::size_t i = 0; i < depth; ++i) text += close;
    return text;
}

} // namespace

TEST_CASE("what is valid and not too deep is read") {
    CHECK(parseJson(R"({"a": [1, 2.5, "x"]})", "it")["a"][1] == 2.5);
    CHECK(parseJson(nested(deepestJson), "it").is_array());
    CHECK(parseJson(nested(deepestJson / 2, "[{\"a\":", "}]"), "it").is_array());
    const std::string brackets = "\"" + std::string(1000, '[') + R"(\" [ \\)" + "\"";
    CHECK(parseJson(brackets, "it").is_string()); // brackets of a string do not count
    CHECK(parseJson("[" + std::string("[],[[]],{},") + "1]", "it").size() == 4);
    std::string many = "[";
    for (int i = 0; i < 1000; ++i) many += "[[]],";
    CHECK(parseJson(many + "0]", "it").size() == 1001); // beside each other
}

TEST_CASE("what is nested too deeply is refused with the place where that begins") {
    const auto refused = [](const std::string& text, const std::string& message) {
        CHECK_THROWS_WITH_AS(parseJson(text, "it"), message.c_str(), std::runtime_error);
    };
    const std::string reason = "more than 64 nested brackets";
    refused(nested(deepestJson + 1), "it:1:65: not valid JSON: " + reason);
    refused("{\n\"a\":\n " + nested(100'000) + "}", "it:3:65: not valid JSON: " + reason);
    refused(std::string(100'000, '['), "it:1:65: not valid JSON: " + reason);
    refused(nested(100'000, "{\"a\":", "}"), "it:1:321: not valid JSON: " + reason);
}

TEST_CASE("what is no JSON is refused with its place and the parser's reason") {
    for (const char* wrong :
         {"", "[", "]", "{\"a\" 1}", "[1,]", "nul", "\"\\", "\"", "1e999", "\xFF", "[1] 2"}) {
        CAPTURE(wrong);
        CHECK_THROWS_WITH_AS(parseJson(wrong, "state.json"), doctest::Contains(": not valid JSON: "),
                             std::runtime_error);
    }
    CHECK_THROWS_WITH_AS(parseJson("{\n  \"a\": x\n}", "it"), doctest::Contains("it:2:8: not valid JSON: "),
                         std::runtime_error);
}

TEST_CASE("a file is read within a size") {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "a.json";
    std::ofstream(file) << "[1, 2, 3]";
    CHECK(readJsonFile(file, 9).size() == 3);
    CHECK_THROWS_AS(readJsonFile(file, 8), std::runtime_error);
    CHECK_THROWS_AS(readJsonFile(folder.path() / "none.json", 8), std::runtime_error);
}

TEST_CASE("what would take gigabytes in memory is refused for its number of values") {
    std::string many = "[";
    many.reserve(2 * mostJsonValues + 10);
    for (std::size_t i = 0; i < mostJsonValues; ++i) many += "0,";
    CHECK_THROWS_WITH_AS(parseJson(many + "0]", "it"), doctest::Contains("more than 4000000 values"),
                         std::runtime_error);
    const std::string commas = "\"" + std::string(mostJsonValues + 10, ',') + "\"";
    CHECK(parseJson(commas, "it").is_string());
}
