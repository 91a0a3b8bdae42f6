// Any bytes as images and as labels, plain and compressed.
#include "engine/data/idx.h"
#include "engine/data/mnist_folder.h"
#include "engine/files/file_bytes.h"
#include "tests/fuzz/fuzz_target.h"

using namespace lockstep;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto file = std::as_bytes(std::span(data, size));
    fuzz::expectDocumented("images", [&] {
        const IdxImages images = parseIdxImages(file, "images");
        fuzz::require(images.pixels.size() == images.count * images.height * images.width,
                      "one byte per pixel");
        fuzz::require(images.count > 0 && images.height * images.width <= largestImage, "sizes in range");
    });
    fuzz::expectDocumented("labels", [&] {
        const IdxLabels labels = parseIdxLabels(file, "labels");
        fuzz::require(!labels.values.empty() && labels.columns > 0, "labels");
    });
    // Both files in one input: the labels begin with the last magic number of labels, or in the middle.
    const std::size_t found = asText(file).rfind(std::string_view("\0\0\x08\x01", 4));
    const std::size_t cut = found == std::string_view::npos ? size / 2 : found;
    fuzz::expectDocumented("", [&] {
        const MnistSplit split =
            parseMnistSplit({"images", file.subspan(0, cut)}, {"labels", file.subspan(cut)});
        fuzz::require(split.labels.values.size() == split.images.count, "a label per image");
    });
    return 0;
}
