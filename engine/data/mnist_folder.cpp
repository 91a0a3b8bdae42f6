#include "engine/data/mnist_folder.h"

#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "engine/files/file_bytes.h"
#include "engine/net/names.h"

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
    throw std::runtime_error(concat(folder.string(), ": this folder has no file ", stem, "-", type,
                                    "-ubyte or ", stem, "-", type, "-ubyte.gz"));
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

std::string sizeOf(const IdxImages& images) { return concat(images.height, " x ", images.width); }

Examples examplesOf(MnistSplit split) {
    return {split.images.count,
            std::move(split.images.pixels),
            {},
            {split.labels.begin(), split.labels.end()},
            {}};
}

} // namespace

MnistSplit parseMnistSplit(const NamedBytes& images, const NamedBytes& labels, std::size_t classes) {
    MnistSplit split{parseIdxImages(images.bytes, images.name), parseIdxLabels(labels.bytes, labels.name)};
    if (split.labels.size() != split.images.count)
        throwAtByte(labels.name, 4, split.labels.size(), " labels do not match the ", split.images.count,
                    " images of ", images.name);
    constexpr std::size_t headerBytes = 8;
    for (std::size_t i = 0; i < split.labels.size(); ++i)
        if (classes != 0 && split.labels[i] >= classes)
            throwAtByte(labels.name, headerBytes + i, "label ", split.labels[i], " of image ", i,
                        " is not one of the ", classes, " classes, 0 to ", classes - 1);
    return split;
}

Dataset readMnistFolder(const std::filesystem::path& folder, const std::string& name,
                        const std::vector<std::string>& classNames) {
    requireFolder(folder);
    MnistSplit train = readSplit(folder, "train", classNames.size());
    MnistSplit test;
    if (findFile(folder, "t10k-images", "idx3") || findFile(folder, "t10k-labels", "idx1")) {
        test = readSplit(folder, "t10k", classNames.size());
        if (sizeOf(test.images) != sizeOf(train.images))
            throw std::runtime_error(concat(folder.string(), ": the test images are ", sizeOf(test.images),
                                            " pixels, the training images ", sizeOf(train.images)));
    }
    Dataset data;
    data.name = name;
    data.imageHeight = train.images.height;
    data.imageWidth = train.images.width;
    data.inputs = data.imageHeight * data.imageWidth;
    data.train = examplesOf(std::move(train));
    data.test = examplesOf(std::move(test));
    data.classNames = classNames.empty() ? numbersAsNames(data) : classNames;
    data.classes = data.classNames.size();
    if (data.classes < 2)
        throw std::runtime_error(
            concat(folder.string(), ": every label is 0; classification needs at least two classes"));
    return data;
}

bool isMnistFolder(const std::filesystem::path& folder) {
    return findFile(folder, "train-images", "idx3").has_value();
}

} // namespace lockstep
