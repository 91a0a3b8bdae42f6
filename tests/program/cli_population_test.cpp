// `lockstep population`: a grid of networks as its users meet it, run as a process.
#include <doctest/doctest.h>

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

const std::string small = "population --size 4x3 --layers 4 --steps 20 --quiet ";
const std::string plain = small + "--lane cpu:scalar ";

std::vector<std::string> linesOf(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::vector<std::string> fieldsOf(const std::string& line) {
    std::vector<std::string> fields{""};
    for (const char letter : line) {
        if (letter == ',')
            fields.emplace_back();
        else
            fields.back() += letter;
    }
    return fields;
}

/// Width and height as a PNG's header has them.
std::vector<int> sizeOfPng(const std::string& file) {
    const std::string bytes = contents(file);
    REQUIRE(bytes.size() > 24);
    REQUIRE(bytes.substr(1, 3) == "PNG");
    const auto number = [&bytes](std::size_t at) {
        int value = 0;
        for (std::size_t i = at; i < at + 4; ++i) value = value * 256 + static_cast<unsigned char>(bytes[i]);
        return value;
    };
    return {number(16), number(20)};
}

} // namespace

TEST_CASE("CPU and GPU train the same grid, are compared, and write all results to files") {
    const Folder folder;
    const std::string json = folder.file("p.json");
    const std::string csv = folder.file("p.csv");
    const std::string png = folder.file("p.png");
    const Outcome outcome =
        run("population --size 8x4 --x lr=1e-4:0.1:log --y init-scale=0.1:2:log --data spiral "
            "--layers 4 --steps 200 --lane cpu:best --lane gpu:best --json " +
            json + " --csv " + csv + " --png " + png);
    CAPTURE(outcome.out + outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(outcome.says("32 networks 2-4-1, bce, 17 parameters each"));
    CHECK(outcome.says("lr 0.0001 to 0.1, logarithmic"));
    CHECK(outcome.says("same mathematics: gpu:best agrees"));
    CHECK(outcome.says("best network: lr "));
    const bool compared = outcome.says("network-steps/s against");
    CHECK((compared || outcome.says("raise --steps"))); // on a fast machine the run is too short to compare
    CHECK(outcome.err.find("32 of 32 networks done") != std::string::npos);

    const Json results = Json::parse(contents(json));
    CHECK(results["population"]["x"] == "lr=1e-04:0.1:log");
    CHECK(results["x"]["values"].size() == 8);
    CHECK(results["y"]["values"][0] == 0.1);
    CHECK(results["net"]["parameters"] == 17);
    REQUIRE(results["lanes"].size() == 2);
    for (const Json& lane : results["lanes"]) {
        CAPTURE(lane["lane"].dump());
        CHECK(lane["status"] == "finished");
        CHECK(lane["finished"] == 32);
        CHECK(lane["network_steps"] == 6400);
        CHECK(lane["network_steps_per_second"].get<double>() > 0);
        CHECK(lane["agreement"]["same"] == true);
        REQUIRE(lane["networks"].size() == 32);
        CHECK(lane["networks"][9]["column"] == 1);
        CHECK(lane["networks"][9]["row"] == 1);
        CHECK(lane["networks"][lane["best"].get<std::size_t>()]["rank"] == 1);
    }
    const Json& shares = results["lanes"][1]["agreement"]["shares"];
    REQUIRE(shares.size() == 3);
    CHECK(shares[0]["steps"] == 1);
    CHECK(shares[0]["share"] == 1.0);
    CHECK(shares[2]["steps"] == 100);
    const Json& headline = results["headline"];
    CHECK(headline["measured_by"] == (compared ? Json("network_steps_per_second") : Json()));
    CHECK(headline["comparable"] == compared);
    CHECK(headline["reason"].is_null() == compared);
    CHECK(headline["faster"].is_null() == !compared);
    const auto rate = [&](std::size_t lane) {
        return results["lanes"][lane]["network_steps_per_second"].get<double>();
    };
    if (compared)
        CHECK(headline["ratio"].get<double>() ==
              doctest::Approx(std::max(rate(0), rate(1)) / std::min(rate(0), rate(1))));

    const std::vector<std::string> rows = linesOf(contents(csv));
    REQUIRE(rows.size() == 65);
    CHECK(rows[0] == "lane,column,row,seed,lr,init_scale,momentum,l2,activation,noise,steps,diverged,loss,"
                     "accuracy,batch_loss,weight_norm,rank");
    CHECK(rows[1].starts_with("cpu:best,0,0,1,0.0001,2,,0,tanh,0,200,0,"));
    CHECK(rows[64].starts_with("gpu:best,7,3,1,0.1,0.1,,0,tanh,0,200,0,"));
    for (const std::string& row : rows) CHECK(fieldsOf(row).size() == 17);
    CHECK(std::stof(fieldsOf(rows[1])[12]) == results["lanes"][0]["networks"][0]["loss"].get<float>());

    const std::vector<int> size = sizeOfPng(png);
    CHECK(size[0] > 2 * 8 * 64); // two pictures of 8 x 4 tiles for each of two lanes
    CHECK(size[1] > 2 * 4 * 64);
}

TEST_CASE("a grid trained again gives the same numbers, and - is standard output") {
    const Outcome first = run(plain + "--csv -");
    const Outcome second = run(plain + "--csv -");
    CHECK(first.code == 0);
    CHECK(linesOf(first.out).size() == 13);
    CHECK(first.out == second.out);
    CHECK(first.err.find("best network") != std::string::npos);
    const Outcome json = run(plain + "--json -");
    CHECK(Json::parse(json.out)["lanes"][0]["networks"].size() == 12);
    CHECK(Json::parse(json.out)["lanes"][0]["agreement"]["shares"].empty());
}

TEST_CASE("every hyperparameter reaches the networks that have it") {
    const auto column = [](const std::string& arguments, std::size_t field) {
        const Outcome outcome = run(plain + arguments + " --csv -");
        CAPTURE(outcome.err);
        REQUIRE(outcome.code == 0);
        std::vector<std::string> values;
        for (const std::string& row : linesOf(outcome.out)) values.push_back(fieldsOf(row)[field]);
        return std::vector<std::string>(values.begin() + 1, values.begin() + 5);
    };
    using Values = std::vector<std::string>;
    CHECK(column("--x seed=1:4", 3) == Values{"1", "2", "3", "4"});
    CHECK(column("--x momentum=0:0.75 --optimizer momentum", 6) == Values{"0", "0.25", "0.5", "0.75"});
    CHECK(column("--x l2=0:0.75", 7) == Values{"0", "0.25", "0.5", "0.75"});
    CHECK(column("--x activation=relu,tanh", 8) == Values{"relu", "relu", "tanh", "tanh"});
    CHECK(column("--x noise=0.75:0 --data moons", 9) == Values{"0.75", "0.5", "0.25", "0"});
    CHECK(column("--x seed=7:8 --y l2=0:1 --lr 0.5 --init-scale 2 --activation relu", 4) ==
          Values{"0.5", "0.5", "0.5", "0.5"});
}

TEST_CASE("diverged networks record their step, and the others continue") {
    const Outcome outcome =
        run("population --size 4x1 --layers 4 --steps 400 --quiet --data plane --optimizer sgd "
            "--activation relu --x lr=0.01:1e6:log --lane cpu:scalar --json -");
    REQUIRE(outcome.code == 0);
    const Json lane = Json::parse(outcome.out)["lanes"][0];
    CHECK(lane["diverged"].get<int>() >= 1);
    CHECK(lane["finished"] == 4);
    CHECK(lane["networks"][0]["diverged"] == false);
    CHECK(lane["networks"][3]["diverged"] == true);
    CHECK(lane["networks"][3]["steps"].get<int>() < 400);
    CHECK(lane["networks"][3]["accuracy"].is_null());
    CHECK(lane["percentiles"][6]["loss"].is_null());
}

TEST_CASE("without a Vulkan device only the CPU trains, with a note") {
    const Folder folder;
    const Outcome outcome = run(small, lockstep::test::withoutDriver(folder));
    CHECK(outcome.code == 0);
    CHECK(outcome.says("gpu:best is left out"));
    CHECK(outcome.says("cpu:best"));
}

TEST_CASE("invalid arguments exit with 2 and state valid ones") {
    struct Case {
        std::string arguments;
        std::string answer;
    };
    const Case cases[] = {
        {"--size 32", "as in 32x32"},
        {"--size 300x300", "256x256 fits"},
        {"--size 0x3", "1x1"},
        {"--siez 3x3", "did you mean '--size'"},
        {"--x rl=1:2", "--x: unknown hyperparameter 'rl'; did you mean 'lr'"},
        {"--x lr=-1:1", "it must be a number above 0"},
        {"--y l2=0:1:log", "0 has no logarithm"},
        {"--x lr=0.1:0.1", "equal ends"},
        {"--x init-scale=1:2", "init-scale is on both axes"},
        {"--x momentum=0:0.9", "the optimizer adam has no momentum"},
        {"--x noise=0:0.5 --data fashion-mnist", "only generated points have noise"},
        {"--lr 0.1", "--lr would do nothing: lr is on an axis"},
        {"--lane gpu:tiled", "unknown lane"},
        {"--lane gpu:workgruop", "did you mean 'gpu:workgroup'"},
        {"--steps 0", "--steps"},
        {"--steps 100000000", "10,000,000 steps"},
        {"--epochs 3", "unknown option '--epochs'"},
        {"--png -", "--png"},
        {"--csv - --json -", "only one of --json and --csv"},
        {"--layers 64,64", "neurons fit"},
        {"--layers 4,4,4,4,4", "at most 4 hidden layers"},
        {"--data spirl", "did you mean 'spiral'"},
        {"extra", "extra"},
    };
    for (const Case& wrong : cases) {
        CAPTURE(wrong.arguments);
        const Outcome outcome = run("population " + wrong.arguments);
        CAPTURE(outcome.err);
        CHECK(outcome.code == 2);
        CHECK(outcome.says(wrong.answer));
        CHECK(outcome.out.empty());
    }
}

TEST_CASE("failures exit with 1, before training if possible") {
    const Folder folder;
    for (const std::string option : {"--json", "--csv", "--png"}) {
        CAPTURE(option);
        const Outcome outcome = run(plain + option + " " + folder.file("missing/file"));
        CHECK(outcome.code == 1);
        CHECK(outcome.says(folder.file("missing/file")));
        CHECK(outcome.out.empty());
    }
    CHECK(run(small + "--device nowhere").code == 1);
    CHECK(run(small + "--data csv:" + folder.file("missing.csv")).code == 1);
}

TEST_CASE("an interrupt ends training, and the results so far are reported") {
    const Folder folder;
    const std::string json = folder.file("p.json");
    const Outcome outcome = interrupted({"population", "--size", "8x8", "--steps", "10000000", "--lane",
                                         "cpu:simd", "--lane", "cpu:best", "--quiet", "--json", json},
                                        "until");
    CHECK(outcome.code == 130);
    CHECK(outcome.says("cpu:simd stopped"));
    const Json results = Json::parse(contents(json));
    CHECK(results["lanes"][0]["status"] == "stopped");
    CHECK(results["lanes"][0]["network_steps"].get<std::uint64_t>() > 0);
    CHECK(results["lanes"][1]["status"] == "stopped");
    CHECK(results["lanes"][1]["networks"].empty());
    CHECK(results["headline"]["ratio"].is_null());
}
