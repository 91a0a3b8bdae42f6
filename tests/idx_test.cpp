#include "engine/data/idx.h"

#include <string>

#include <doctest/doctest.h>

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

std::string splitComplaint(const std::string& images, const std::string& labels, std::size_t classes) {
    return complaint([&] {
        parseMnistSplit({"images", asBytes(images)}, {"labels", asBytes(labels)}, classes);
    });
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

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
        CHECK(parseIdxLabels(asBytes(labels), "labels") == std::vector<std::uint8_t>{4, 0, 255});
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
    const MnistSplit split = parseMnistSplit({"images", asBytes(images)}, {"labels", asBytes(labels)}, 3);
    CHECK(split.images.count == 3);
    CHECK(split.labels == std::vector<std::uint8_t>{1, 0, 2});
    CHECK(splitComplaint(images, idxLabels({1, 0}), 0) ==
          "labels: byte 4: 2 labels do not match the 3 images of images");
    CHECK(splitComplaint(images, labels, 2) ==
          "labels: byte 10: label 2 of image 2 is not one of the 2 classes, 0 to 1");
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
    }
    SUBCASE("with test files, of which the largest label counts too") {
        folder.write("t10k-images.idx3-ubyte", idxImages(1, 2, 3));
        folder.write("t10k-labels-idx1-ubyte", idxLabels({4}));
        const Dataset data = readMnistFolder(folder.path(), "mine", {});
        CHECK(data.classes == 5);
        CHECK(data.test.labels == std::vector<std::uint32_t>{4});
        const std::string unknown = complaint([&] {
            readMnistFolder(folder.path(), "mine", {"a", "b", "c", "d"});
        });
        CHECK(contains(unknown,
                       "t10k-labels-idx1-ubyte: byte 8: label 4 of image 0 is not one of the 4 classes"));
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
                  ": this folder has no file t10k-labels-idx1-ubyte or t10k-labels-idx1-ubyte.gz");
    }
    SUBCASE("a folder in place of a file") {
        std::filesystem::create_directory(folder.path() / "t10k-images-idx3-ubyte");
        folder.write("t10k-labels-idx1-ubyte", idxLabels({0}));
        CHECK(complaint([&] { readMnistFolder(folder.path(), "mine", {}); }) ==
              "cannot read " + (folder.path() / "t10k-images-idx3-ubyte").string() + ": it is a folder");
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

TEST_CASE("a missing folder, or one without MNIST files") {
    TemporaryFolder folder;
    const std::filesystem::path file = folder.write("file", "x");
    CHECK(complaint([&] { readMnistFolder(file, "mine", {}); }) ==
          "cannot read " + file.string() + ": it is not a folder; give the folder that holds the IDX files");
    CHECK(complaint([&] { readMnistFolder(folder.path() / "none", "mine", {}); }) ==
          "cannot read " + (folder.path() / "none").string() + ": no such folder");
    CHECK(complaint([&] { readMnistFolder(folder.path(), "mine", {}); }) ==
          folder.path().string() +
              ": this folder has no file train-images-idx3-ubyte or train-images-idx3-ubyte.gz");
}
