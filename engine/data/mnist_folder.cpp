#include "engine/data/mnist_folder.h"

#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "engine/data/idx.h"
#include "engine/files/file_bytes.h"

namespace lockstep {

namespace {

// The first of the four spellings that exists. `stem` is "train-images", `type` is "idx3", for example.
std::optional<std::filesystem::path> findFile(const std::filesystem::path& folder, const std::string& stem,
                                              const std::string& type) {
    for (const char* separator : {"-", "."})
        for (const char* ending : {"", ".gz"}) {
            const std::filesystem::path path = folder / (stem + separator + type + "-ubyte" + ending);
            std::error_code ignored;
            if (std::filesystem::exists(path, ignored)) return path;
        }
    return std::nullopt;
}

std::filesystem::path requireFile(const std::filesystem::path& folder, const std::string& stem,
                                  const std::string& type) {
    if (auto path = findFile(folder, stem, type)) return *path;
    throw std::runtime_error(folder.string() + ": this folder has no file " + stem + "-" + type +
                             "-ubyte or " + stem + "-" + type + "-ubyte.gz");
}

MnistSplit readSplit(const std::filesystem::path& folder, const std::string& stem, std::size_t classes) {
    const std::filesystem::path images = requireFile(folder, stem + "-images", "idx3");
    const std::filesystem::path labels = requireFile(folder, stem + "-labels", "idx1");
    const std::vector<std::byte> imageBytes = readFileBytes(images);
    const std::vector<std::byte> labelBytes = readFileBytes(labels);
    return parseMnistSplit({images.string(), imageBytes}, {labels.string(), labelBytes}, classes);
}

void requireFolder(const std::filesystem::path& folder) {
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(folder, error);
    if (std::filesystem::is_directory(status)) return;
    const bool missing = status.type() == std::filesystem::file_type::not_found;
    throw std::runtime_error("cannot read " + folder.string() + ": " +
                             (missing ? "no such folder"
                              : error ? error.message()
                                      : "it is not a folder; give the folder that holds the IDX files"));
}

// "0" to the largest label.
std::vector<std::string> numbersAsNames(const Dataset& data) {
    std::vector<std::string> names;
    for (const Split split : {Split::train, Split::test})
        for (const std::uint32_t label : data.of(split).labels)
            while (names.size() <= label) names.push_back(std::to_string(names.size()));
    return names;
}

std::string sizeOf(const MnistSplit& split) {
    return std::to_string(split.height) + " x " + std::to_string(split.width);
}

} // namespace

MnistSplit parseMnistSplit(const NamedBytes& images, const NamedBytes& labels, std::size_t classes) {
    IdxImages parsed = parseIdxImages(images.bytes, images.name);
    const std::vector<std::uint8_t> numbers = parseIdxLabels(labels.bytes, labels.name);
    if (numbers.size() != parsed.count)
        throwAtByte(labels.name, 4,
                    std::to_string(numbers.size()) + " labels do not match the " +
                        std::to_string(parsed.count) + " images of " + images.name);
    constexpr std::size_t headerBytes = 8;
    for (std::size_t i = 0; i < numbers.size(); ++i)
        if (classes != 0 && numbers[i] >= classes)
            throwAtByte(labels.name, headerBytes + i,
                        "label " + std::to_string(numbers[i]) + " of image " + std::to_string(i) +
                            " is not one of the " + std::to_string(classes) + " classes, 0 to " +
                            std::to_string(classes - 1));
    MnistSplit split;
    split.height = parsed.height;
    split.width = parsed.width;
    split.examples.count = parsed.count;
    split.examples.pixels = std::move(parsed.pixels);
    split.examples.labels.assign(numbers.begin(), numbers.end());
    return split;
}

Dataset readMnistFolder(const std::filesystem::path& folder, const std::string& name,
                        const std::vector<std::string>& classNames) {
    requireFolder(folder);
    MnistSplit train = readSplit(folder, "train", classNames.size());
    MnistSplit test;
    if (findFile(folder, "t10k-images", "idx3") || findFile(folder, "t10k-labels", "idx1")) {
        test = readSplit(folder, "t10k", classNames.size());
        if (test.height != train.height || test.width != train.width)
            throw std::runtime_error(folder.string() + ": the test images are " + sizeOf(test) +
                                     " pixels, the training images " + sizeOf(train));
    }
    Dataset data;
    data.name = name;
    data.inputs = train.height * train.width;
    data.imageHeight = train.height;
    data.imageWidth = train.width;
    data.train = std::move(train.examples);
    data.test = std::move(test.examples);
    data.classNames = classNames.empty() ? numbersAsNames(data) : classNames;
    data.classes = data.classNames.size();
    if (data.classes < 2)
        throw std::runtime_error(folder.string() +
                                 ": every label is 0; classification needs at least two classes");
    return data;
}

bool isMnistFolder(const std::filesystem::path& folder) {
    return findFile(folder, "train-images", "idx3").has_value();
}

} // namespace lockstep
