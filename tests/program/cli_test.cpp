// The program as its users meet it: run as a process, judged by what it prints, writes and returns.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/files/atomic_file.h"
#include "engine/files/file_bytes.h"
#include "engine/files/safetensors.h"
#include "tests/data_files.h"
#include "tests/run_program.h"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using lockstep::test::contents;
using lockstep::test::Folder;
using lockstep::test::Outcome;
using lockstep::test::run;

std::vector<std::string> keys(const Json& object) {
    std::vector<std::string> all;
    for (const auto& item : object.items()) all.push_back(item.key());
    return all;
}

void requireKeys(const Json& object, const std::vector<std::string>& wanted) {
    for (const std::string& key : wanted) {
        CAPTURE(key);
        CHECK(object.contains(key));
    }
}

const std::string cpuOnSpiral = "--data spiral --lane cpu:best ";

} // namespace

TEST_CASE("the help of the program and of every command has examples") {
    const Outcome all = run("--help");
    CHECK(all.code == 0);
    for (const std::string command :
         {"race", "train", "population", "predict", "map", "bench", "tune", "devices"}) {
        CAPTURE(command);
        CHECK(all.out.find("  " + command + " ") != std::string::npos);
        const Outcome help = run(command + " --help");
        CHECK(help.code == 0);
        CHECK(help.says("examples:"));
        CHECK(help.says("lockstep " + command));
    }
    CHECK(run("--version").says("lockstep "));
}

TEST_CASE("without a display, the program explains how to work without a window") {
    const Outcome outcome = run("", "DISPLAY= WAYLAND_DISPLAY=");
    CHECK(outcome.code == 1);
    CHECK(outcome.says("no window can be opened"));
    CHECK(outcome.says("lockstep race"));
    CHECK(outcome.says("--headless"));
}

TEST_CASE("invalid arguments exit with 2 and suggest the nearest valid one") {
    struct Case {
        std::string arguments;
        std::string answer;
    };
    const Case cases[] = {
        {"race --layer 3", "did you mean '--layers'"},
        {"train --lrr=3", "did you mean '--lr'"},
        {"predict --modle x", "did you mean '--model'"},
        {"race --data spirl", "did you mean 'spiral'"},
        {"race --optimizer adm", "did you mean 'adam'"},
        {"race --activation relo", "did you mean 'relu'"},
        {"race --loss cross-entrpy", "did you mean 'cross-entropy'"},
        {"race --init-scheme hee", "did you mean 'he'"},
        {"race --schedule cosin", "did you mean 'cosine'"},
        {"race --lane gpu:bets", "did you mean 'gpu:best'"},
        {"race --lane cpu:best@1", "no"},
        {"race --epochs 0", "--epochs"},
        {"race --epochs -1", "--epochs"},
        {"race --steps many", "--steps"},
        {"race --batch 0", "--batch"},
        {"race --lr -1", "--lr"},
        {"race --lr nan", "--lr"},
        {"race --seed -1", "--seed"},
        {"race --seed 18446744073709551616", "not a number of at most 18446744073709551615"},
        {"train --seed 1e30", "--seed: '1e30' is not a number of at most 18446744073709551615"},
        {"map --seed 18446744073709551616", "from 0 to 18446744073709551615"},
        {"race --steps 1e30", "--steps: '1e30' is not a number of at most 18446744073709551615"},
        {"race --batch 99999999999999999999", "--batch: '99999999999999999999' is not a number of at most"},
        {"race --data spiral --samples 1e30", "--samples: '1e30' is not a number of at most"},
        {"race --threads 1e30", "--threads: '1e30' is not a number of at most"},
        {"show race --headless --frames 1e30", "--frames: '1e30' is not a number of at most"},
        {"race --seed 1e17", "write '1e17' with all its digits"},
        {"race --lr", "--lr needs a value"},
        {"race --layers 8,,8", "256,128"},
        {"race --layers 0", "--layers"},
        {"race --until-accuracy 95", "0.85 or 85%"},
        {"race --noise 2 --data moons", "0.8"},
        {"race extra", "extra"},
        {"predict", "--model"},
        {"predict --model x --split tset", "did you mean 'test'"},
        {"train --save-every 2", "--save"},
        {"train --resume x --lr 0.1", "--resume"},
        {"train --data spiral --lane cpu:best --lane cpu:simd", "one lane"},
        {"race --data plane --loss cross-entropy", "mse"},
        {"race --data plane --until-accuracy 0.9 --lane cpu:best", "no classes"},
        {"race --data spiral --test-share 0 --until-loss 0.1 --lane cpu:best", "test"},
        {"train --data spiral --momentum 0.5", "--optimizer momentum"},
        {"train --data spiral --optimizer sgd --alpha 0.5", "--optimizer rmsprop"},
        {"train --data spiral --epsilon 2", "epsilon is 2; it must be a number above 0, up to 1"},
        {"race --data spiral --schedule-gamma 0.5", "--schedule step"},
        {"bench --widths 2", "inputs and outputs"},
        {"race --steps 1.5", "--steps: '1.5' is not a whole number, such as 1000 or 1e3"},
        {"race --steps 5,000", "1000 or 1e3"},
        {"race --repeat 0", "--repeat"},
        {"race --repeat 21", "--repeat takes 1 to 20 runs, not 21"},
        {"race --samples 100", "--samples would have no effect on fashion-mnist"},
        {"race --noise 0.1 --data fashion-mnist", "generated points, such as --data spiral"},
        {"race --test-share 0.5 --data fashion-mnist", "data without a test split"},
        {"race --label y --data spiral", "tables (--data csv:FILE)"},
        {"race --lane gpu:invocation", "`lockstep population` has it"},
        {"show foo", "unknown exhibit, preset or lesson 'foo'"},
        {"show rase", "did you mean 'race'"},
        {"show race --headless", "--png FILE"},
        {"show race --headless --png race.jpg", "name the file race.png, not race.jpg"},
    };
    for (const Case& wrong : cases) {
        CAPTURE(wrong.arguments);
        const Outcome outcome = run(wrong.arguments);
        CAPTURE(outcome.err);
        CHECK(outcome.code == 2);
        CHECK(outcome.err.find(wrong.answer) != std::string::npos);
        CHECK(outcome.out.empty());
    }
}

TEST_CASE("whole numbers are decimal, also with zeros in front, and exact up to the last one") {
    for (const auto& [text, seed] : {std::pair<std::string, std::uint64_t>{"010", 10},
                                     {"1e3", 1000},
                                     {"18446744073709551615", 18446744073709551615U}}) {
        const Outcome outcome = run("train --quiet --steps 1 --json - --seed " + text + " " + cpuOnSpiral);
        CHECK(Json::parse(outcome.out)["settings"]["seed"] == seed);
    }
}

TEST_CASE("failures exit with 1 and say what, where and why") {
    const Folder folder;
    std::ofstream(folder.file("bad.csv")) << "a,b\n1,2\n3,oops,4\n";
    std::ofstream(folder.file("bad.safetensors")) << "not tensors";
    const std::string bad = folder.file("bad.safetensors");
    const std::string missing = folder.file("missing");
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"race --data csv:" + missing + ".csv", missing + ".csv"},
        {"race --data idx:" + missing, missing},
        {"race --data csv:" + folder.file("bad.csv"), "bad.csv"},
        {"predict --model " + missing, missing},
        {"predict --model " + bad, "bad.safetensors"},
        {"train --resume " + bad, "bad.safetensors"},
        {"train --init " + bad + " " + cpuOnSpiral, "bad.safetensors"},
        {"train --steps 5 --quiet --json " + missing + "/x.json " + cpuOnSpiral, missing},
        {"train --steps 5 --quiet --save " + missing + "/x.safetensors " + cpuOnSpiral, missing},
    };
    for (const auto& [words, answer] : cases) {
        const std::string arguments = words; // Clang 14: no structured bindings in lambdas, which CAPTURE is
        CAPTURE(arguments);
        const Outcome outcome = run(arguments);
        CAPTURE(outcome.err);
        CHECK(outcome.code == 1);
        CHECK(outcome.err.find(answer) != std::string::npos);
    }
    const Outcome unwritable = run("train --save " + missing + "/x.safetensors " + cpuOnSpiral);
    CHECK(unwritable.code == 1);
    CHECK(unwritable.out.empty()); // before the training, not after it
}

TEST_CASE("a requested device is used, or the command fails") {
    for (const std::string command :
         {"devices", "race --data spiral --steps 5", "train --data spiral --steps 5"}) {
        CAPTURE(command);
        const Outcome outcome = run(command + " --device nowhere");
        CHECK(outcome.code == 1);
        CHECK(outcome.says("matches 'nowhere'"));
    }
}

TEST_CASE("without a Vulkan driver, CPU lanes race, and a requested GPU lane fails with a hint") {
    const Folder folder;
    const std::string noDriver = lockstep::test::withoutDriver(folder);
    const Outcome race = run("race --data spiral --steps 50 --quiet", noDriver);
    CHECK(race.code == 0);
    CHECK(race.says("gpu:best is left out"));
    CHECK(race.says("mesa-vulkan-drivers"));
    CHECK(race.out.find("cpu:best") != std::string::npos);

    const Outcome gpu = run("race --data spiral --lane gpu:best", noDriver);
    CHECK(gpu.code == 1);
    CHECK(gpu.err.find("mesa-vulkan-drivers") != std::string::npos);

    const Outcome train = run("train --data spiral --steps 50 --quiet", noDriver);
    CHECK(train.code == 0);
    CHECK(train.says("cpu:best, because no GPU can be used"));

    const Outcome devices = run("devices", noDriver);
    CHECK(devices.code == 0);
    CHECK(devices.says("mesa-vulkan-drivers"));
    const Json json = Json::parse(run("devices --json", noDriver).out);
    CHECK(json["devices"].empty());
    CHECK(json["problem"].is_string());
}

TEST_CASE("devices --json writes a file, or standard output where none is named") {
    const Folder folder;
    const Outcome written = run("devices --json " + folder.file("devices.json"));
    CHECK(written.code == 0);
    CHECK(written.out.starts_with("processor "));
    const Json json = Json::parse(contents(folder.file("devices.json")));
    for (const char* plain : {"devices --json", "devices --json -", "devices --json --device 0"})
        CHECK(keys(Json::parse(run(plain).out)) == keys(json));
    CHECK(run("devices --json " + folder.file("no/folder.json")).code == 1);
}

TEST_CASE("a misspelt name is answered in the same way everywhere, the nearest right name first") {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"rase", "unknown command 'rase'; did you mean 'race'? (known: race, "},
        {"nonsense", "unknown command 'nonsense' (known: show, race, "},
        {"lab lanch", "unknown experiment 'lanch'; did you mean 'launch'? (known: launch, "},
        {"lesson show what-is-a-gup",
         "unknown lesson 'what-is-a-gup'; did you mean 'what-is-a-gpu'? (known: what-is-a-gpu, "},
        {"lesson shwo", "unknown action of 'lesson' 'shwo'; did you mean 'show'? (known: show, "},
        {"show racetiny",
         "unknown exhibit, preset or lesson 'racetiny'; did you mean 'race-tiny'? (known: race-tiny, "},
        {"show mosiac", "did you mean 'mosaic'? (known: mosaic, "},
        {"race --lane gpu:tile", "unknown lane 'gpu:tile'; did you mean 'gpu:tiled'? (known: gpu:tiled, "},
        {"map --preset ege", "unknown preset 'ege'; did you mean 'edge'? (known: edge, "},
        {"race --data moon", "unknown data 'moon'; did you mean 'moons'? (known: moons, "}};
    for (const auto& [words, answer] : cases) {
        const std::string arguments = words;
        CAPTURE(arguments);
        const Outcome outcome = run(arguments);
        CAPTURE(outcome.err);
        CHECK(outcome.code == 2);
        CHECK(outcome.err.find(answer) != std::string::npos);
    }
    CHECK(run("show racetiny").says("`lockstep show --list` lists all)"));
}

TEST_CASE("everything that can be shown by name is listed, and each name means one thing") {
    const Outcome list = run("show --list");
    CHECK(list.code == 0);
    std::istringstream lines(list.out);
    std::vector<std::string> names;
    for (std::string line; std::getline(lines, line);) names.push_back(line.substr(0, line.find(' ')));
    for (const char* name : {"race", "parallelism", "race-tiny", "mosaic-learning-rates", "what-is-a-gpu"})
        CHECK(std::ranges::count(names, name) == 1);
    std::ranges::sort(names);
    CHECK(std::ranges::adjacent_find(names) == names.end());
    for (const auto& entry : fs::directory_iterator(fs::path(LOCKSTEP_SOURCE_DIR) / "assets/presets"))
        CHECK(std::ranges::count(names, entry.path().stem().string()) == 1);
    const Folder folder;
    std::ofstream(folder.file("s.txt")) << "state " << folder.file("s.json") << "\n";
    const Outcome shown = run("show race-tiny --headless --script " + folder.file("s.txt"));
    INFO(shown.out << shown.err);
    CHECK(shown.code == 0);
    const auto preset =
        Json::parse(contents(fs::path(LOCKSTEP_SOURCE_DIR) / "assets/presets/race-tiny.json"));
    const auto state = Json::parse(contents(folder.file("s.json")));
    CHECK(state["exhibit"] == "race");
    CHECK(state["exhibits"]["race"]["hidden"] == preset["exhibits"]["race"]["hidden"]);
}

TEST_CASE("--json has the documented shape") {
    const Folder folder;
    const std::string file = folder.file("race.json");
    const Outcome race =
        run("race --quick --data spiral --epochs 3 --batch 100 --log-every 2 --quiet --lane cpu:scalar "
            "--lane cpu:best --threads 2 --json " +
            file);
    REQUIRE(race.code == 0);
    const Json json = Json::parse(contents(file));
    CHECK(keys(json) ==
          std::vector<std::string>{"data", "net", "settings", "lanes", "headline", "other_load"});
    CHECK(json["settings"]["repeat"] == 1);
    CHECK(json["lanes"][0]["spread"].is_null());
    CHECK(json["headline"]["ratio_least"].is_null());
    requireKeys(json["data"], {"name", "train", "test", "inputs", "classes"});
    CHECK(json["data"]["train"] == 400);
    requireKeys(json["net"], {"widths", "activation", "loss", "parameters"});
    requireKeys(json["settings"], {"optimizer", "lr", "batch", "seed", "shuffle", "finish", "together"});
    REQUIRE(json["lanes"].size() == 2);
    for (const Json& lane : json["lanes"]) {
        requireKeys(lane, {"lane", "device", "software", "threads", "steps", "epochs", "seconds",
                           "device_seconds", "samples_per_second", "gflops", "operations", "status",
                           "warm_up_seconds", "evaluation_seconds"});
        CHECK(lane["status"] == "finished");
        CHECK(lane["software"] == false);
        REQUIRE(lane["steps"].size() == 6); // 12 steps, every 2nd
        CHECK(keys(lane["steps"][0]) == std::vector<std::string>{"step", "loss", "seconds"});
        CHECK(lane["steps"][5]["step"] == 10);
        REQUIRE(lane["epochs"].size() == 3);
        CHECK(keys(lane["epochs"][0]) ==
              std::vector<std::string>{"epoch", "train_loss", "test_loss", "test_accuracy", "seconds"});
        CHECK(lane["epochs"][2]["epoch"] == 3);
        CHECK(lane["epochs"][2]["test_accuracy"].is_number());
        REQUIRE_FALSE(lane["operations"].empty());
        CHECK(keys(lane["operations"][0]) ==
              std::vector<std::string>{"name", "milliseconds", "calls", "flops", "bytes"});
        CHECK(lane["agreement"]["same"] == true);
    }
    requireKeys(json["headline"],
                {"text", "comparable", "reason", "faster", "slower", "ratio", "measured_by", "time_trial"});
    CHECK(json["headline"]["comparable"] == false); // milliseconds
    CHECK(json["headline"]["faster"].is_null());
    CHECK(race.says(json["headline"]["reason"].get<std::string>().substr(0, 25)));

    const Outcome piped = run("race --quick --data spiral --steps 20 --quiet --lane cpu:best --json -");
    CHECK(Json::parse(piped.out)["lanes"].size() == 1);
    CHECK(piped.err.find("cpu:best") != std::string::npos);
}

TEST_CASE("NaN is null in JSON; if a lane fails, the others continue and the exit code is 1") {
    const std::string tooFast = "race --data plane --optimizer sgd --lr 1e6 --steps 200 --quiet --json - ";
    const Outcome race = run(tooFast + "--lane cpu:simd --lane cpu:scalar");
    CHECK(race.code == 1);
    CHECK(race.err.find("failed") != std::string::npos);
    const Json json = Json::parse(race.out);
    for (const Json& lane : json["lanes"]) {
        CHECK(lane["status"] == "failed");
        CHECK(lane["message"].is_string());
    }
    CHECK(json["headline"]["ratio"].is_null());

    const Json values =
        Json::parse(run("train --data plane --epochs 1 --quiet --lane cpu:simd --json -").out);
    CHECK(values["lanes"][0]["epochs"][0]["test_accuracy"].is_null()); // regression has none
    CHECK(values["lanes"][0]["epochs"][0]["test_loss"].is_number());
}

TEST_CASE("--csv has a row per lane and recorded step") {
    const Outcome race = run("race --quick --data spiral --steps 10 --quiet --log-every 1 --lane cpu:simd "
                             "--lane cpu:best --csv -");
    std::istringstream lines(race.out);
    std::string line;
    REQUIRE(std::getline(lines, line));
    CHECK(line == "lane,step,loss,seconds");
    int rows = 0;
    for (; std::getline(lines, line); ++rows)
        CHECK(line.starts_with((rows < 10 ? "cpu:simd," : "cpu:best,") + std::to_string(rows % 10) + ","));
    CHECK(rows == 20);
}

TEST_CASE("a resumed run ends with a file bit-identical to that of an uninterrupted run") {
    const Folder folder;
    const std::string options = "--data spiral --lane cpu:simd --batch 30 --optimizer adamw --quiet ";
    const std::string first = folder.file("first.safetensors");
    const std::string second = folder.file("second.safetensors");
    const std::string whole = folder.file("whole.safetensors");
    REQUIRE(run("train --steps 37 --save " + first + " " + options).code == 0);
    REQUIRE(run("train --steps 100 --quiet --resume " + first + " --save " + second).code == 0);
    REQUIRE(run("train --steps 100 --save " + whole + " " + options).code == 0);
    CHECK(contents(second) == contents(whole));
    CHECK(contents(first) != contents(whole));
    const Outcome past = run("train --steps 50 --quiet --resume " + whole);
    CHECK(past.code == 0);
    CHECK(
        past.says("nothing is left to train: the checkpoint is at step 100, and the finish line is step 50; "
                  "raise --steps"));
}

TEST_CASE("--init starts a new run from weights") {
    const Folder folder;
    const std::string model = folder.file("model.safetensors");
    REQUIRE(run("train --steps 300 --quiet --save " + model + " " + cpuOnSpiral).code == 0);
    const auto firstLoss = [](const std::string& arguments) {
        const Outcome outcome = run("train --steps 3 --quiet --json - " + arguments + " " + cpuOnSpiral);
        return Json::parse(outcome.out)["lanes"][0]["steps"][0];
    };
    const Json fresh = firstLoss("");
    const Json started = firstLoss("--init " + model);
    CHECK(started["step"] == 0);
    CHECK(started["loss"].get<double>() < fresh["loss"].get<double>());
    CHECK(run("train --steps 3 --layers 5 --init " + model + " " + cpuOnSpiral).code == 1);
}

namespace {

/// The weights of a model that `lockstep train` saved, with these names in place of "0." and "2.".
void writeRenamed(const std::string& model, const std::string& file, const std::string& first,
                  const std::string& second) {
    lockstep::TensorFile weights = lockstep::parseSafetensors(lockstep::readFileBytes(model), model);
    weights.metadata.clear();
    std::erase_if(weights.tensors, [](const auto& tensor) { return tensor.name.starts_with("optimizer."); });
    for (lockstep::Tensor& tensor : weights.tensors)
        tensor.name = (tensor.name[0] == '0' ? first : second) + tensor.name.substr(2);
    lockstep::writeFileAtomically(file, lockstep::safetensorsBytes(weights));
}

} // namespace

TEST_CASE("weights under the names of other programs are matched, and that is said") {
    const Folder folder;
    const std::string model = folder.file("model.safetensors");
    const std::string network = "--layers 8 " + cpuOnSpiral;
    REQUIRE(run("train --steps 50 --quiet --save " + model + " " + network).code == 0);
    const std::string start = "train --steps 1 --quiet --json - " + network + " --init ";
    const auto losses = [](const Outcome& outcome) {
        REQUIRE(outcome.code == 0);
        return Json::parse(outcome.out)["lanes"][0]["steps"];
    };
    const Json wanted = losses(run(start + model));
    const std::string file = folder.file("weights.safetensors");
    const std::pair<std::string, std::string> names[] = {{"fc1.", "fc2."},
                                                         {"linear_relu_stack.0.", "linear_relu_stack.2."},
                                                         {"1.", "3."},
                                                         {"module.0.", "module.2."},
                                                         {"_orig_mod.0.", "_orig_mod.2."}};
    for (const auto& stems : names) {
        const std::string& first = stems.first;
        CAPTURE(first);
        writeRenamed(model, file, first, stems.second);
        const Outcome outcome = run(start + file);
        CHECK(losses(outcome)[0]["loss"] == wanted[0]["loss"]);
        CHECK(outcome.says("note: layers were put in the order of the numbers in their names: '" +
                           first.substr(0, first.size() - 1) + "', '"));
    }
    writeRenamed(model, file, "0.", "2.");
    CHECK(!run(start + file).says("note: layers"));
    writeRenamed(model, file, "module.0.", "module.2.");
    const Outcome refused = run("train --steps 1 --layers 9 --init " + file + " " + cpuOnSpiral);
    CHECK(refused.code == 1);
    CHECK(
        refused.says("its layers are 2-8-2, not 2-9-2; use the layers of the saved network: --layers 8; the "
                     "file has 'module.0.weight' [8, 2], "));
    std::ofstream(file) << "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 940000\n";
    CHECK(run(start + file).says("not a safetensors file, but a Git LFS pointer"));
}

TEST_CASE("predict reads weights alone with --data, and their layers off the file") {
    const Folder folder;
    const std::string model = folder.file("model.safetensors");
    const std::string file = folder.file("weights.safetensors");
    for (const std::string layers : {"8", "32"}) {
        CAPTURE(layers);
        REQUIRE(run("train --steps 100 --quiet --layers " + layers + " --save " + model + " " + cpuOnSpiral)
                    .code == 0);
        const Json wanted = Json::parse(run("predict --json - --model " + model).out);
        writeRenamed(model, file, "net.0.", "net.2.");
        const Outcome outcome = run("predict --json - --data spiral --model " + file);
        REQUIRE(outcome.code == 0);
        const Json found = Json::parse(outcome.out);
        CHECK(found["test"] == wanted["test"]);
        CHECK(found["predictions"] == wanted["predictions"]);
        CHECK(outcome.says("note: the layers are those of the file: 2-" + layers + "-2"));
        CHECK(outcome.says("note: weights do not tell the activation: relu is assumed (--activation)"));
        CHECK(run("predict --data spiral --activation relu --model " + file).code == 0);
        CHECK(run("predict --data spiral --layers " + layers + " --model " + file).code == 0);
    }
    const Outcome nothing = run("predict --model " + file);
    CHECK(nothing.code == 1);
    CHECK(nothing.says("it has weights, but no run that says which data they are for; give --data"));
    const Outcome other = run("predict --data rings --model " + file);
    CHECK(other.code == 1);
    CHECK(other.says("its layers are 2-32-2, not 2-...-3; the data need other inputs or outputs"));
    // A run's own file keeps its network on other data.
    CHECK(run("predict --data xor --model " + model).code == 0);
}

TEST_CASE("a folder of IDX files whose test images are called test") {
    const lockstep::test::TemporaryFolder folder;
    folder.write("train-images-idx3-ubyte", lockstep::test::idxImages(6, 4, 4));
    folder.write("train-labels-idx1-ubyte", lockstep::test::idxLabels({0, 1, 1, 0, 1, 0}));
    folder.write("test-images-idx3-ubyte", lockstep::test::idxImages(3, 4, 4));
    folder.write("test-labels-idx1-ubyte", lockstep::test::idxLabels({0, 1, 1}));
    const Outcome outcome =
        run("train --lane cpu:best --steps 5 --quiet --json - --data idx:" + folder.path().string());
    REQUIRE(outcome.code == 0);
    const Json data = Json::parse(outcome.out)["data"];
    CHECK(data["train"] == 6);
    CHECK(data["test"] == 3);
}

TEST_CASE("predict repeats the evaluation of the training run") {
    const Folder folder;
    const std::string model = folder.file("model.safetensors");
    const Outcome train =
        run("train --data rings --lane cpu:best --steps 500 --quiet --json - --save " + model);
    REQUIRE(train.code == 0);
    const Json trained = Json::parse(train.out)["lanes"][0]["test"];

    const Json json = Json::parse(run("predict --json - --model " + model).out);
    CHECK(json["test"]["accuracy"] == trained["accuracy"]);
    CHECK(json["test"]["confusion"] == trained["confusion"]);
    REQUIRE(json["predictions"].size() == 100);
    int right = 0;
    for (const Json& prediction : json["predictions"]) {
        right += prediction["label"] == prediction["answer"] ? 1 : 0;
        CHECK(prediction["outputs"].size() == 3);
        double sum = 0;
        for (const Json& share : prediction["probabilities"]) sum += share.get<double>();
        CHECK(sum == doctest::Approx(1.0));
    }
    CHECK(right == doctest::Approx(trained["accuracy"].get<double>() * 100));

    const Outcome text = run("predict --model " + model);
    CHECK(text.says("accuracy"));
    CHECK(text.says("is \\ says"));
    const Json everything = Json::parse(run("predict --split all --json - --model " + model).out);
    CHECK(everything["predictions"].size() == 500);
    CHECK(run("predict --data fashion-mnist --model " + model).code == 2); // it has 784 inputs, not 2
    CHECK(run("predict --label y --model " + model).says("--target would have no effect on rings"));
    CHECK(run("predict --layers 32,32 --data rings --model " + model).code == 0);
}

TEST_CASE("results replace an older file and leave no temporary file") {
    const Folder folder;
    const std::string file = folder.file("old.json");
    std::ofstream(file) << "old";
    REQUIRE(run("race --quick --steps 5 --quiet --json " + file + " " + cpuOnSpiral).code == 0);
    CHECK(Json::parse(contents(file)).contains("lanes"));
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder.path)) ++files;
    CHECK(files == 1);
}

TEST_CASE("a state of 100,000 brackets is refused in a sentence, wherever they are") {
    const Folder folder;
    const std::string file = folder.file("deep.json");
    const std::string brackets(100'000, '[');
    const std::string closing(100'000, ']');
    for (const std::string& text :
         {brackets, "{\"lockstep\": 1, \"exhibits\": {\"race\": {\"data\": " + brackets + closing + "}}}",
          "{\"lockstep\": 1, \"hidden\": " + brackets + closing + "}"}) {
        std::ofstream(file) << text;
        const Outcome outcome = run("show " + file + " --headless --frames 1");
        CHECK(outcome.code == 1);
        CHECK(outcome.says("deep.json:1:"));
        CHECK(outcome.says("more than 64 nested brackets"));
    }
}
