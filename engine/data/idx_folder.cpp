#include "engine/data/idx_folder.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <span>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <utility>

#include "engine/files/file_bytes.h"
#include "engine/files/gzip.h"
#include "engine/net/dataset.h"
#include "engine/net/names.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t mostListed = 10;         // names in a message
constexpr std::size_t mostOpened = 200;        // files whose first bytes are looked at
constexpr std::size_t mostSearched = 20'000;   // entries of subfolders
constexpr std::size_t deepestSubfolder = 3;    // data/MNIST/raw, as torchvision unpacks it, and one more
constexpr std::size_t longestListedName = 100; // bytes

using Words = std::span<const std::string_view>;

constexpr std::string_view trainWords[] = {"train", "training"};
constexpr std::string_view testWords[] = {"t10k", "test", "testing"};
constexpr std::string_view imageWords[] = {"images", "image", "imgs", "x"};
constexpr std::string_view labelWords[] = {"labels", "label", "y"};
constexpr std::string_view archiveEndings[] = {".zip", ".tar", ".tgz", ".7z", ".xz"};
constexpr std::string_view typeWords[] = {"idx", "idx1", "idx2", "idx3", "ubyte", "int"};

bool among(Words words, std::string_view word) { return std::ranges::find(words, word) != words.end(); }

std::string lowerFileName(std::string_view text) {
    std::string lower(text);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

std::vector<std::string> nameWords(std::string_view name) {
    std::vector<std::string> words{""};
    for (const char c : lowerFileName(name)) {
        if (std::string_view("-._ ").find(c) == std::string_view::npos)
            words.back() += c;
        else if (!words.back().empty())
            words.emplace_back();
    }
    if (words.back().empty()) words.pop_back();
    return words;
}

/// What a file's name says about it.
struct IdxRole {
    std::string set;
    std::string split; ///< a word of trainWords or testWords
    bool images = false;
};

std::optional<IdxRole> roleOf(const std::string& fileName) {
    std::vector<std::string> words = nameWords(fileName);
    if (words.size() > 1 && words.back() == "gz") words.pop_back();
    IdxRole role;
    std::string content;
    bool typed = false;
    for (const std::string& word : words) {
        if (among(typeWords, word)) {
            typed = true;
        } else if (typed) {
            return std::nullopt; // train-images-idx3-ubyte.part, or (1)
        } else if (among(trainWords, word) || among(testWords, word)) {
            if (!std::exchange(role.split, word).empty()) return std::nullopt;
        } else if (among(imageWords, word) || among(labelWords, word)) {
            if (!std::exchange(content, word).empty()) return std::nullopt;
        } else {
            role.set += (role.set.empty() ? "" : "-") + word;
        }
    }
    if (!typed || role.split.empty() || content.empty()) return std::nullopt;
    role.images = among(imageWords, content);
    return role;
}

std::vector<fs::path> entriesOf(const fs::path& folder) {
    std::vector<fs::path> entries;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
        entries.push_back(entry->path());
    std::ranges::sort(entries);
    return entries;
}

bool isRegularFile(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

bool isFolder(const fs::path& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored);
}

struct FoundFile {
    fs::path path;
    IdxRole role;
    fs::path entry; ///< of the folder: the file, or the folder of its name that holds it
};

struct FolderScan {
    fs::path folder;
    std::vector<fs::path> entries; ///< all
    std::vector<FoundFile> files;  ///< those with a role
};

FolderScan scanFolder(const fs::path& folder) {
    FolderScan scan{folder, entriesOf(folder), {}};
    for (const fs::path& entry : scan.entries) {
        const std::optional<IdxRole> role = roleOf(entry.filename().string());
        if (!role) continue;
        if (isRegularFile(entry)) scan.files.push_back({entry, *role, entry});
        if (!isFolder(entry)) continue;
        for (const fs::path& inner : entriesOf(entry)) { // as some programs unpack a .gz
            const std::optional<IdxRole> innerRole = roleOf(inner.filename().string());
            if (innerRole && innerRole->images == role->images && isRegularFile(inner))
                scan.files.push_back({inner, *innerRole, entry});
        }
    }
    return scan;
}

/// The file of this role: one that lies in the folder itself before one in a folder of its name, a plain one
/// before a compressed one, and then by name, where a dash comes before a dot. Empty if there is none.
fs::path bestFile(const FolderScan& scan, std::string_view set, std::string_view split, bool images) {
    const FoundFile* best = nullptr;
    const auto rank = [](const FoundFile& file) {
        return std::tuple(file.path != file.entry, lowerFileName(file.path.extension().string()) == ".gz",
                          file.path);
    };
    for (const FoundFile& file : scan.files)
        if (file.role.set == set && file.role.split == split && file.role.images == images)
            if (best == nullptr || rank(file) < rank(*best)) best = &file;
    return best == nullptr ? fs::path() : best->path;
}

/// Images and labels that share their word for the split: the first word that has both, else that has one.
std::pair<fs::path, fs::path> bestSplit(const FolderScan& scan, std::string_view set, Words words) {
    std::pair<fs::path, fs::path> half;
    for (const std::string_view word : words) {
        std::pair<fs::path, fs::path> both{bestFile(scan, set, word, true), bestFile(scan, set, word, false)};
        if (!both.first.empty() && !both.second.empty()) return both;
        if (half.first.empty() && half.second.empty()) half = std::move(both);
    }
    return half;
}

/// The sets that have training images; with labels, if any has them.
std::vector<std::string> setsIn(const FolderScan& scan) {
    std::vector<std::string> whole;
    std::vector<std::string> half;
    for (const FoundFile& file : scan.files) {
        const auto [images, labels] = bestSplit(scan, file.role.set, trainWords);
        if (images.empty()) continue;
        (labels.empty() ? half : whole).push_back(file.role.set);
    }
    std::vector<std::string>& sets = whole.empty() ? half : whole;
    std::ranges::sort(sets);
    sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
    return sets;
}

bool holdsSet(const FolderScan& scan, const std::optional<std::string>& set) {
    const std::vector<std::string> sets = setsIn(scan);
    return set ? std::ranges::find(sets, *set) != sets.end() : !sets.empty();
}

/// The folder if it has the set (any, without one), else the subfolders that have it.
std::vector<FolderScan> scansWith(const fs::path& folder, const std::optional<std::string>& set) {
    std::vector<FolderScan> level{scanFolder(folder)};
    if (holdsSet(level.front(), set)) return level;
    std::vector<FolderScan> found;
    std::size_t searched = 0;
    for (std::size_t depth = 1; depth <= deepestSubfolder; ++depth) {
        std::vector<FolderScan> below;
        for (const FolderScan& scan : level)
            for (const fs::path& entry : scan.entries) {
                const bool hidden = entry.filename().string().starts_with('.');
                if (hidden || roleOf(entry.filename().string()) || !isFolder(entry)) continue;
                if (searched > mostSearched) return found;
                FolderScan inner = scanFolder(entry);
                searched += inner.entries.size() + 1;
                (holdsSet(inner, set) ? found : below).push_back(std::move(inner));
            }
        level = std::move(below);
    }
    return found;
}

std::string listedNames(std::span<const std::string> names) {
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), mostListed); ++i)
        text += (i == 0 ? "" : ", ") + quotedForMessage(names[i], longestListedName);
    return names.size() > mostListed ? text + concat(" and ", names.size() - mostListed, " more") : text;
}

std::string nameBelow(const fs::path& folder, const fs::path& path) {
    return path.lexically_relative(folder).generic_string();
}

/// "; it holds 'a', 'b/'", with a hint where an archive is among them.
std::string contentText(const FolderScan& scan) {
    if (scan.entries.empty()) return "; it is empty";
    std::vector<std::string> names;
    std::string archive;
    for (const fs::path& entry : scan.entries) {
        names.push_back(entry.filename().string() + (isFolder(entry) ? "/" : ""));
        const std::string ending = lowerFileName(entry.extension().string());
        if (archive.empty() && among(archiveEndings, ending)) archive = names.back();
    }
    return "; it holds " + listedNames(names) +
           (archive.empty() ? "" : "; unpack " + quotedForMessage(archive, longestListedName) + " first");
}

[[noreturn]] void refuseNothingFound(const FolderScan& scan) {
    throw std::runtime_error(
        concat(scan.folder.string(),
               ": this folder has no training images, such as train-images-idx3-ubyte or "
               "train-images-idx3-ubyte.gz",
               contentText(scan)));
}

/// `place` is neither a folder nor a set.
[[noreturn]] void refusePlace(const fs::path& place, const fs::path& parent, std::string_view set) {
    std::error_code error;
    const fs::file_status status = fs::status(place, error);
    std::string reason = "no such folder";
    if (fs::exists(status))
        reason = "it is not a folder; give the folder that holds the IDX files";
    else if (status.type() != fs::file_type::not_found)
        reason = error.message();
    std::vector<std::string> sets;
    if (!set.empty()) sets = setsIn(scanFolder(parent));
    std::erase(sets, "");
    if (!sets.empty())
        reason +=
            concat(", and no data set of that name in ", parent.string(), "; it has ", listedNames(sets));
    throw std::runtime_error(concat("cannot read ", place.string(), ": ", reason));
}

[[noreturn]] void refuseSeveralFolders(const fs::path& folder, const std::vector<FolderScan>& scans) {
    std::vector<std::string> names;
    names.reserve(scans.size());
    for (const FolderScan& scan : scans) names.push_back(nameBelow(folder, scan.folder));
    throw std::runtime_error(concat(folder.string(),
                                    ": several folders in it hold data sets: ", listedNames(names),
                                    "; choose one, such as idx:", (folder / names.front()).string()));
}

std::string chooseSet(const FolderScan& scan, const std::optional<std::string>& wanted) {
    const std::vector<std::string> sets = setsIn(scan);
    if (wanted) return *wanted;
    if (sets.front().empty() || sets.size() == 1) return sets.front();
    throw std::runtime_error(concat(scan.folder.string(), ": this folder holds ", sets.size(),
                                    " data sets: ", listedNames(sets),
                                    "; choose one, such as idx:", (scan.folder / sets.front()).string()));
}

// `kind` is "test", for example, and `missing` "labels".
void requireBoth(const FolderScan& scan, const fs::path& images, const fs::path& labels, const char* kind) {
    if (images.empty() == labels.empty()) return;
    const fs::path& there = images.empty() ? labels : images;
    throw std::runtime_error(concat(scan.folder.string(), ": there is no file of ", kind,
                                    images.empty() ? " images" : " labels", " to go with ",
                                    quotedForMessage(nameBelow(scan.folder, there), longestListedName),
                                    contentText(scan)));
}

/// True for the four spellings of a file that MNIST itself has used.
bool isMnistName(const fs::path& folder, const fs::path& file, std::string_view stem, std::string_view type) {
    const std::string name = file.filename().string();
    for (const char* separator : {"-", "."})
        for (const char* ending : {"", ".gz"})
            if (name == concat(stem, separator, type, "-ubyte", ending)) return file.parent_path() == folder;
    return file.empty();
}

bool hasMnistNames(const fs::path& folder, const IdxFiles& files) {
    return isMnistName(folder, files.trainImages, "train-images", "idx3") &&
           isMnistName(folder, files.trainLabels, "train-labels", "idx1") &&
           isMnistName(folder, files.testImages, "t10k-images", "idx3") &&
           isMnistName(folder, files.testLabels, "t10k-labels", "idx1");
}

std::string takenText(const fs::path& folder, const IdxFiles& files) {
    const auto both = [&folder](const fs::path& images, const fs::path& labels) {
        return quotedForMessage(nameBelow(folder, images), longestListedName) + " with labels " +
               quotedForMessage(nameBelow(folder, labels), longestListedName);
    };
    std::string text = "training images: " + both(files.trainImages, files.trainLabels);
    if (!files.testImages.empty()) text += "; test images: " + both(files.testImages, files.testLabels);
    return text;
}

/// True if the file's bytes, uncompressed, begin as IDX: two zeros, a type, and 1 to 4 dimensions.
bool beginsAsIdx(const fs::path& path) {
    std::array<char, 4096> first{};
    std::ifstream file(path, std::ios::binary);
    file.read(first.data(), first.size());
    std::span<const std::byte> bytes =
        std::as_bytes(std::span(first).first(static_cast<std::size_t>(file.gcount())));
    std::array<std::byte, 4> unpacked{};
    try {
        if (isGzip(bytes)) bytes = std::span(unpacked).first(GzipReader(bytes, "").read(unpacked));
    } catch (const std::runtime_error&) {
        return false;
    }
    if (bytes.size() < 4 || bytes[0] != std::byte{0} || bytes[1] != std::byte{0}) return false;
    const auto type = std::to_integer<unsigned>(bytes[2]);
    const auto dimensions = std::to_integer<unsigned>(bytes[3]);
    return type >= 0x08 && type <= 0x0E && dimensions >= 1 && dimensions <= 4;
}

/// Sentences that name files in the same folder that seem related and are not read.
std::vector<std::string> unreadTexts(const FolderScan& scan, const IdxFiles& files) {
    std::vector<std::string> sets;
    std::vector<fs::path> known; // entries of which enough is said
    for (const FoundFile& file : scan.files) {
        const bool read = file.path == files.trainImages || file.path == files.trainLabels ||
                          file.path == files.testImages || file.path == files.testLabels;
        const bool other = file.role.set != files.set && !file.role.set.empty();
        if (other && std::ranges::find(sets, file.role.set) == sets.end()) sets.push_back(file.role.set);
        if (read || other) known.push_back(file.entry);
    }
    std::vector<std::string> names;
    std::size_t opened = 0;
    for (const fs::path& entry : scan.entries) {
        if (std::ranges::find(known, entry) != known.end()) continue;
        const std::string name = lowerFileName(entry.filename().string());
        bool related = false;
        for (const char* part : {"images", "labels", "idx", "ubyte"})
            related = related || name.find(part) != std::string::npos;
        if (!related && isRegularFile(entry) && opened++ < mostOpened) related = beginsAsIdx(entry);
        if (related) names.push_back(entry.filename().string() + (isFolder(entry) ? "/" : ""));
    }
    std::vector<std::string> texts;
    if (!sets.empty()) texts.push_back("other data sets in the folder are not read: " + listedNames(sets));
    if (!names.empty())
        texts.push_back((names.size() == 1 ? "a file that looks related is not read: "
                                           : "files that look related are not read: ") +
                        listedNames(names));
    return texts;
}

} // namespace

std::string idxSetName(std::string_view text) {
    std::string name;
    for (const std::string& word : nameWords(text)) name += (name.empty() ? "" : "-") + word;
    return name;
}

IdxFiles findIdxFiles(const fs::path& place) {
    fs::path folder = place;
    std::optional<std::string> wanted;
    std::error_code ignored;
    if (!isFolder(place)) {
        folder = place.has_parent_path() ? place.parent_path() : fs::path(".");
        wanted = fs::exists(place, ignored) ? "" : idxSetName(place.filename().string());
    }
    std::vector<FolderScan> scans;
    if (!wanted || !wanted->empty()) scans = scansWith(folder, wanted);
    if (scans.empty() && wanted) refusePlace(place, folder, *wanted);
    if (scans.empty()) refuseNothingFound(scanFolder(folder));
    if (scans.size() > 1) refuseSeveralFolders(folder, scans);
    const FolderScan& scan = scans.front();
    IdxFiles files;
    files.set = chooseSet(scan, wanted);
    std::tie(files.trainImages, files.trainLabels) = bestSplit(scan, files.set, trainWords);
    std::tie(files.testImages, files.testLabels) = bestSplit(scan, files.set, testWords);
    requireBoth(scan, files.trainImages, files.trainLabels, "training");
    requireBoth(scan, files.testImages, files.testLabels, "test");
    if (!hasMnistNames(folder, files)) files.notes.push_back(takenText(folder, files));
    for (std::string& text : unreadTexts(scan, files)) files.notes.push_back(std::move(text));
    return files;
}

bool hasIdxFiles(const fs::path& folder) { return !scansWith(folder, std::nullopt).empty(); }

} // namespace lockstep
