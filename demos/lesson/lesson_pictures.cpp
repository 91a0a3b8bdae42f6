#include "demos/lesson/lesson_pictures.h"

#include <cstring>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "engine/files/file_bytes.h"

namespace lockstep::demos {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t largestPicture = 4u << 20; // bytes
constexpr std::uint64_t mostShown = 2 * mostPngPixels;

} // namespace

Pixels readLessonPicture(const fs::path& folder, const std::string& name) {
    const fs::path file = name;
    if (file != file.filename() || file.extension() != ".png")
        throw std::invalid_argument(
            fmt::format("the picture '{}' must be the name of a PNG file beside the lesson", name));
    std::error_code unknown;
    if (!fs::is_regular_file(folder / file, unknown))
        throw std::runtime_error(fmt::format("there is no picture '{}' beside the lesson", name));
    return decodePng(readFileBytes(folder / file, largestPicture), name);
}

const Picture* LessonPictures::find(Graphics& graphics, const fs::path& folder, const std::string& name) {
    const auto [entry, isNew] = pictures_.try_emplace(folder / name);
    if (isNew) try {
            const Pixels pixels = readLessonPicture(folder, name);
            const std::uint64_t count = pixels.rgba.size() / 4;
            if (pixels_ + count > mostShown) return nullptr;
            pixels_ += count;
            std::vector<std::uint32_t> words(pixels.rgba.size() / 4);
            std::memcpy(words.data(), pixels.rgba.data(), pixels.rgba.size());
            entry->second = std::make_unique<Picture>(graphics, pixels.width, pixels.height, true);
            entry->second->upload(words);
        } catch (const std::exception&) {
            // Its description is shown instead.
        }
    return entry->second.get();
}

} // namespace lockstep::demos
