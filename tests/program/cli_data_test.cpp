// `lockstep data`: what it says of a data set, and that what it exports is read back as the same data set.
#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "engine/data/csv_dataset.h"
#include "engine/data/data_source.h"
#include "tests/data_files.h"
#include "tests/run_program.h"

namespace {

using namespace lockstep;
using lockstep::test::contents;
using lockstep::test::Folder;
using lockstep::test::Outcome;
using lockstep::test::run;
using Json = nlohmann::ordered_json;

void checkEqual(const Examples& a, const Examples& b) {
    CHECK(a.count == b.count);
    CHECK(a.values == b.values); // to the bit
    CHECK(a.labels == b.labels);
    CHECK(a.targets == b.targets);
}

} // namespace

TEST_CASE("without a name, `data` lists the data sets; a misspelt one finds the nearest") {
    const Outcome list = run("data");
    CHECK(list.code == 0);
    for (const std::string_view spec : dataSpecs()) CHECK(list.out.find(spec) != std::string::npos);
    const Outcome wrong = run("data spirla");
    CHECK(wrong.code == 2);
    CHECK(wrong.says("unknown data 'spirla'; did you mean 'spiral'? (known: spiral, "));
    CHECK(run("data spiral --label y").says("--target would have no effect on spiral"));
    CHECK(run("data spiral --csv - --json -").code == 2);
}

TEST_CASE("`data` counts examples and classes, and gives the range of each input") {
    const Folder folder;
    std::ofstream(folder.file("t.csv")) << "a,b,kind\n1,-2,no\n3,2,yes\n2,0,yes\n2,0,yes\n";
    const Outcome outcome =
        run("data csv:" + folder.file("t.csv") + " --test-share 0.25 --json " + folder.file("t.json"));
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(outcome.says("csv:t.csv: 3 training and 1 test examples"));
    const Json json = Json::parse(contents(folder.file("t.json")));
    CHECK(json["data"]["class_names"] == Json{"no", "yes"});
    CHECK(json["image"].is_null());
    CHECK(json["inputs"][1]["name"] == "b");
    CHECK(json["inputs"][1]["least"] == -2);
    CHECK(json["inputs"][1]["most"] == 2);
    CHECK(json["inputs"][0]["mean"] == 2);
    CHECK(json["inputs"][0]["deviation"].get<double>() == doctest::Approx(0.70710678));
    CHECK(json["labels"][1]["train"].get<int>() + json["labels"][1]["test"].get<int>() == 3);
    CHECK(json["targets"].empty());
    const Json values = Json::parse(run("data plane --json -").out);
    CHECK(values["labels"].empty());
    CHECK(values["targets"][0]["name"] == "value");
}

TEST_CASE("exported points and tables are read back with the same values, classes and split") {
    const Folder folder;
    std::ofstream(folder.file("t.csv")) << "\"a, b\",kind\n0.1,\"x, \"\"y\"\"\"\n3e-20,z\n-7,z\n5,z\n";
    for (const std::string spec : {"spiral", "plane", "rings", "t.csv"}) {
        CAPTURE(spec);
        const std::string data = spec == "t.csv" ? "csv:" + folder.file(spec) : spec;
        const std::string file = folder.file("export.csv");
        const std::string noise = spec == "t.csv" ? "" : " --samples 60 --noise 0.1";
        REQUIRE(run("data " + data + noise + " --seed 7 --test-share 25% --csv " + file).code == 0);
        DataOptions options{.seed = 7, .testShare = 0.25};
        if (!noise.empty()) options.samples = 60, options.noise = 0.1;
        options.table.scale = InputScale::none;
        const Dataset original = loadDataset(data, options);
        // The split is the file's.
        const Dataset again = loadDataset("csv:" + file, {.seed = 3, .table = {.scale = InputScale::none}});
        CHECK(again.classNames == original.classNames);
        CHECK(again.inputNames == original.inputNames);
        checkEqual(again.train, original.train);
        checkEqual(again.test, original.test);
    }
    CHECK(contents(folder.file("export.csv")).starts_with("\"a, b\",label,split\n"));
}

TEST_CASE("pictures are exported as pixels, a row each") {
    const lockstep::test::TemporaryFolder pictures;
    pictures.write("train-images-idx3-ubyte", lockstep::test::idxImages(3, 2, 2));
    pictures.write("train-labels-idx1-ubyte", lockstep::test::idxLabels({0, 1, 0}));
    const Outcome outcome = run("data idx:" + pictures.path().string() + " --test-share 0 --csv -");
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(outcome.out == "pixel0,pixel1,pixel2,pixel3,label,split\n0,1,2,3,0,train\n4,5,6,7,1,train\n"
                         "8,9,10,11,0,train\n");
    CHECK(outcome.err.find("2x2 pixels, which a network sees from 0 to 1") != std::string::npos);
}

TEST_CASE("a column `split` is the split where it says train and test, and a column else") {
    const auto parse = [](std::string_view text) { return lockstep::parseCsvDataset(text, "t.csv", {}); };
    const Dataset data = parse("a,label,split\r\n1,x,train\r\n2,\"y\",\"test\"\r\n");
    CHECK(data.train.count == 1);
    CHECK(data.test.count == 1);
    CHECK(data.inputs == 1);
    CHECK(parse("a,split,label\n1,train,x\n2,test,y\n").test.count == 1);
    CHECK(parse("a,split\n1,train\n2,tset\n").classNames == std::vector<std::string>{"train", "tset"});
    CHECK_THROWS_WITH_AS(parse("a,b,split\n1,2,test\n2,3,test\n"),
                         "t.csv: no row of the column 'split' says 'train'", std::runtime_error);
    const lockstep::test::TemporaryFolder folder;
    const std::string file = (folder.path() / "wrong.csv").string();
    std::ofstream(file) << "a,label,split\n1,x,train\nb,y,test\n";
    // Places are those of the file.
    CHECK_THROWS_WITH_AS(loadDataset("csv:" + file), doctest::Contains("wrong.csv:3:1: "),
                         std::runtime_error);
}

TEST_CASE("`data` scales inputs once, and pictures only where there are some") {
    const Folder folder;
    std::ofstream(folder.file("t.csv")) << "a,b,kind\n100,1,x\n300,2,y\n500,3,x\n700,4,y\n";
    const std::string json = folder.file("d.json");
    CHECK(run("data csv:" + folder.file("t.csv") + " --test-share 0 --scale standard --json " + json).code ==
          0);
    const auto columns = Json::parse(contents(json))["data"]["columns"]["each"];
    CHECK(columns[0]["mean"] == 400.0);
    const Outcome pixels = run("data csv:" + folder.file("t.csv") + " --scale pixels --ignore a");
    CHECK_FALSE(pixels.says("0x0 pixels"));
}
