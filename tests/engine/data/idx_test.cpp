#include "engine/data/idx.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "engine/data/idx_folder.h"
#include "engine/data/mnist_folder.h"
#include "engine/files/file_bytes.h"
#include "tests/allocation_watch.h"
#include "tests/data_files.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

std::string imagesComplaint(std::string_view file) {
    return complaint([&] { parseIdxImages(asBytes(file), "images"); });
}

std::string labelsComplaint(std::string_view file) {
    return complaint([&] { parseIdxLabels(asBytes(file), "labels"); });
}

std::string splitComplaint(const std::string& images, const std::string& labels) {
    return complaint([&] { parseMnistSplit({"images", asBytes(images)}, {"labels", asBytes(labels)}); });
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string joined(const std::vector<std::string>& notes) {
    std::string text;
    for (const std::string& note : notes) text += note + "\n";
    return text;
}

/// A folder with files of a data set: 4 training and 2 test images of 2 x 3 pixels.
struct IdxFolder : TemporaryFolder {
    void put(const std::string& name, const std::string& content) const {
        std::filesystem::create_directories((path() / name).parent_path());
        write(name, name.ends_with(".gz") || name.ends_with(".GZ") ? gzipped(content) : content);
    }
    void putTrain(const std::string& images, const std::string& labels) const {
        put(images, idxImages(4, 2, 3));
        put(labels, idxLabels({0, 1, 2, 1}));
    }
    void putTest(const std::string& images, const std::string& labels) const {
        put(images, idxImages(2, 2, 3));
        put(labels, idxLabels({2, 0}));
    }
    Dataset read(const std::vector<std::string>& classNames = {}) const {
        return readMnistFolder(path(), "", classNames);
    }
    std::string complaintOf(const std::string& below = "") const {
        return complaint([&] { readMnistFolder(below.empty() ? path() : path() / below, "", {}); });
    }
};

} // namespace

TEST_CASE("images and labels, plain and compressed") {
    for (bool compressed : {false, true}) {
        CAPTURE(compressed);
        const std::string images = compressed ? gzipped(idxImages(3, 2, 5)) : idxImages(3, 2, 5);
        const IdxImages parsed = parseIdxImages(asBytes(images), "images");
        CHECK(parsed.count == 3);
        CHECK(parsed.height == 2);
        CHECK(parsed.width == 5);
        REQUIRE(parsed.pixels.size() == 30);
        for (std::size_t p = 0; p < 30; ++p) CHECK(parsed.pixels[p] == p);
        const std::string labels = compressed ? gzipped(idxLabels({4, 0, 255})) : idxLabels({4, 0, 255});
        CHECK(parseIdxLabels(asBytes(labels), "labels").values == std::vector<std::uint32_t>{4, 0, 255});
    }
}

TEST_CASE("labels as integers, and as rows of integers whose first is the label") {
    const std::vector<std::uint32_t> wanted{4, 0, 70000};
    for (bool compressed : {false, true}) {
        CAPTURE(compressed);
        const std::string rows =
            compressed ? gzipped(idxIntegerRows({4, 0, 70000}, 8)) : idxIntegerRows({4, 0, 70000}, 8);
        const IdxLabels parsed = parseIdxLabels(asBytes(rows), "labels");
        CHECK(parsed.values == wanted);
        CHECK(parsed.columns == 8);
    }
    const std::string plain = bigEndian({0xC01, 3, 4, 0, 70000});
    CHECK(parseIdxLabels(asBytes(plain), "labels").values == wanted);
    CHECK(labelsComplaint(bigEndian({0xC02, 1, 2, 0x80000000, 0})) == "labels: byte 12: a label is negative");
    CHECK(labelsComplaint(bigEndian({0xC02, 2, 0, 1, 1})) ==
          "labels: byte 8: 0 columns of labels; between 1 and 256 are supported");
    CHECK(contains(labelsComplaint(bigEndian({0xC02, 0xFFFFFFFF, 0xFFFFFFFF, 1})), "columns of labels"));
    CHECK(contains(labelsComplaint(bigEndian({0xC02, 2, 2, 1, 1, 1})),
                   "the header claims 2 labels of 2 integers = 16 bytes, but the file holds at most 12"));
    const std::string rows = idxIntegerRows({1, 2}, 3);
    for (std::size_t size = 0; size < rows.size(); ++size) {
        CAPTURE(size);
        CHECK(labelsComplaint(rows.substr(0, size)).starts_with("labels: byte "));
    }
}

TEST_CASE("a plain file truncated at any byte") {
    const std::string file = idxImages(2, 3, 2);
    CHECK(imagesComplaint("") == "images: byte 0: the file is empty");
    for (std::size_t size = 1; size < file.size(); ++size) {
        CAPTURE(size);
        const std::string message = imagesComplaint(file.substr(0, size));
        if (size < 16) {
            CHECK(message.starts_with("images: byte " + std::to_string(size) +
                                      ": the file ends inside its header ("));
        } else {
            CHECK(message ==
                  "images: byte 16: the header claims 2 images of 3 x 2 pixels = 12 bytes, but the "
                  "file holds at most " +
                      std::to_string(size - 16));
        }
    }
    const std::string labels = idxLabels({1, 2, 3});
    for (std::size_t size = 0; size < labels.size(); ++size) {
        CAPTURE(size);
        CHECK(labelsComplaint(labels.substr(0, size)).starts_with("labels: byte "));
    }
}

TEST_CASE("a compressed file truncated at any byte") {
    const std::string file = gzipped(idxImages(20, 3, 2));
    for (std::size_t size = 2; size < file.size(); ++size) {
        CAPTURE(size);
        CHECK(imagesComplaint(file.substr(0, size)) ==
              "images: byte " + std::to_string(size) +
                  ": the gzip data is truncated; copy or download the file again");
    }
}

TEST_CASE("a file whose content was truncated before compression") {
    const std::string file = idxImages(2, 3, 2);
    for (std::size_t size = 0; size < file.size(); ++size) {
        CAPTURE(size);
        const std::string message = imagesComplaint(gzipped(file.substr(0, size)));
        CHECK(message.starts_with("images: byte " + std::to_string(size) + ": "));
        CHECK(contains(message, size < 16 ? "the file ends inside its header" : "bytes, but it holds only "));
    }
}

TEST_CASE("another magic number") {
    CHECK(imagesComplaint(idxLabels({1, 2, 3, 4, 5, 6, 7, 8})) ==
          "images: byte 0: magic number 00000801, but images begin with 00000803; this is a file of labels");
    CHECK(labelsComplaint(idxImages(1, 1, 1)) ==
          "labels: byte 0: magic number 00000803, but labels begin with 00000801; this is a file of images");
    CHECK(contains(imagesComplaint(bigEndian({0xD03, 1, 1, 1, 0})),
                   "only unsigned bytes (type 08) are supported"));
    CHECK(imagesComplaint("PNG file, or so") ==
          "images: byte 0: magic number 504E4720, but images begin with 00000803");
}

TEST_CASE("false headers cost no memory") {
    const std::uint32_t most = 0xFFFFFFFF;
    largestAllocation = 0;
    CHECK(contains(imagesComplaint(bigEndian({0x803, most, 256, 256})), "holds at most 0"));
    CHECK(contains(imagesComplaint(bigEndian({0x803, 3, 1, 1}) + "ab"), "holds at most 2"));
    CHECK(contains(imagesComplaint(bigEndian({0x803, 1, most, most})),
                   "images: byte 8: images of 4294967295 x "));
    CHECK(contains(imagesComplaint(bigEndian({0x803, 1, 65536, 65536})), "exceed the 65536"));
    CHECK(contains(labelsComplaint(bigEndian({0x801, most}) + "a"), "holds at most 1"));
    CHECK(largestAllocation < 1000);
}

TEST_CASE("false headers cost no memory in a compressed file either") {
    const std::string zeros(100'000, '\0');
    // More than gzip data of that size can decompress to.
    const std::string huge = gzipped(bigEndian({0x803, 0xFFFFFFFF, 1, 1}) + zeros);
    // Possible for its size, but not what it decompresses to.
    const std::string large = gzipped(bigEndian({0x803, 110'000, 1, 1}) + zeros);
    largestAllocation = 0;
    CHECK(contains(imagesComplaint(huge), "= 4294967295 bytes, but the file holds at most "));
    CHECK(largestAllocation < 10'000); // zlib's own state
    CHECK(contains(imagesComplaint(large), "= 110000 bytes, but it holds only 100000"));
    CHECK(largestAllocation <= 110'000);
}

TEST_CASE("more data than the header claims") {
    CHECK(imagesComplaint(idxImages(2, 1, 1) + "x") ==
          "images: byte 18: bytes follow the data that its header announces (2 images of 1 x 1 "
          "pixels)");
    CHECK(labelsComplaint(gzipped(idxLabels({1}) + "x")) ==
          "labels: byte 9: bytes follow the data that its header announces (1 labels)");
}

TEST_CASE("empty files and images") {
    CHECK(imagesComplaint(bigEndian({0x803, 0, 28, 28})) == "images: byte 4: the file has no images");
    CHECK(imagesComplaint(bigEndian({0x803, 5, 0, 28})) ==
          "images: byte 8: images of 0 x 28 pixels are empty");
    CHECK(labelsComplaint(bigEndian({0x801, 0})) == "labels: byte 4: the file has no labels");
}

TEST_CASE("images and labels must match") {
    const std::string images = idxImages(3, 2, 2);
    const std::string labels = idxLabels({1, 0, 2});
    const MnistSplit split = parseMnistSplit({"images", asBytes(images)}, {"labels", asBytes(labels)});
    CHECK(split.images.count == 3);
    CHECK(split.labels.values == std::vector<std::uint32_t>{1, 0, 2});
    CHECK(splitComplaint(images, idxLabels({1, 0})) ==
          "labels: byte 4: 2 labels do not match the 3 images of images");
}

TEST_CASE("a folder in the format of MNIST") {
    TemporaryFolder folder;
    folder.write("train-images-idx3-ubyte", idxImages(4, 2, 3));
    folder.write("train-labels.idx1-ubyte.gz", gzipped(idxLabels({0, 1, 2, 3})));

    SUBCASE("without test files") {
        const Dataset data = readMnistFolder(folder.path(), "mine", {});
        CHECK(data.name == "mine");
        CHECK(data.inputs == 6);
        CHECK(data.imageHeight == 2);
        CHECK(data.imageWidth == 3);
        CHECK(data.bytes());
        CHECK(data.classNames == std::vector<std::string>{"0", "1", "2", "3"});
        CHECK(data.train.count == 4);
        CHECK(data.test.count == 0);
        CHECK(data.notes.empty()); // nothing is guessed
    }
    SUBCASE("with test files, of which the largest label counts too") {
        folder.write("t10k-images.idx3-ubyte", idxImages(1, 2, 3));
        folder.write("t10k-labels-idx1-ubyte", idxLabels({4}));
        const Dataset data = readMnistFolder(folder.path(), "mine", {});
        CHECK(data.classes == 5);
        CHECK(data.test.labels == std::vector<std::uint32_t>{4});
        CHECK(data.notes.empty());
        const std::string unknown = complaint([&] {
            readMnistFolder(folder.path(), "mine", {"a", "b", "c", "d"});
        });
        CHECK(contains(unknown,
                       "t10k-labels-idx1-ubyte: label 4 of image 0 is not one of the 4 classes, 0 to 3"));
    }
    SUBCASE("test images of another size") {
        folder.write("t10k-images-idx3-ubyte", idxImages(1, 3, 2));
        folder.write("t10k-labels-idx1-ubyte", idxLabels({0}));
        CHECK(complaint([&] { readMnistFolder(folder.path(), "mine", {}); }) ==
              folder.path().string() + ": the test images are 3 x 2 pixels, the training images 2 x 3");
    }
    SUBCASE("half of the test files") {
        folder.write("t10k-images-idx3-ubyte", idxImages(1, 2, 3));
        CHECK(complaint([&] { readMnistFolder(folder.path(), "mine", {}); }) ==
              folder.path().string() +
                  ": there is no file of test labels to go with 't10k-images-idx3-ubyte'; it holds "
                  "'t10k-images-idx3-ubyte', 'train-images-idx3-ubyte', 'train-labels.idx1-ubyte.gz'");
    }
    SUBCASE("an empty file") {
        folder.write("train-images-idx3-ubyte", "");
        CHECK(complaint([&] { readMnistFolder(folder.path(), "mine", {}); }) ==
              "cannot read " + (folder.path() / "train-images-idx3-ubyte").string() + ": the file is empty");
    }
    SUBCASE("one class only") {
        folder.write("train-labels-idx1-ubyte", idxLabels({0, 0, 0, 0}));
        CHECK(complaint([&] { readMnistFolder(folder.path(), "mine", {}); }) ==
              folder.path().string() + ": every label is 0; classification needs at least two classes");
    }
}

TEST_CASE("the spellings and layouts of the field's archives") {
    struct Case {
        const char* who;
        std::vector<std::string> files; ///< training images, labels, test images, labels
        const char* name;               ///< of the data set; null: of the folder
    };
    const Case cases[] = {
        {"MNIST",
         {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz",
          "t10k-labels-idx1-ubyte.gz"},
         nullptr},
        {"with dots",
         {"train-images.idx3-ubyte", "train-labels.idx1-ubyte", "t10k-images.idx3-ubyte",
          "t10k-labels.idx1-ubyte"},
         nullptr},
        {"test in place of t10k",
         {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "test-images-idx3-ubyte",
          "test-labels-idx1-ubyte"},
         nullptr},
        {"capitals",
         {"Train-Images-IDX3-UByte.GZ", "TRAIN-LABELS.IDX1-UBYTE", "Test-Images.idx3-ubyte",
          "TEST-labels-idx1-ubyte"},
         nullptr},
        {"EMNIST",
         {"emnist-digits-train-images-idx3-ubyte.gz", "emnist-digits-train-labels-idx1-ubyte.gz",
          "emnist-digits-test-images-idx3-ubyte.gz", "emnist-digits-test-labels-idx1-ubyte.gz"},
         "idx:emnist-digits"},
        {"QMNIST",
         {"qmnist-train-images-idx3-ubyte", "qmnist-train-labels-idx2-int", "qmnist-test-images-idx3-ubyte",
          "qmnist-test-labels-idx2-int.gz"},
         "idx:qmnist"},
        {"Kannada-MNIST",
         {"X_kannada_MNIST_train-idx3-ubyte.gz", "y_kannada_MNIST_train-idx1-ubyte.gz",
          "X_kannada_MNIST_test-idx3-ubyte.gz", "y_kannada_MNIST_test-idx1-ubyte.gz"},
         "idx:kannada-mnist"},
        {"torchvision",
         {"MNIST/raw/train-images-idx3-ubyte", "MNIST/raw/train-labels-idx1-ubyte",
          "MNIST/raw/t10k-images-idx3-ubyte", "MNIST/raw/t10k-labels-idx1-ubyte"},
         nullptr},
        {"a subfolder",
         {"fashion/train-images-idx3-ubyte.gz", "fashion/train-labels-idx1-ubyte.gz",
          "fashion/t10k-images-idx3-ubyte.gz", "fashion/t10k-labels-idx1-ubyte.gz"},
         nullptr},
        {"files in folders of their names",
         {"train-images-idx3-ubyte/train-images-idx3-ubyte",
          "train-labels-idx1-ubyte/train-labels-idx1-ubyte", "t10k-images.idx3-ubyte/t10k-images-idx3-ubyte",
          "t10k-labels.idx1-ubyte/t10k-labels-idx1-ubyte"},
         nullptr},
        {"words apart by underscores",
         {"overhead_train_images_idx3_ubyte", "overhead_train_labels_idx1_ubyte",
          "overhead_test_images_idx3_ubyte", "overhead_test_labels_idx1_ubyte"},
         "idx:overhead"},
    };
    for (const Case& archive : cases) {
        CAPTURE(archive.who);
        const IdxFolder folder;
        folder.putTrain(archive.files[0], archive.files[1]);
        folder.putTest(archive.files[2], archive.files[3]);
        if (archive.who == std::string("QMNIST")) {
            folder.put(archive.files[1], idxIntegerRows({0, 1, 2, 1}, 8));
            folder.put(archive.files[3], idxIntegerRows({2, 0}, 8));
        }
        const Dataset data = folder.read();
        CHECK(data.train.count == 4);
        CHECK(data.train.labels == std::vector<std::uint32_t>{0, 1, 2, 1});
        CHECK(data.test.count == 2);
        CHECK(data.test.labels == std::vector<std::uint32_t>{2, 0});
        CHECK(data.name == (archive.name ? archive.name : "idx:" + folder.path().filename().string()));
        const std::string notes = joined(data.notes);
        CAPTURE(notes);
        const bool plain = archive.who == std::string("MNIST") || archive.who == std::string("with dots");
        if (plain) CHECK(notes.empty());
        for (const std::string& file : archive.files) {
            CAPTURE(file);
            if (!plain) CHECK(contains(notes, "'" + file + "'"));
        }
        CHECK(!contains(notes, "not read"));
        CHECK(contains(notes, "first of 8 columns") == (archive.who == std::string("QMNIST")));
    }
}

TEST_CASE("several spellings of a file: plain before compressed, and both of a split by one word") {
    const IdxFolder folder;
    folder.putTrain("train-images-idx3-ubyte", "train-labels-idx1-ubyte");
    folder.write("train-images.idx3-ubyte.gz", "not gzip");
    folder.putTest("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte.gz");
    folder.write("test-images-idx3-ubyte", "not images");
    const Dataset data = folder.read();
    CHECK(data.test.count == 2);
    CHECK(joined(data.notes) == "files that look related are not read: 'test-images-idx3-ubyte', "
                                "'train-images.idx3-ubyte.gz'\n");
}

// Links need a right there.
TEST_CASE("an entry that is not a regular file is passed over for the next spelling" *
          doctest::skip(onWindows)) {
    const IdxFolder folder;
    folder.putTrain("train-images.idx3-ubyte", "train-labels-idx1-ubyte.gz");
    folder.putTest("t10k-images-idx3-ubyte.gz", "t10k-labels.idx1-ubyte");
    std::filesystem::create_directory(folder.path() / "train-images-idx3-ubyte");
    std::filesystem::create_directory(folder.path() / "t10k-images-idx3-ubyte");
    std::filesystem::create_symlink(folder.path() / "gone", folder.path() / "train-labels-idx1-ubyte");
    const Dataset data = folder.read();
    CHECK(data.train.count == 4);
    CHECK(data.test.count == 2);
    CHECK(joined(data.notes) == "files that look related are not read: 't10k-images-idx3-ubyte/', "
                                "'train-images-idx3-ubyte/', 'train-labels-idx1-ubyte'\n");
}

// Names have no control characters there.
TEST_CASE("what looks related and is not read is named, by its name or its first bytes" *
          doctest::skip(onWindows)) {
    const IdxFolder folder;
    folder.putTrain("train-images-idx3-ubyte", "train-labels-idx1-ubyte");
    folder.write("t10k-images-idx3-ubyte.gz.part", "");
    folder.put("more", idxImages(1, 2, 3));
    folder.put("packed.gz", idxLabels({1}));
    folder.write("readme.txt", "about");
    folder.write("\x1B[31mlabels", "about");
    CHECK(joined(folder.read().notes) ==
          "files that look related are not read: '?[31mlabels', 'more', 'packed.gz', "
          "'t10k-images-idx3-ubyte.gz.part'\n");
}

TEST_CASE("several data sets in a folder: one is chosen by its name, or MNIST's own names") {
    const IdxFolder folder;
    for (const std::string set : {"emnist-letters-", "emnist-balanced-"}) {
        folder.putTrain(set + "train-images-idx3-ubyte.gz", set + "train-labels-idx1-ubyte.gz");
        folder.putTest(set + "test-images-idx3-ubyte.gz", set + "test-labels-idx1-ubyte.gz");
    }
    folder.put("emnist-letters-train-labels-idx1-ubyte.gz", idxLabels({1, 26, 2, 1}));
    folder.put("emnist-letters-test-labels-idx1-ubyte.gz", idxLabels({3, 1}));
    folder.write("emnist-letters-mapping.txt", "1 65 97");
    const std::string here = folder.path().string();
    CHECK(folder.complaintOf() == here +
                                      ": this folder holds 2 data sets: 'emnist-balanced', 'emnist-letters'; "
                                      "choose one, such as idx:" +
                                      (folder.path() / "emnist-balanced").string());
    for (const char* spelling : {"emnist-letters", "EMNIST_Letters", "emnist-letters-"}) {
        const Dataset data = readMnistFolder(folder.path() / spelling, "", {});
        CHECK(data.name == "idx:emnist-letters");
        CHECK(data.classes == 26);
        CHECK(data.train.labels == std::vector<std::uint32_t>{0, 25, 1, 0});
        CHECK(data.test.labels == std::vector<std::uint32_t>{2, 0});
        const std::string notes = joined(data.notes);
        CHECK(contains(notes, "other data sets in the folder are not read: 'emnist-balanced'\n"));
        CHECK(contains(notes, "the classes are EMNIST's: A to Z for the labels 1 to 26\n"));
    }
    CHECK(folder.complaintOf("emnist-leters") == "cannot read " + (folder.path() / "emnist-leters").string() +
                                                     ": no such folder, and no data set of that name in " +
                                                     here + "; it has 'emnist-balanced', 'emnist-letters'");
    folder.putTrain("train-images-idx3-ubyte", "train-labels-idx1-ubyte");
    const Dataset own = folder.read();
    CHECK(own.name == "idx:" + folder.path().filename().string());
    CHECK(joined(own.notes) ==
          "other data sets in the folder are not read: 'emnist-balanced', 'emnist-letters'\n");
}

TEST_CASE("several folders with data sets: one has to be chosen") {
    const IdxFolder folder;
    for (const std::string name : {"FashionMNIST/raw/", "KMNIST/raw/"})
        folder.putTrain(name + "train-images-idx3-ubyte", name + "train-labels-idx1-ubyte");
    const std::string here = folder.path().string();
    CHECK(folder.complaintOf() ==
          here +
              ": several folders in it hold data sets: 'FashionMNIST/raw', 'KMNIST/raw'; "
              "choose one, such as idx:" +
              (folder.path() / "FashionMNIST" / "raw").string());
    CHECK(readMnistFolder(folder.path() / "KMNIST", "", {}).name == "idx:KMNIST");
    folder.putTrain("EMNIST/gzip/emnist-digits-train-images-idx3-ubyte",
                    "EMNIST/gzip/emnist-digits-train-labels-idx1-ubyte");
    CHECK(readMnistFolder(folder.path() / "EMNIST/emnist-digits", "", {}).name == "idx:emnist-digits");
}

TEST_CASE("EMNIST's images are turned upright, and no others") {
    for (const std::string set : {"emnist-mnist-", "qmnist-"}) {
        CAPTURE(set);
        const IdxFolder folder;
        folder.putTrain(set + "train-images-idx3-ubyte", set + "train-labels-idx1-ubyte");
        folder.putTest(set + "test-images-idx3-ubyte", set + "test-labels-idx1-ubyte");
        const Dataset data = folder.read();
        const bool turned = set == "emnist-mnist-";
        CHECK(data.imageHeight == (turned ? 3 : 2));
        CHECK(data.imageWidth == (turned ? 2 : 3));
        const std::vector<std::uint8_t> second(data.train.pixels.begin() + 6, data.train.pixels.begin() + 12);
        CHECK(second == (turned ? std::vector<std::uint8_t>{6, 9, 7, 10, 8, 11}
                                : std::vector<std::uint8_t>{6, 7, 8, 9, 10, 11}));
        CHECK(data.test.pixels[1] == (turned ? 3 : 1));
        CHECK(contains(joined(data.notes), "turned upright") == turned);
    }
}

TEST_CASE("the classes of EMNIST's splits") {
    const std::pair<const char*, std::size_t> sizes[] = {
        {"emnist-byclass", 62}, {"emnist-bymerge", 47}, {"emnist-balanced", 47},
        {"emnist-letters", 26}, {"emnist-digits", 10},  {"emnist-mnist", 10},
        {"emnist-mine", 0},     {"letters", 0},         {"", 0}};
    for (const auto& [set, count] : sizes) {
        const EmnistClasses classes = emnistClasses(set);
        CHECK(classes.names.size() == count);
        CHECK(classes.firstLabel == (set == std::string("emnist-letters") ? 1 : 0));
    }
    CHECK(emnistClasses("emnist-balanced").names[36] == "a"); // as emnist-balanced-mapping.txt says: 36 97
    CHECK(emnistClasses("emnist-balanced").names[46] == "t");
    CHECK(emnistClasses("emnist-byclass").names[61] == "z");
    CHECK(emnistClasses("emnist-letters").names[25] == "Z");
}

TEST_CASE("classes are the labels that occur: no empty class 0 for labels from 1 on") {
    const IdxFolder folder;
    folder.putTrain("train-images-idx3-ubyte", "train-labels-idx1-ubyte");
    const auto withLabels = [&](std::initializer_list<int> labels,
                                const std::vector<std::string>& names = {}) {
        folder.put("train-labels-idx1-ubyte", idxLabels(labels));
        return folder.read(names);
    };
    Dataset data = withLabels({1, 2, 3, 2});
    CHECK(data.classNames == std::vector<std::string>{"1", "2", "3"});
    CHECK(data.train.labels == std::vector<std::uint32_t>{0, 1, 2, 1});
    CHECK(joined(data.notes) == "the classes are the labels that occur: 1 to 3\n");
    data = withLabels({3, 8, 3, 3});
    CHECK(data.classNames == std::vector<std::string>{"3", "8"});
    CHECK(joined(data.notes) == "the classes are the labels that occur: 3, 8\n");
    // The classes of a trained network, by their numbers: those of older models begin at 0.
    data = withLabels({3, 8, 3, 3}, {"8", "3", "5"});
    CHECK(data.train.labels == std::vector<std::uint32_t>{1, 0, 1, 1});
    data = withLabels({1, 2, 3, 2}, {"0", "1", "2", "3"});
    CHECK(data.train.labels == std::vector<std::uint32_t>{1, 2, 3, 2});
    CHECK(data.notes.empty());
    CHECK(contains(complaint([&] {
                       withLabels({1, 2, 3, 9}, {"1", "2", "3", "5"});
                   }),
                   "label 9 of image 3 is not one of the 4 classes, 1, 2, 3, 5"));
    CHECK(contains(complaint([&] { withLabels({7, 7, 7, 7}); }), "every label is 7; "));
}

TEST_CASE("a missing folder, or one without MNIST files") {
    IdxFolder folder;
    const std::string here = folder.path().string();
    const auto nothing = [&](const std::string& rest) {
        return here +
               ": this folder has no training images, such as train-images-idx3-ubyte or "
               "train-images-idx3-ubyte.gz; " +
               rest;
    };
    CHECK(folder.complaintOf() == nothing("it is empty"));
    const std::filesystem::path file = folder.write("file", "x");
    CHECK(complaint([&] { readMnistFolder(file, "mine", {}); }) ==
          "cannot read " + file.string() + ": it is not a folder; give the folder that holds the IDX files");
    CHECK(folder.complaintOf("none") ==
          "cannot read " + (folder.path() / "none").string() + ": no such folder");
    std::filesystem::create_directory(folder.path() / "empty");
    folder.write("k49-train-imgs.npz", "PK");
    CHECK(folder.complaintOf() == nothing("it holds 'empty/', 'file', 'k49-train-imgs.npz'"));
    folder.write("gzip.zip", "PK");
    for (char c = 'a'; c < 'j'; ++c) folder.write(std::string("f") + c, "x");
    CHECK(folder.complaintOf() ==
          nothing("it holds 'empty/', 'fa', 'fb', 'fc', 'fd', 'fe', 'ff', 'fg', 'fh', 'fi' "
                  "and 3 more; unpack 'gzip.zip' first"));
    CHECK(!hasIdxFiles(folder.path()));
    folder.put("train-images-idx3-ubyte", idxImages(4, 2, 3));
    CHECK(contains(folder.complaintOf(),
                   "there is no file of training labels to go with 'train-images-idx3-ubyte'; it holds "));
    CHECK(hasIdxFiles(folder.path()));
}
