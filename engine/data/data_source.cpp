#include "engine/data/data_source.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "engine/data/csv_dataset.h"
#include "engine/data/mnist_folder.h"
#include "engine/data/points_2d.h"
#include "engine/data/test_split.h"
#include "engine/files/file_bytes.h"
#include "engine/files/program_folder.h"
#include "engine/net/names.h"
#include "engine/net/numbers.h"

namespace lockstep {

namespace {

constexpr std::size_t mostSamples = 10'000'000;
constexpr double mostNoise = 0.8;

void requireSensible(const DataOptions& options) {
    if (options.samples < 2 || options.samples > mostSamples)
        throw std::invalid_argument(std::to_string(options.samples) + " samples: between 2 and " +
                                    std::to_string(mostSamples) + " points can be made");
    if (!(options.noise >= 0 && options.noise <= mostNoise))
        throw std::invalid_argument("noise " + shortestText(options.noise) +
                                    ": it goes from 0 to 0.8 (80 percent)");
}

void addPoint(Dataset& data, const LabelledPoint& point) {
    data.train.values.push_back(point.x);
    data.train.values.push_back(point.y);
    if (data.classes == 0)
        data.train.targets.push_back(point.target);
    else
        data.train.labels.push_back(point.label);
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
    for (std::size_t i = 0; i < options.samples; ++i)
        addPoint(data, point2d(set, options.seed, i, options.noise));
    return data;
}

Dataset readIdxFolder(std::filesystem::path folder, const DataOptions& options) {
    if (!folder.has_filename()) folder = folder.parent_path(); // "data/" is the folder "data"
    return readMnistFolder(folder, "idx:" + folder.filename().string(), options.classNames);
}

Dataset readCsv(const std::filesystem::path& path, const DataOptions& options) {
    const std::vector<std::byte> bytes = readFileBytes(path);
    Dataset data = parseCsvDataset(asText(bytes), path.string(),
                                   {options.labelColumn, options.target, options.header, options.classNames});
    data.name = "csv:" + path.filename().string();
    return data;
}

// The rest of `spec` after "KIND:"; nothing when it begins otherwise.
std::optional<std::filesystem::path> pathAfter(std::string_view kind, std::string_view spec) {
    if (!spec.starts_with(kind)) return std::nullopt;
    const std::string_view path = spec.substr(kind.size());
    if (path.empty())
        throw std::invalid_argument("data '" + std::string(spec) +
                                    "' names no file or folder after the colon");
    return std::filesystem::path(path);
}

[[noreturn]] void throwUnknownData(std::string_view spec) {
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(std::filesystem::path(spec), ignored);
    if (std::filesystem::is_directory(status))
        throw std::invalid_argument("data '" + std::string(spec) + "' is a folder; write idx:" +
                                    std::string(spec) + " if it holds the files of MNIST");
    if (std::filesystem::is_regular_file(status))
        throw std::invalid_argument("data '" + std::string(spec) +
                                    "' is a file; write csv:" + std::string(spec) + " if it is a table");
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

} // namespace

Dataset loadDataset(std::string_view spec, const DataOptions& options) {
    Dataset data = loadSource(spec, options);
    if (data.test.count == 0) splitOffTest(data, options.testShare, options.seed);
    return data;
}

Dataset loadFashionMnist(const std::vector<std::filesystem::path>& folders) {
    std::string tried;
    for (const std::filesystem::path& folder : folders) {
        if (isMnistFolder(folder)) return readMnistFolder(folder, "fashion-mnist", fashionMnistClasses());
        tried += (tried.empty() ? "" : ", ") + folder.string();
    }
    throw std::runtime_error("Fashion-MNIST was not found in " + tried +
                             "; install the package dataset-fashion-mnist, or put its four files into one of "
                             "these folders, or name their folder with idx:FOLDER");
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
    folders.emplace_back("/usr/share/datasets/fashion-mnist");
    if (const std::filesystem::path program = programFolder(); !program.empty()) {
        folders.push_back(program / "assets/data/fashion-mnist");
        folders.push_back(program.parent_path() / "assets/data/fashion-mnist");
        folders.push_back(program.parent_path() / "share/lockstep/data/fashion-mnist");
    }
    return folders;
}

} // namespace lockstep
