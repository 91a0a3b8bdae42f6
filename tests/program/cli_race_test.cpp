// `lockstep race`, run as a process: its table, its repetitions and its interruption.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/data_files.h"
#include "tests/run_program.h"

namespace {

using Json = nlohmann::ordered_json;
using lockstep::test::contents;
using lockstep::test::Folder;
using lockstep::test::interrupted;
using lockstep::test::Outcome;
using lockstep::test::run;

const std::string oneLane = "--data spiral --lane cpu:best ";

} // namespace

TEST_CASE("a race ends with a table, the check that lanes agree, and a headline") {
    const Outcome race = run("race --data spiral --steps 300 --lane cpu:scalar --lane cpu:simd");
    CHECK(race.code == 0);
    CHECK(race.says("same mathematics: largest relative difference"));
    CHECK(race.says("over the first 100 steps"));
    CHECK(race.says("one thread, no SIMD"));
    CHECK(race.says("time trial"));
    CHECK(race.says("short, so it was timed beyond: 1."));
    const Outcome hurried = run("race --quick --data spiral --steps 300 --lane cpu:scalar --lane cpu:simd");
    CHECK(hurried.says("no comparison: the race is too short"));
    CHECK_FALSE(hurried.says("times as fast"));
    CHECK(race.out.find('\x1b') == std::string::npos); // no terminal: plain lines
    CHECK(race.err.find('\x1b') == std::string::npos);
    CHECK(race.err.find('\r') == std::string::npos);
    CHECK(race.err.find("cpu:scalar") != std::string::npos);
    std::istringstream lines(race.out);
    for (std::string line; std::getline(lines, line);) {
        CAPTURE(line);
        CHECK(line.size() <= 110);
    }

    const Outcome together =
        run("race --data spiral --steps 300 --lane cpu:scalar --lane cpu:simd --together");
    CHECK(together.says("head to head"));
    const Outcome quiet = run("race --quick --data spiral --steps 300 --lane cpu:simd --quiet");
    CHECK(quiet.err.empty());
    CHECK(quiet.says("one run; --repeat 5 shows the spread"));
    CHECK(run("race --quick --steps 1e3 --quiet " + oneLane).says("until 1,000 steps"));
    CHECK(run("race --quick --steps 1 --quiet " + oneLane).says("until 1 step "));
}

TEST_CASE("a ReLU whose input is nearly 0 separates correct lanes early, and their speeds are compared all "
          "the same") {
    // In the fifth batch, one of its 24,576 ReLUs is on in one lane only: nothing but its weights differs
    // afterwards.
    const Outcome race =
        run("race --quick --layers 256,128 --optimizer sgd --batch 64 --steps 30 --seed 1 --quiet "
            "--lane cpu:scalar --lane cpu:simd");
    CHECK(race.says("same mathematics"));
}

TEST_CASE("the table's rate is that of its time, also in a race of milliseconds") {
    const Outcome race =
        run("race --quick --data spiral --steps 40 --batch 10 --quiet --lane cpu:simd --threads 1");
    REQUIRE(race.code == 0);
    std::istringstream lines(race.out);
    std::string line;
    while (std::getline(lines, line) && !line.starts_with("cpu:simd")) {
    }
    std::string words = line.substr(line.find("thread") + 6);
    std::erase(words, ',');
    std::istringstream numbers(words);
    double steps = 0;
    double seconds = 0;
    double deviceSeconds = 0;
    double rate = 0;
    numbers >> steps >> seconds >> deviceSeconds >> rate;
    REQUIRE(numbers.good());
    CHECK(steps == 40);
    CHECK(rate * seconds == doctest::Approx(400).epsilon(0.01));
}

TEST_CASE("a repeated race states medians and ranges, in text and as JSON") {
    const Folder folder;
    const std::string file = folder.file("r.json");
    const Outcome race =
        run("race --data spiral --steps 200 --repeat 3 --lane cpu:simd --lane cpu:scalar --json " + file);
    REQUIRE(race.code == 0);
    CHECK(race.says("run 3 of 3"));
    CHECK(race.says("3 runs of each lane"));
    CHECK(race.says("Over 3 runs, the ratio of their speeds ranged from"));
    CHECK_FALSE(race.says("one run;"));
    const Json json = Json::parse(contents(file));
    CHECK(json["settings"]["repeat"] == 3);
    for (const Json& lane : json["lanes"]) {
        CHECK(lane["runs"].size() == 3);
        for (const char* key : {"seconds", "samples_per_second"}) {
            CAPTURE(key);
            const Json& spread = lane["spread"][key];
            CHECK(spread["least"].get<double>() < spread["most"].get<double>());
            CHECK(spread["least"].get<double>() <= spread["median"].get<double>());
            CHECK(spread["median"].get<double>() <= spread["most"].get<double>());
            CHECK(spread["median"] == lane[key]);
        }
    }
    const Json& headline = json["headline"];
    const auto rate = [&](std::size_t lane) {
        return json["lanes"][lane]["samples_per_second"].get<double>();
    };
    CHECK(headline["ratio"].get<double>() ==
          doctest::Approx(std::max(rate(0), rate(1)) / std::min(rate(0), rate(1))));
    CHECK(headline["ratio_least"].get<double>() <= headline["ratio"].get<double>());
    CHECK(headline["ratio"].get<double>() <= headline["ratio_most"].get<double>());
    const Json& load = json["other_load"]; // how much there is depends on the machine
    CHECK(load["share"].get<double>() >= 0);
    CHECK(load["share"].get<double>() <= 1);
    CHECK(load["busy"].get<bool>() == race.says("warning: "));
}

TEST_CASE("--memory says what each lane's memory is for, and that it is what was predicted") {
    const Folder folder;
    const std::string job = "--quick --quiet --data spiral --layers 24,24 --optimizer adam --steps 20 "
                            "--lane cpu:simd --lane gpu:blocked --lane gpu:fused --lane gpu:half ";
    const Outcome race = run("race --memory " + job + "--json " + folder.file("race.json"));
    CHECK(race.code == 0);
    CHECK(race.says("allocated as predicted, to the byte"));
    const Json lanes = Json::parse(contents(folder.file("race.json")))["lanes"];
    REQUIRE(lanes.size() == 4);
    for (const Json& lane : lanes) {
        CAPTURE(lane["lane"]);
        const Json& memory = lane["memory"];
        std::uint64_t sum = 0;
        for (const char* name :
             {"parameters", "gradients", "optimizer", "activations", "data", "copies", "workspace"}) {
            CAPTURE(name);
            const Json& category = memory["categories"][name];
            CHECK(category["predicted_bytes"] == category["allocated_bytes"]);
            sum += category["allocated_bytes"].get<std::uint64_t>();
        }
        CHECK(memory["categories"].size() == 7);
        CHECK(memory["allocated_bytes"] == sum);
        CHECK(memory["predicted_bytes"] == sum);
        const auto bytes = [&](const char* name) -> std::uint64_t {
            return memory["categories"][name]["allocated_bytes"];
        };
        const std::uint64_t weights = 4 * (2 * 24 + 24 + 24 * 24 + 24 + 24 * 2 + 2);
        CHECK(bytes("parameters") >= weights);
        CHECK(bytes("optimizer") >= 2 * weights); // Adam keeps two moments
        CHECK((bytes("gradients") >= weights) == (lane["lane"] != "gpu:fused"));
        CHECK((bytes("data") > 0) == lane["gpu"].get<bool>());
        CHECK((bytes("copies") > 0) == (lane["lane"] == "gpu:half"));
    }
    const Outcome without = run("race " + job + "--json -");
    CHECK_FALSE(Json::parse(without.out)["lanes"][0].contains("memory"));
    CHECK(run("train --memory --quick --quiet " + oneLane).code == 2); // a race's
    CHECK(run("train --memory --quiet --steps 20 " + oneLane).says("as predicted"));
}

TEST_CASE("a run that saves memory says what it saves, and a saved one goes on like that") {
    const Folder folder;
    const std::string train = "train --memory --quiet --evaluate-every 0 --log-every 1 --lane gpu:tiled ";
    const std::string job = "--data spiral --layers 64,64,64,64,64 --activation tanh --batch 128 ";
    const auto lane = [&](const std::string& options) {
        const Outcome outcome = run(train + options + " --json " + folder.file("run.json"));
        INFO(outcome.out << outcome.err);
        REQUIRE(outcome.code == 0);
        CHECK(outcome.says("allocated as predicted"));
        return Json::parse(contents(folder.file("run.json")));
    };
    const auto activations = [](const Json& json) -> std::uint64_t {
        return json["lanes"][0]["memory"]["categories"]["activations"]["allocated_bytes"];
    };
    const auto losses = [](const Json& json) {
        std::vector<float> all;
        for (const Json& step : json["lanes"][0]["steps"]) all.push_back(step["loss"]);
        return all;
    };
    const Json plain = lane(job + "--steps 12");
    const Json again = lane(job + "--steps 12 --recompute 3 --offload optimizer");
    CHECK(losses(again) == losses(plain));
    CHECK(3 * activations(again) < 2 * activations(plain));
    CHECK(again["settings"]["recompute"] == 3);
    CHECK(again["settings"]["offload"] == "optimizer");
    const Json away = lane(job + "--steps 12 --offload activations");
    CHECK(losses(away) == losses(plain));
    CHECK(away["settings"]["offload"] == "activations");
    const auto timed = [](const Json& json, const char* name) {
        return std::ranges::any_of(json["lanes"][0]["operations"], [&](const Json& each) {
            return each["name"] == name && each["calls"] > 0 && each["milliseconds"] > 0;
        });
    };
    for (const char* copy : {"store_activations", "fetch_activations"}) {
        CHECK(timed(away, copy));
        CHECK_FALSE(timed(plain, copy));
    }
    const std::string model = folder.file("half-way.safetensors");
    const Json parts = lane(job + "--steps 12 --accumulate 4");
    CHECK(activations(parts) < activations(plain) / 3);
    for (std::size_t step = 0; step < 12; ++step)
        CHECK(losses(parts)[step] == doctest::Approx(losses(plain)[step]).epsilon(1e-4));
    lane(job + "--steps 5 --accumulate 4 --save " + model);
    const Json resumed = lane("--resume " + model + " --steps 12");
    CHECK(resumed["settings"]["accumulate"] == 4);
    CHECK(losses(resumed).back() == losses(parts).back());
    const Json elsewhere = lane("--resume " + model + " --steps 12 --recompute 2"); // a smaller card
    CHECK(elsewhere["settings"]["accumulate"] == 4);
    CHECK(losses(elsewhere).back() == losses(parts).back());
    CHECK(activations(elsewhere) < activations(parts));
    const Json copies = lane("--resume " + model + " --steps 12 --offload both");
    CHECK(copies["settings"]["offload"] == "both");
    CHECK(losses(copies).back() == losses(parts).back());
    CHECK(run(train + job + "--steps 5 --offload optimizer").says("in the host's memory; "));
    CHECK(run(train + job + "--steps 5 --offload activations --optimizer sgd")
              .says("MiB of activations wait for the backward pass in the host's memory; "));
    CHECK(run(train + job + "--steps 5 --offload both --optimizer sgd").says("optimizers that keep a state"));
    CHECK(run(train + job + "--steps 5 --offload optimizer --optimizer sgd")
              .says("optimizers that keep a state"));
    lane(job + "--optimizer sgd --steps 2 --save " + model);
    CHECK(run("train --resume " + model + " --offload optimizer").says("optimizers that keep a state"));
    CHECK(run("train --data spiral --layers 8 --recompute 2").says("with 2 layers, it can be at most 1"));
    for (const std::string what : {"optimizer", "activations", "both"})
        CHECK(run("train --data spiral --lane cpu:best --offload " + what).says("applies only to GPU lanes"));
    CHECK(run(train + job + "--offload activation").says("'activations'"));
    CHECK(run("race --quick --data spiral --layers 8 --offload activations --lane gpu:whole-step")
              .says("its steps keep nothing"));
    CHECK(run(train + job + "--accumulate 200").says("a batch of 128 has no more parts than examples"));
    CHECK(run("race --quick --data spiral --accumulate 2 --lane gpu:fused").says("stores no gradients"));
}

TEST_CASE("a number format is a setting of the run: said beside its results, kept, and refused where there "
          "is none") {
    const Folder folder;
    const std::string model = folder.file("run.safetensors");
    const auto lane = [&](const std::string& options) {
        const Outcome outcome =
            run("train --quiet --log-every 1 " + options + " --json " + folder.file("run.json"));
        INFO(outcome.out << outcome.err);
        REQUIRE(outcome.code == 0);
        return std::pair(Json::parse(contents(folder.file("run.json"))), outcome.out + outcome.err);
    };
    const auto losses = [](const Json& json) {
        std::vector<float> all;
        for (const Json& step : json["lanes"][0]["steps"]) all.push_back(step["loss"]);
        return all;
    };
    const std::string job = "--data spiral --layers 12,8 --lane cpu:scalar ";
    const auto [plain, plainText] = lane(job + "--steps 12");
    CHECK(plain["settings"]["format"] == "fp32");
    CHECK(plain["settings"]["loss_scaling"] == true);
    CHECK(plainText.find("emulated") == std::string::npos);
    for (const std::string format : {"tf32", "bf16", "fp16", "fp8"}) {
        const auto [json, text] = lane(job + "--steps 12 --format " + format);
        CHECK(json["settings"]["format"] == format);
        CHECK(std::string(json["lanes"][0]["kernels"]).find(format + ", emulated") != std::string::npos);
        CHECK(text.find("operands in " + format + ", emulated") != std::string::npos);
        CHECK(losses(json) != losses(plain));
    }
    const auto [unscaled, unscaledText] = lane(job + "--steps 12 --format fp8 --loss-scaling off");
    CHECK(unscaled["settings"]["loss_scaling"] == false);
    CHECK(unscaledText.find("fp8, emulated, without loss scaling") != std::string::npos);
    const auto [whole, wholeText] = lane(job + "--steps 12 --format fp8");
    lane(job + "--steps 5 --format fp8 --save " + model);
    const auto [resumed, resumedText] = lane("--resume " + model + " --steps 12");
    CHECK(resumed["settings"]["format"] == "fp8");
    CHECK(losses(resumed).back() == losses(whole).back());

    // Parameters in the format: a run that rests in between draws the same chances.
    const std::string stored = "--format bf16 --master-weights off --rounding stochastic ";
    const auto [apart, apartText] = lane(job + "--steps 12 " + stored);
    CHECK(apart["settings"]["master_weights"] == false);
    CHECK(apart["settings"]["rounding"] == "stochastic");
    CHECK(apartText.find("bf16, emulated, without master weights, stochastic rounding") != std::string::npos);
    const auto [nearest, nearestText] = lane(job + "--steps 12 --format bf16 --master-weights off");
    CHECK(nearest["settings"]["rounding"] == "nearest");
    CHECK(losses(nearest) != losses(apart));
    lane(job + "--steps 5 " + stored + "--save " + model);
    const auto [again, againText] = lane("--resume " + model + " --steps 12");
    CHECK(losses(again).back() == losses(apart).back());

    const std::string race = "race --quick --data spiral --layers 8 --steps 40 ";
    CHECK(run(race + "--master-weights off").says("applies only to --format bf16 and fp16"));
    CHECK(run(race + "--format fp8 --master-weights off").says("fp8 needs master weights"));
    CHECK(run(race + "--format tf32 --master-weights off").says("tf32 needs master weights"));
    CHECK(run(race + "--format bf16 --rounding stochastic").says("applies only to --master-weights off"));
    CHECK(run(race + "--format bf16 --rounding up").says("known: nearest, stochastic"));
    const Outcome both = run(race + "--format bf16 --lane cpu:simd --lane gpu:tiled");
    CHECK(both.code == 0);
    CHECK(both.says("same mathematics with rounded operands"));
    CHECK(both.says("bf16 is emulated"));
    CHECK_FALSE(run(race + "--lane cpu:simd").says("emulated"));
    CHECK(run("train --resume " + model + " --format bf16").says("cannot be combined with --resume"));
    CHECK(run(race + "--format bf16 --lane gpu:half").says("for gpu:one, gpu:naive-strided, "));
    CHECK(run(race + "--format bf16 --lane gpu:half").code == 2);
    CHECK(run(race + "--format fp8 --lane gpu:whole-step").says("stores nothing that could be rounded"));
    CHECK(run(race + "--format bf17").says("did you mean 'bf16'?"));
    CHECK(run(race + "--format bf16 --loss-scaling off").says("applies only to --format fp16 and fp8"));
    CHECK(run(race + "--format fp16 --loss-scaling maybe").says("known: on, off"));
}

TEST_CASE("--format fp64 computes all of cpu:scalar in double, and other lanes are refused") {
    const Folder folder;
    const std::string model = folder.file("run.safetensors");
    const std::string train = "train --quiet --data spiral --layers 12,8 --steps 200 --log-every 1 --json " +
                              folder.file("run.json") + " ";
    const auto losses = [&] {
        std::vector<double> all;
        const Json json = Json::parse(contents(folder.file("run.json")));
        for (const Json& step : json["lanes"][0]["steps"]) all.push_back(step["loss"]);
        return all;
    };
    REQUIRE(run(train + "--lane cpu:scalar").code == 0);
    const std::vector<double> floats = losses();
    const Outcome outcome = run(train + "--lane cpu:scalar --format fp64 --save " + model);
    REQUIRE(outcome.code == 0);
    CHECK(outcome.says("computed in fp64"));
    CHECK(outcome.says("plain loops in fp64"));
    CHECK(Json::parse(contents(folder.file("run.json")))["settings"]["format"] == "fp64");
    const std::vector<double> doubles = losses();
    CHECK(doubles != floats);
    for (std::size_t step = 0; step < 10; ++step)
        CHECK(doubles[step] == doctest::Approx(floats[step]).epsilon(1e-4));
    CHECK(run("predict --model " + model).code == 0);
    CHECK(run("train --resume " + model + " --steps 300").says("cannot be resumed"));
    CHECK(run(train + "--format fp64 --lane cpu:best").says("--format fp64 is for cpu:scalar"));
    CHECK(run(train + "--format fp64 --lane gpu:tiled").code == 2);
}

TEST_CASE("--format int8 trains in fp32, and evaluates in both formats; predict does so with a saved model") {
    const Folder folder;
    const std::string model = folder.file("run.safetensors");
    const std::string train =
        "train --quiet --data moons --layers 12,8 --steps 300 --lane cpu:scalar --json " +
        folder.file("run.json") + " ";
    REQUIRE(run(train).code == 0);
    const Json plain = Json::parse(contents(folder.file("run.json")));
    CHECK_FALSE(plain["lanes"][0].contains("int8"));
    const Outcome outcome = run(train + "--format int8 --save " + model);
    REQUIRE(outcome.code == 0);
    const Json json = Json::parse(contents(folder.file("run.json")));
    CHECK(json["settings"]["format"] == "fp32");
    CHECK(json["lanes"][0]["test"] == plain["lanes"][0]["test"]); // training is the same
    const Json& integers = json["lanes"][0]["int8"];
    CHECK(integers["count"] == json["lanes"][0]["test"]["count"]);
    CHECK(integers["loss"] != json["lanes"][0]["test"]["loss"]);
    CHECK(std::abs(double(integers["accuracy"]) - double(json["lanes"][0]["test"]["accuracy"])) < 0.05);
    CHECK(outcome.says("cpu:scalar, evaluated in int8: "));
    CHECK_FALSE(run(train + "--format bf16").says("int8"));

    const std::string predict =
        "predict --model " + model + " --lane cpu:scalar --json " + folder.file("answers.json");
    const Outcome answers = run(predict + " --format int8");
    REQUIRE(answers.code == 0);
    CHECK((answers.says("int8, plain loops") || answers.says("int8, native (AVX-512 VNNI)")));
    CHECK(answers.says(" (fp32: loss "));
    const Json again = Json::parse(contents(folder.file("answers.json")));
    CHECK(again["format"] == "int8");
    CHECK(again["test"] == integers);
    CHECK(again["fp32"] == json["lanes"][0]["test"]);
    REQUIRE(run(predict).code == 0);
    const Json exact = Json::parse(contents(folder.file("answers.json")));
    CHECK(exact["format"] == "fp32");
    CHECK_FALSE(exact.contains("fp32"));
    CHECK(exact["test"] == again["fp32"]);
    CHECK(exact["predictions"][0]["outputs"] != again["predictions"][0]["outputs"]);
    CHECK(run(predict + " --format fp8").says("known: fp32, int8"));

    std::string table = "x,y\n"; // values have no accuracy
    for (int row = 0; row < 60; ++row) table += std::to_string(row) + "," + std::to_string(row * row) + "\n";
    std::ofstream(folder.file("square.csv")) << table;
    const std::string race = "race --quick --data csv:" + folder.file("square.csv") +
                             " --task values --layers 8 --steps 40 --lane cpu:simd --lane gpu:tiled ";
    const Outcome both = run(race + "--format int8");
    CHECK(both.says("cpu:simd, evaluated in int8: loss "));
    CHECK(both.says("gpu:tiled, evaluated in int8: loss "));
    CHECK(run(race + "--format int8 --master-weights off").says("applies only to --format bf16 and fp16"));
    CHECK(run(race + "--format int9").says("did you mean 'int8'?"));
}

TEST_CASE("without a comparison of kernels, gpu:best takes the likeliest, and says so") {
    const lockstep::test::CacheFolder cache; // nothing was compared before
    const std::string race = "race --quick --quiet --data spiral --steps 20 --lane gpu:best ";
    const Outcome skipped = run(race + "--tune-seconds 0");
    CHECK(skipped.code == 0);
    CHECK(skipped.says("comparison skipped after 0 of "));
    CHECK_FALSE(std::filesystem::exists(cache.path() / "kernels.json"));
    const Outcome compared = run(race);
    CHECK(compared.code == 0);
    CHECK_FALSE(compared.says("skipped"));
    CHECK(std::filesystem::exists(cache.path() / "kernels.json"));
    CHECK(run(race + "--tune-seconds -1").code == 2);
    CHECK(run(race + "--tune-seconds soon").code == 2);
}

TEST_CASE("throttled lanes are named in the table, the headline and the JSON, and learn the same") {
    const Folder folder;
    const std::string race =
        "race --quick --quiet --data spiral --steps 40 --lane gpu:naive --lane cpu:best ";
    const auto lanesOf = [&](const std::string& options) {
        const std::string file = folder.file("race.json");
        const Outcome outcome = run(race + options + " --json " + file);
        REQUIRE(outcome.code == 0);
        return std::pair{outcome, Json::parse(contents(file))["lanes"]};
    };
    const auto [full, all] = lanesOf("");
    const auto [outcome, throttled] = lanesOf("--gpu-workgroups 3");
    CHECK(throttled[0]["gpu_workgroups"] == 3);
    CHECK(throttled[1]["gpu_workgroups"].is_null());
    CHECK(all[0]["gpu_workgroups"].is_null());
    CHECK(throttled[0]["steps"].size() == 40);
    for (std::size_t step = 0; step < 40; ++step)
        CHECK(throttled[0]["steps"][step]["loss"] == all[0]["steps"][step]["loss"]);
    CHECK(outcome.says("throttled: gpu:naive (at most 3 workgroups at once)")); // below the table
    CHECK_FALSE(full.says("throttled"));
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
        CAPTURE(line);
        CHECK(line.size() <= 110);
    }
    // Long enough to be compared: without --quick, each lane is timed for a second.
    const std::string out =
        run("race --quiet --data spiral --steps 40 --lane gpu:naive --lane cpu:best --gpu-workgroups 3").out;
    const std::size_t sentence = out.find("cpu:best on ");
    REQUIRE(sentence != std::string::npos);
    CHECK(out.find("workgroups", sentence) != std::string::npos);
    CHECK(run(race + "--gpu-workgroups -1").code == 2);
    CHECK(run(race + "--gpu-workgroups many").code == 2);
}

TEST_CASE("an interrupt stops the race, and the table is still printed") {
    const Folder folder;
    const std::string json = folder.file("r.json");
    const Outcome outcome =
        interrupted({"race", "--data", "spiral", "--steps", "1000000000", "--lane", "cpu:simd", "--lane",
                     "cpu:best", "--repeat", "3", "--quiet", "--json", json},
                    "until");
    CHECK(outcome.code == 130);
    CHECK(outcome.says("cpu:simd stopped at step"));
    CHECK(outcome.says("interrupted in run 1 of 3"));
    const Json results = Json::parse(contents(json));
    CHECK(results["lanes"][0]["status"] == "stopped");
    CHECK(results["lanes"][1]["status"] == "stopped");
    CHECK(results["headline"]["ratio"].is_null());
}
