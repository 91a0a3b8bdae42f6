#include "engine/data/data_source.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <doctest/doctest.h>

#include "engine/data/points_2d.h"
#include "engine/files/file_bytes.h"
#include "tests/data_files.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string loadComplaint(const std::string& spec, const DataOptions& options = {}) {
    return complaint([&] { loadDataset(spec, options); });
}

std::string loadRefusal(const std::string& spec, const DataOptions& options = {}) {
    return refusal([&] { loadDataset(spec, options); });
}

Dataset numbered(std::size_t count) {
    Dataset data;
    data.name = "numbered";
    data.inputs = 2;
    data.classes = 2;
    data.train.count = count;
    for (std::size_t i = 0; i < count; ++i) {
        data.train.values.insert(data.train.values.end(), {static_cast<float>(i), -static_cast<float>(i)});
        data.train.labels.push_back(static_cast<std::uint32_t>(i));
    }
    return data;
}

} // namespace

TEST_CASE("points by name, split into training and test") {
    for (std::string_view name : points2dNames) {
        CAPTURE(name);
        const Dataset data = loadDataset(name);
        CHECK(data.name == name);
        CHECK(data.inputs == 2);
        CHECK(data.inputNames == std::vector<std::string>{"x", "y"});
        CHECK(data.classes == points2dClasses(points2dFromName(name)));
        CHECK(data.classNames.size() == data.classes);
        CHECK(data.train.count == 400);
        CHECK(data.test.count == 100);
        CHECK(data.train.values.size() == 800);
        CHECK((data.classes == 0 ? data.train.targets.size() : data.train.labels.size()) == 400);
        CHECK((data.classes == 0 ? data.test.targets.size() : data.test.labels.size()) == 100);
    }
}

TEST_CASE("the same options give the same points, another seed others") {
    const DataOptions options{.seed = 5, .samples = 100, .noise = 0.2, .testShare = 0.5};
    const Dataset once = loadDataset("moons", options);
    CHECK(once.train.values == loadDataset("moons", options).train.values);
    CHECK(once.test.values == loadDataset("moons", options).test.values);
    DataOptions other = options;
    other.seed = 6;
    CHECK(once.train.values != loadDataset("moons", other).train.values);
}

TEST_CASE("options out of range") {
    CHECK(loadRefusal("moons", {.samples = 1}) == "cannot generate 1 points; choose between 2 and 10000000");
    CHECK(contains(loadRefusal("moons", {.samples = 20'000'000}), "cannot generate 20000000 points"));
    CHECK(contains(loadRefusal("moons", {.noise = 0.9}), "noise 0.9"));
    CHECK(contains(loadRefusal("moons", {.noise = std::nan("")}), "noise nan"));
    CHECK(contains(loadRefusal("moons", {.testShare = 1}), "the test share 1 is out of range"));
    CHECK(contains(loadRefusal("moons", {.testShare = -0.1}), "the test share -0.1 is out of range"));
    CHECK(contains(loadRefusal("moons", {.samples = 2, .testShare = 0.8}), "leaves none of the 2 examples"));
}

TEST_CASE("unknown names") {
    TemporaryFolder folder;
    const std::string table = folder.write("table.csv", "1,a\n2,b\n").string();
    CHECK(loadRefusal("mons").starts_with("unknown data 'mons'; did you mean 'moons'? (known: moons, "));
    CHECK(loadRefusal("fashion-mist")
              .starts_with("unknown data 'fashion-mist'; did you mean 'fashion-mnist'?"));
    CHECK(loadRefusal("csv:") == "data 'csv:' lacks a file or folder after the colon");
    CHECK(loadRefusal(table) == "data '" + table + "' is a file; write csv:" + table + " if it is a table");
    CHECK(loadRefusal(folder.path().string()).ends_with(" if it holds the files of MNIST"));
}

TEST_CASE("the test split is a part of the whole, in its order, and depends on the seed") {
    Dataset data = numbered(1000);
    splitOffTest(data, 0.25, 3);
    CHECK(data.train.count == 750);
    CHECK(data.test.count == 250);
    std::vector<int> found(1000, 0);
    for (const Examples* examples : {&data.train, &data.test}) {
        REQUIRE(examples->labels.size() == examples->count);
        REQUIRE(examples->values.size() == 2 * examples->count);
        for (std::size_t i = 0; i < examples->count; ++i) {
            const std::uint32_t label = examples->labels[i];
            ++found[label];
            CHECK(examples->values[2 * i] == static_cast<float>(label));
            CHECK(examples->values[2 * i + 1] == -static_cast<float>(label));
            CHECK((i == 0 || examples->labels[i - 1] < label));
        }
    }
    CHECK(std::count(found.begin(), found.end(), 1) == 1000);
    Dataset same = numbered(1000);
    splitOffTest(same, 0.25, 3);
    CHECK(same.test.labels == data.test.labels);
    Dataset other = numbered(1000);
    splitOffTest(other, 0.25, 4);
    CHECK(other.test.labels != data.test.labels);
}

TEST_CASE("the smallest test splits") {
    Dataset one = numbered(1);
    splitOffTest(one, 0.2, 1);
    CHECK(one.train.count == 1);
    CHECK(one.test.count == 0);
    Dataset two = numbered(2);
    splitOffTest(two, 0.5, 1);
    CHECK(two.train.count == 1);
    CHECK(two.test.count == 1);
    CHECK(refusal([] {
              Dataset data = numbered(1);
              splitOffTest(data, 0.5, 1);
          }) == "a test share of 0.5 leaves none of the 1 examples of 'numbered' for training; choose a "
                "smaller one");
}

TEST_CASE("a table") {
    TemporaryFolder folder;
    const std::string path = folder.write("t.csv", "a,b\n1,x\n2,y\n3,x\n4,y\n5,x\n").string();
    const Dataset data = loadDataset("csv:" + path);
    CHECK(data.name == "csv:t.csv");
    CHECK(data.train.count == 4);
    CHECK(data.test.count == 1);
    CHECK(loadDataset("csv:" + path, {.testShare = 0}).test.count == 0);
    CHECK(contains(loadRefusal("csv:" + path, {.table = {.target = "c"}}), "unknown column of "));
    CHECK(loadComplaint("csv:" + path, {.classNames = {"x", "z"}}) ==
          path +
              ":3:2: column 'b': the label 'y' is not one of the 2 known classes (x, z); did you mean 'x'?");
}

TEST_CASE("a folder of IDX files") {
    TemporaryFolder folder;
    folder.write("train-images-idx3-ubyte", idxImages(5, 2, 2));
    folder.write("train-labels-idx1-ubyte", idxLabels({0, 1, 1, 0, 1}));
    const Dataset data = loadDataset("idx:" + folder.path().string() + "/");
    CHECK(data.name == "idx:" + folder.path().filename().string());
    CHECK(data.train.count == 4);
    CHECK(data.test.count == 1);
    CHECK(data.train.pixels.size() == 16);
    REQUIRE(data.notes.size() == 1);
    CHECK(data.notes[0] == "no test files were found: 1 of the 5 training examples are held out for testing");
    CHECK(contains(loadComplaint("idx:" + folder.path().string(), {.classNames = {"only"}}),
                   "label 1 of image 1 is not one of the 1 classes"));
}

TEST_CASE("test images under the name that EMNIST and others give them are read, not ignored") {
    TemporaryFolder folder;
    folder.write("train-images-idx3-ubyte", idxImages(6, 4, 4));
    folder.write("train-labels-idx1-ubyte", idxLabels({0, 1, 1, 0, 1, 0}));
    folder.write("test-images-idx3-ubyte", idxImages(3, 4, 4));
    folder.write("test-labels-idx1-ubyte", idxLabels({0, 1, 1}));
    const Dataset data = loadDataset("idx:" + folder.path().string());
    CHECK(data.train.count == 6);
    CHECK(data.test.count == 3);
    REQUIRE(data.notes.size() == 1);
    CHECK(data.notes[0] ==
          "training images: 'train-images-idx3-ubyte' with labels 'train-labels-idx1-ubyte'; test images: "
          "'test-images-idx3-ubyte' with labels 'test-labels-idx1-ubyte'");
    CHECK(loadDataset("spiral").notes.empty());
}

TEST_CASE("files that cannot be read") {
    TemporaryFolder folder;
    const std::string empty = folder.write("empty.csv", "").string();
    const std::string here = folder.path().string();
    CHECK(loadComplaint("csv:" + here) == "cannot read " + here + ": it is a folder");
    CHECK(loadComplaint("csv:" + here + "/none") == "cannot read " + here + "/none: no such file");
    CHECK(loadComplaint("csv:" + empty) == "cannot read " + empty + ": the file is empty");
    if (!onWindows)
        CHECK(loadComplaint("csv:/dev/null") == "cannot read /dev/null: it is a device or a pipe");
    CHECK(complaint([&] { readFileBytes(folder.write("large", "12345"), 4); }) ==
          "cannot read " + (folder.path() / "large").string() + ": it has 5 bytes; the limit is 4");
}

TEST_CASE("text in messages is short and has no control characters") {
    CHECK(quotedForMessage("a\nb\x7F") == "'a?b?'");
    CHECK(quotedForMessage(std::string(40, 'x')) == "'" + std::string(40, 'x') + "'");
    CHECK(quotedForMessage(std::string(39, 'x') + "\xC3\xA9") == "'" + std::string(39, 'x') + "...'");
}

TEST_CASE("Fashion-MNIST from the folder that LOCKSTEP_DATA names") {
    TemporaryFolder folder;
    std::filesystem::create_directory(folder.path() / "fashion-mnist");
    folder.write("fashion-mnist/train-images-idx3-ubyte.gz", gzipped(idxImages(3, 28, 28)));
    folder.write("fashion-mnist/train-labels-idx1-ubyte.gz", gzipped(idxLabels({0, 1, 9})));
    const Environment environment("LOCKSTEP_DATA", folder.path().string());
    const Dataset data = loadDataset("fashion-mnist", {.testShare = 0});
    CHECK(data.name == "fashion-mnist");
    CHECK(data.inputs == 784);
    CHECK(data.classes == 10);
    CHECK(data.classNames.front() == "T-shirt/top");
    CHECK(data.classNames.back() == "Ankle boot");
    CHECK(data.train.count == 3);
    folder.write("fashion-mnist/train-labels-idx1-ubyte.gz", gzipped(idxLabels({0, 1, 10})));
    CHECK(
        contains(loadComplaint("fashion-mnist"), "label 10 of image 2 is not one of the 10 classes, 0 to 9"));
}

TEST_CASE("if Fashion-MNIST is missing, the message names the package and the folders") {
    TemporaryFolder folder;
    const std::string message = complaint([&] {
        loadFashionMnist({folder.path() / "a", folder.path() / "b"});
    });
    CHECK(message == "Fashion-MNIST was not found in " + (folder.path() / "a").string() + ", " +
                         (folder.path() / "b").string() +
                         "; install the package dataset-fashion-mnist, copy its four files into one of these "
                         "folders, or give their folder as idx:FOLDER");
    const std::vector<std::filesystem::path> folders = fashionMnistFolders();
    CHECK(folders.back() == "/usr/share/datasets/fashion-mnist"); // what lies beside the program comes first
}
