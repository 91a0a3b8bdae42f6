#include "engine/data/mnist_folder.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "engine/data/idx_folder.h"
#include "engine/files/file_bytes.h"
#include "engine/net/names.h"

namespace lockstep {

namespace {

constexpr std::string_view emnistDigits = "0123456789";
constexpr std::string_view emnistCapitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view emnistSmall = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view emnistUnmerged = "abdefghnqrt"; // small letters that differ from their capitals

bool hasWord(std::string_view set, std::string_view word) {
    return concat("-", set, "-").find(concat("-", word, "-")) != std::string::npos;
}

MnistSplit readSplit(const std::filesystem::path& images, const std::filesystem::path& labels) {
    const std::vector<std::byte> imageBytes = readFileBytes(images);
    const std::vector<std::byte> labelBytes = readFileBytes(labels);
    return parseMnistSplit({images.string(), imageBytes}, {labels.string(), labelBytes});
}

std::string sizeOf(const IdxImages& images) { return concat(images.height, " x ", images.width); }

void transpose(IdxImages& images) {
    std::vector<std::uint8_t> image(images.height * images.width);
    for (std::size_t i = 0; i < images.count; ++i) {
        std::uint8_t* pixels = images.pixels.data() + i * image.size();
        std::copy_n(pixels, image.size(), image.begin());
        for (std::size_t row = 0; row < images.height; ++row)
            for (std::size_t column = 0; column < images.width; ++column)
                pixels[column * images.height + row] = image[row * images.width + column];
    }
    std::swap(images.height, images.width);
}

/// The labels of the classes, in order.
struct MnistClasses {
    std::vector<std::string> names;
    std::vector<std::uint32_t> labels;
    bool emnist = false;

    /// "0 to 9", or "3, 8"; of very many, the first and the last.
    std::string text() const {
        if (labels.size() > 1 && labels.back() - labels.front() + 1 == labels.size())
            return concat(labels.front(), " to ", labels.back());
        if (labels.size() > 30)
            return concat(labels.size(), " labels, ", labels.front(), " to ", labels.back());
        std::string text;
        for (const std::uint32_t label : labels) text += concat(text.empty() ? "" : ", ", label);
        return text;
    }
};

std::vector<std::uint32_t> countedFrom(std::uint32_t first, std::size_t count) {
    std::vector<std::uint32_t> labels(count);
    std::iota(labels.begin(), labels.end(), first);
    return labels;
}

/// The numbers that the names are, if all are, and differ.
std::optional<std::vector<std::uint32_t>> asLabels(const std::vector<std::string>& names) {
    std::vector<std::uint32_t> labels;
    for (const std::string& name : names) {
        const ParsedNumber number = parseNumber(name);
        const bool fits = number.kind == NumberKind::finite && number.value >= 0 &&
                          number.value <= std::numeric_limits<std::int32_t>::max();
        const auto label = fits ? static_cast<std::uint32_t>(number.value) : 0;
        if (!fits || std::to_string(label) != name) return std::nullopt;
        if (std::ranges::find(labels, label) != labels.end()) return std::nullopt;
        labels.push_back(label);
    }
    return labels;
}

/// The classes of a data set with these labels, of which `names` may be known (as for readMnistFolder).
MnistClasses classesOf(std::string_view set, const std::set<std::uint32_t>& found,
                       const std::vector<std::string>& names) {
    const EmnistClasses known = emnistClasses(set);
    const auto last = static_cast<std::uint32_t>(known.firstLabel + known.names.size());
    const bool fits = *found.begin() >= known.firstLabel && *found.rbegin() < last;
    if (!known.names.empty() && (names.empty() ? fits : names == known.names))
        return {known.names, countedFrom(known.firstLabel, known.names.size()), true};
    if (!names.empty()) {
        std::optional<std::vector<std::uint32_t>> labels = asLabels(names);
        return {names, labels ? std::move(*labels) : countedFrom(0, names.size()), false};
    }
    MnistClasses classes{{}, {found.begin(), found.end()}, false};
    for (const std::uint32_t label : found) classes.names.push_back(std::to_string(label));
    return classes;
}

/// The examples, with classes in place of labels; `name` is that of the file of labels.
Examples examplesOf(MnistSplit split, const MnistClasses& classes, const std::string& name) {
    std::map<std::uint32_t, std::uint32_t> classOf;
    for (const std::uint32_t label : classes.labels)
        classOf.emplace(label, static_cast<std::uint32_t>(classOf.size()));
    for (std::size_t i = 0; i < split.labels.values.size(); ++i) {
        std::uint32_t& label = split.labels.values[i];
        const auto known = classOf.find(label);
        if (known == classOf.end())
            throw std::runtime_error(concat(name, ": label ", label, " of image ", i, " is not one of the ",
                                            classes.labels.size(), " classes, ", classes.text()));
        label = known->second;
    }
    return {split.images.count, std::move(split.images.pixels), {}, std::move(split.labels.values), {}};
}

} // namespace

MnistSplit parseMnistSplit(const NamedBytes& images, const NamedBytes& labels) {
    MnistSplit split{parseIdxImages(images.bytes, images.name), parseIdxLabels(labels.bytes, labels.name)};
    if (split.labels.values.size() != split.images.count)
        throwAtByte(labels.name, 4, split.labels.values.size(), " labels do not match the ",
                    split.images.count, " images of ", images.name);
    return split;
}

EmnistClasses emnistClasses(std::string_view set) {
    if (!hasWord(set, "emnist")) return {};
    std::string characters;
    if (hasWord(set, "digits") || hasWord(set, "mnist")) characters = emnistDigits;
    if (hasWord(set, "letters")) characters = emnistCapitals; // each with its small letter
    if (hasWord(set, "byclass")) characters = concat(emnistDigits, emnistCapitals, emnistSmall);
    if (hasWord(set, "bymerge") || hasWord(set, "balanced"))
        characters = concat(emnistDigits, emnistCapitals, emnistUnmerged);
    EmnistClasses classes;
    for (const char c : characters) classes.names.emplace_back(1, c);
    classes.firstLabel = hasWord(set, "letters") ? 1 : 0;
    return classes;
}

Dataset readMnistFolder(const std::filesystem::path& place, const std::string& name,
                        const std::vector<std::string>& classNames) {
    IdxFiles files = findIdxFiles(place);
    MnistSplit train = readSplit(files.trainImages, files.trainLabels);
    MnistSplit test;
    if (!files.testImages.empty()) {
        test = readSplit(files.testImages, files.testLabels);
        if (sizeOf(test.images) != sizeOf(train.images))
            throw std::runtime_error(concat(place.string(), ": the test images are ", sizeOf(test.images),
                                            " pixels, the training images ", sizeOf(train.images)));
    }
    Dataset data;
    data.notes = std::move(files.notes);
    if (train.labels.columns > 1)
        data.notes.push_back(concat("the labels are the first of ", train.labels.columns, " columns"));
    if (hasWord(files.set, "emnist")) {
        transpose(train.images);
        transpose(test.images);
        data.notes.emplace_back("the images were turned upright: EMNIST's files hold them transposed");
    }
    std::set<std::uint32_t> labels(train.labels.values.begin(), train.labels.values.end());
    labels.insert(test.labels.values.begin(), test.labels.values.end());
    const MnistClasses classes = classesOf(files.set, labels, classNames);
    if (classes.emnist)
        data.notes.push_back(concat("the classes are EMNIST's: ", classes.names.front(), " to ",
                                    classes.names.back(), " for the labels ", classes.text()));
    else if (classNames.empty() && classes.labels.back() + 1 != classes.labels.size())
        data.notes.push_back("the classes are the labels that occur: " + classes.text());
    const std::string folder = place.filename().string();
    data.name = name.empty() ? "idx:" + (files.set.empty() ? folder : files.set) : name;
    data.imageHeight = train.images.height;
    data.imageWidth = train.images.width;
    data.inputs = data.imageHeight * data.imageWidth;
    data.train = examplesOf(std::move(train), classes, files.trainLabels.string());
    data.test = examplesOf(std::move(test), classes, files.testLabels.string());
    data.classNames = classes.names;
    data.classes = data.classNames.size();
    if (data.classes < 2)
        throw std::runtime_error(concat(place.string(), ": every label is ", classes.text(),
                                        "; classification needs at least two classes"));
    return data;
}

} // namespace lockstep
