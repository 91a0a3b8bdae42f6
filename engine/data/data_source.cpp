#include "engine/data/data_source.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <span>
#include <stdexcept>
#include <system_error>

#include "engine/data/idx_folder.h"
#include "engine/data/mnist_folder.h"
#include "engine/data/points_2d.h"
#include "engine/data/split.h"
#include "engine/data/table_scaling.h"
#include "engine/files/file_bytes.h"
#include "engine/net/names.h"
#include "engine/net/random.h"
#include "engine/platform/folders.h"

namespace lockstep {

namespace {

constexpr std::size_t mostSamples = 10'000'000;
constexpr double mostNoise = 0.8;

void requireSensible(const DataOptions& options) {
    if (options.samples < 2 || options.samples > mostSamples)
        throw std::invalid_argument(
            concat("cannot generate ", options.samples, " points; choose between 2 and ", mostSamples));
    if (!(options.noise >= 0 && options.noise <= mostNoise))
        throw std::invalid_argument("noise " + shortestText(options.noise) +
                                    " is out of range: choose 0 to 0.8 (80 percent)");
}

Dataset makePoints(std::string_view name, const DataOptions& options) {
    requireSensible(options);
    const Points2d set = points2dFromName(name);
    Dataset data;
    data.name = name;
    data.inputs = 2;
    data.inputNames = {"x", "y"};
    data.classes = points2dClasses(set);
    for (std::size_t i = 0; i < data.classes; ++i) data.classNames.push_back(std::to_string(i));
    data.train.count = options.samples;
    for (std::size_t i = 0; i < options.samples; ++i) {
        const LabelledPoint point = point2d(set, options.seed, i, options.noise);
        data.train.values.insert(data.train.values.end(), {point.x, point.y});
        if (data.classes == 0)
            data.train.targets.push_back(point.target);
        else
            data.train.labels.push_back(point.label);
    }
    return data;
}

Dataset readIdxFolder(std::filesystem::path folder, const DataOptions& options) {
    if (!folder.has_filename()) folder = folder.parent_path(); // "data/" is the folder "data"
    return readMnistFolder(folder, "", options.classNames);
}

Dataset readCsv(const std::filesystem::path& path, const DataOptions& options) {
    const std::vector<std::byte> bytes = readFileBytes(path);
    const TableSchema* model = options.model ? &*options.model : nullptr;
    Dataset data = parseCsvDataset(asText(bytes), path.string(),
                                   {options.table, options.classNames, model, options.newRows});
    data.name = "csv:" + path.filename().string();
    return data;
}

// The rest of `spec` after "KIND:", or nothing if it does not begin with that.
std::optional<std::filesystem::path> pathAfter(std::string_view kind, std::string_view spec) {
    if (!spec.starts_with(kind)) return std::nullopt;
    const std::string_view path = spec.substr(kind.size());
    if (path.empty())
        throw std::invalid_argument(concat("data '", spec, "' lacks a file or folder after the colon"));
    return std::filesystem::path(path);
}

[[noreturn]] void throwUnknownData(std::string_view spec) {
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(std::filesystem::path(spec), ignored);
    if (std::filesystem::is_directory(status))
        throw std::invalid_argument(
            concat("data '", spec, "' is a folder; write idx:", spec, " if it holds the files of MNIST"));
    if (std::filesystem::is_regular_file(status))
        throw std::invalid_argument(
            concat("data '", spec, "' is a file; write csv:", spec, " if it is a table"));
    throwUnknownName("data", spec, dataSpecs());
}

Dataset loadSource(std::string_view spec, const DataOptions& options) {
    if (std::find(points2dNames.begin(), points2dNames.end(), spec) != points2dNames.end())
        return makePoints(spec, options);
    if (spec == "fashion-mnist") return loadFashionMnist(fashionMnistFolders());
    if (const auto folder = pathAfter("idx:", spec)) return readIdxFolder(*folder, options);
    if (const auto file = pathAfter("csv:", spec)) return readCsv(*file, options);
    throwUnknownData(spec);
}

// The test split takes the examples that come first in a random permutation.
std::vector<bool> chooseTest(std::size_t count, std::size_t testCount, std::uint64_t seed) {
    const shared::Random4 words = randomWords(seed, RandomStream::split, 0);
    const shared::OrderKeys keys{words.x, words.y, words.z, words.w};
    std::vector<bool> chosen(count, false);
    for (std::size_t position = 0; position < testCount; ++position)
        chosen[shared::orderIndex(static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(count),
                                  keys)] = true;
    return chosen;
}

} // namespace

Dataset loadDataset(std::string_view spec, const DataOptions& options) {
    Dataset data = loadSource(spec, options);
    if (data.test.count == 0 && !options.newRows) {
        const std::size_t count = data.train.count;
        splitOffTest(data, options.testShare, options.seed);
        if (data.bytes())
            data.notes.push_back(concat("no test files were found: ", data.test.count, " of the ", count,
                                        " training examples are held out for testing"));
    }
    scaleInputs(data, options.table.scale, options.model ? &*options.model : nullptr);
    return data;
}

Dataset loadFashionMnist(const std::vector<std::filesystem::path>& folders) {
    const std::vector<std::string> classes{"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                                           "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
    std::string tried;
    for (const std::filesystem::path& folder : folders) {
        if (hasIdxFiles(folder)) return readMnistFolder(folder, "fashion-mnist", classes);
        tried += (tried.empty() ? "" : ", ") + folder.string();
    }
    throw std::runtime_error("Fashion-MNIST was not found in " + tried +
                             "; install the package dataset-fashion-mnist, copy its four files into one of "
                             "these folders, or give their folder as idx:FOLDER");
}

DataFingerprint fingerprintOf(const Dataset& data) {
    DataFingerprint print{data.train.count, data.test.count, 0};
    const auto add = [&print](const auto& values) {
        print.checksum = crc32(std::as_bytes(std::span(values)), print.checksum);
    };
    for (const Examples* examples : {&data.train, &data.test}) {
        add(examples->pixels);
        add(examples->values);
        add(examples->labels);
        add(examples->targets);
    }
    return print;
}

std::vector<std::string_view> dataSpecs() {
    std::vector<std::string_view> specs(points2dNames.begin(), points2dNames.end());
    specs.insert(specs.end(), {"fashion-mnist", "idx:FOLDER", "csv:FILE"});
    return specs;
}

std::vector<std::filesystem::path> fashionMnistFolders() {
    std::vector<std::filesystem::path> folders;
    if (const char* chosen = std::getenv("LOCKSTEP_DATA"); chosen != nullptr && *chosen != '\0')
        folders.push_back(std::filesystem::path(chosen) / "fashion-mnist");
    if (const std::filesystem::path program = platform::programFolder(); !program.empty()) {
        folders.push_back(program / "assets/data/fashion-mnist");
        folders.push_back(program.parent_path() / "share/lockstep/data/fashion-mnist");
    }
    folders.emplace_back("/usr/share/datasets/fashion-mnist");
    return folders;
}

std::vector<bool> splitOffTest(Dataset& data, double share, std::uint64_t seed) {
    if (!(share >= 0 && share < 1))
        throw std::invalid_argument("the test share " + shortestText(share) +
                                    " is out of range: choose at least 0 and less than 1");
    const std::size_t count = data.train.count;
    constexpr std::size_t most = std::size_t{1} << 30; // the permutation is drawn from 32-bit numbers
    if (count > most)
        throw std::invalid_argument("'" + data.name + "' has " + std::to_string(count) +
                                    " examples; at most " + std::to_string(most) + " can be split");
    const auto testCount = static_cast<std::size_t>(std::llround(share * static_cast<double>(count)));
    if (testCount >= count)
        throw std::invalid_argument("a test share of " + shortestText(share) + " leaves none of the " +
                                    std::to_string(count) + " examples of '" + data.name +
                                    "' for training; choose a smaller one");
    std::vector<bool> chosen = chooseTest(count, testCount, seed);
    if (testCount == 0) return chosen;
    moveToTest(data, chosen);
    return chosen;
}

} // namespace lockstep
