// `lockstep map`, run as a process.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/run_program.h"

namespace {

using Json = nlohmann::ordered_json;
using lockstep::test::contents;
using lockstep::test::Folder;
using lockstep::test::interrupted;
using lockstep::test::Outcome;
using lockstep::test::run;

const std::string tiny = "map --network 2-4-1 --examples 6 --steps 40 --size 24x16 --quiet ";

std::size_t lines(const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

/// Width and height, from the head of a PNG file.
std::pair<unsigned, unsigned> pngSize(const std::string& file) {
    const std::string bytes = contents(file);
    REQUIRE(bytes.size() > 24);
    CHECK(bytes.substr(1, 3) == "PNG");
    const auto word = [&](std::size_t at) {
        unsigned value = 0;
        for (std::size_t k = 0; k < 4; ++k) value = value << 8 | static_cast<unsigned char>(bytes[at + k]);
        return value;
    };
    return {word(16), word(20)};
}

} // namespace

TEST_CASE("the help has examples and lists every preset") {
    const Outcome help = run("map --help");
    CHECK(help.code == 0);
    CHECK(help.says("examples:"));
    for (const std::string preset : {"overview", "edge", "scale", "sohl-dickstein-tanh"})
        CHECK(help.says(preset + ":"));
}

TEST_CASE("CPU and GPU agree on a map, and all output files are consistent") {
    const Folder folder;
    const Outcome map =
        run(tiny + "--window -1:5,-1:4 --lane cpu:best --lane gpu:best --png " + folder.file("m.png") +
            " --csv " + folder.file("m.csv") + " --json " + folder.file("m.json"));
    CAPTURE(map.err);
    REQUIRE(map.code == 0);
    CHECK(map.says("384 networks 2-4-1, tanh, 6 examples, 40 steps, seed 1"));
    CHECK(map.says("window -1:5,-1:4"));
    CHECK(map.says("fp32 ends the zoom at"));
    CHECK(map.says("mathematics: gpu:best and cpu:best agree in"));
    const bool compared = map.says("networks/s against");
    CHECK((compared || map.says("choose a larger --size"))); // on a fast machine
    CHECK(map.err.empty());
    CHECK(pngSize(folder.file("m.png")) == std::pair(24u, 16u));

    const std::string csv = contents(folder.file("m.csv"));
    CHECK(csv.starts_with("column,row,x,y,cpu:best,gpu:best\n0,0,"));
    CHECK(lines(csv) == 1 + 24 * 16);

    const Json json = Json::parse(contents(folder.file("m.json")));
    CHECK(json["job"] == Json::parse(R"({"axes": "rates", "network": [2, 4, 1], "activation": "tanh",
                                         "examples": 6, "steps": 40, "seed": 1})"));
    CHECK(json["window"] == Json::parse(R"({"left": -1.0, "right": 5.0, "bottom": -1.0, "top": 4.0})"));
    CHECK(json["width"] == 24);
    const Json& headline = json["headline"];
    CHECK(headline["measured_by"] == (compared ? Json("networks_per_second") : Json()));
    CHECK(headline["comparable"] == compared);
    CHECK(headline["reason"].is_null() == compared);
    CHECK(headline["faster"].is_null() == !compared);
    const auto rate = [&](std::size_t lane) {
        return json["lanes"][lane]["networks_per_second"].get<double>();
    };
    if (compared)
        CHECK(headline["ratio"].get<double>() ==
              doctest::Approx(std::max(rate(0), rate(1)) / std::min(rate(0), rate(1))));
    CHECK(map.says("note: Vulkan runs in software") == json["lanes"][1]["software"].get<bool>());
    CHECK(json["resolved"] == true);
    REQUIRE(json["lanes"].size() == 2);
    for (const Json& lane : json["lanes"]) {
        CHECK(lane["status"] == "finished");
        CHECK(lane["networks"] == 384);
        CHECK(lane["networks_per_second"].get<double>() > 0);
        CHECK(lane["converged"].get<double>() > 0.1);
        CHECK(lane["diverged"].get<double>() > 0.1);
        CHECK(lane["converged"].get<double>() + lane["diverged"].get<double>() == doctest::Approx(1));
        CHECK(lane["agreement"]["with"] == "cpu:best");
        CHECK(lane["agreement"]["same_side"].get<double>() > 0.97);
    }
    CHECK(json["lanes"][0]["agreement"]["identical"] == 1.0);
}

TEST_CASE("a repeated map is the same, with any number of threads; another seed is another map") {
    const Folder folder;
    const std::string base = tiny + "--lane cpu:best --csv ";
    REQUIRE(run(base + folder.file("a") + " --threads 1").code == 0);
    REQUIRE(run(base + folder.file("b") + " --threads 3").code == 0);
    REQUIRE(run(base + folder.file("c") + " --seed 2").code == 0);
    CHECK(contents(folder.file("a")) == contents(folder.file("b")));
    CHECK(contents(folder.file("a")) != contents(folder.file("c")));
}

TEST_CASE("a preset sets job and window; explicit options override it in any order") {
    const std::string rest = " --lane cpu:best --steps 5 --size 8x8 --quiet --json -";
    const Outcome preset = run("map --preset scale" + rest);
    REQUIRE(preset.code == 0);
    const Json json = Json::parse(preset.out);
    CHECK(json["job"]["axes"] == "rate-and-scale");
    CHECK(json["job"]["steps"] == 5);
    const Json changed = Json::parse(run("map --activation relu --preset sohl-dickstein-tanh" + rest).out);
    CHECK(changed["job"]["activation"] == "relu");
    CHECK(changed["job"]["network"] == Json::parse("[16, 16, 1]"));
    CHECK(changed["job"]["examples"] == 272);
    CHECK(changed["window"]["right"] == 6.0);
}

TEST_CASE("the map reports when fp32 cannot distinguish neighbouring pixels") {
    const Outcome map = run(tiny + "--lane cpu:best --window 1:1.0000001,1:1.0000001");
    CHECK(map.code == 0);
    CHECK(map.says("fp32 ends the zoom before this"));
    CHECK(Json::parse(run(tiny + "--lane cpu:best --window 1:1.0000001,1:2 --json -").out)["resolved"] ==
          false);
}

TEST_CASE("an interrupted map is written as far as it came") {
    const Folder folder;
    const Outcome outcome =
        interrupted({"map", "--preset", "sohl-dickstein-tanh", "--size", "1024x1024", "--lane", "cpu:best",
                     "--quiet", "--png", folder.file("m.png"), "--json", folder.file("m.json")},
                    "16-16-1");
    CHECK(outcome.code == 130);
    CHECK(pngSize(folder.file("m.png")) == std::pair(1024u, 1024u));
    const Json json = Json::parse(contents(folder.file("m.json")));
    CHECK(json["lanes"][0]["status"] == "stopped");
    CHECK(json["lanes"][0]["networks"].get<std::size_t>() < 1024 * 1024);
}

TEST_CASE("invalid arguments exit with 2 and state the valid values or the maximum") {
    const std::pair<std::string, std::string> cases[] = {
        {"--preset ege", "did you mean 'edge'"},
        {"--axes rate", "did you mean 'rates'"},
        {"--activation tahn", "did you mean 'tanh'"},
        {"--activation gelu", "identity, relu and tanh"},
        {"--lane gpu:bets", "did you mean 'gpu:best'"},
        {"--lane cpu:scalar", "known: cpu:best, gpu:best"},
        {"--size 5000x5000", "4096x4096"},
        {"--size 0x4", "1x1"},
        {"--window 1:0,0:1", "LEFT is below RIGHT"},
        {"--window 1:2", "LEFT:RIGHT,BOTTOM:TOP"},
        {"--window a:b,0:1", "-3:6,-3:6"},
        {"--window 0:31,0:1", "-30 to 30"},
        {"--network 17-8-1", "1 to 16 inputs"},
        {"--network 8-17-1", "1 to 16 hidden neurons"},
        {"--network 8-8-2", "8-8-1"},
        {"--network 8", "8-8-1"},
        {"--examples 1000", "1 to 512 examples"},
        {"--steps 5000", "1 to 2000 steps"},
        {"--steps 0", "--steps"},
        {"--seed -1", "--seed"},
        {"--size 4096x4096 --csv x.csv", "2048x2048"},
        {"--png -", "--png needs a file name"},
        {"--png x.jpg", "name the file x.png, not x.jpg"},
        {"--lane gpu:tiled", "`lockstep race` has it"},
        {"--csv - --json -", "only one of --json and --csv"},
        {"--windw 1", "did you mean '--window'"},
    };
    for (const auto& [words, answer] : cases) {
        const std::string arguments = words; // Clang 14: no structured bindings in lambdas, which CAPTURE is
        CAPTURE(arguments);
        const Outcome outcome = run("map " + arguments);
        CAPTURE(outcome.err);
        CHECK(outcome.code == 2);
        CHECK(outcome.err.find(answer) != std::string::npos);
        CHECK(outcome.out.empty());
    }
    const Folder folder;
    const Outcome unwritable = run(tiny + "--lane cpu:best --png " + folder.file("missing/x.png"));
    CHECK(unwritable.code == 1);
    CHECK(unwritable.says(folder.file("missing/x.png")));
}
