#include "tests/picture_compare.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <stdexcept>

#include "engine/files/file_bytes.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#include <stb/stb_image.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace lockstep::test {

ReadPicture readPicture(const std::filesystem::path& file) {
    const std::vector<std::byte> bytes = readFileBytes(file);
    ReadPicture picture;
    int channels = 0;
    stbi_uc* pixels =
        stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()), static_cast<int>(bytes.size()),
                              &picture.width, &picture.height, &channels, 3);
    if (pixels == nullptr) throw std::runtime_error(file.string() + " is no PNG");
    picture.rgb.assign(pixels, pixels + static_cast<std::ptrdiff_t>(picture.width) * picture.height * 3);
    stbi_image_free(pixels);
    return picture;
}

std::vector<std::uint8_t> readRgba(std::string_view png, std::uint32_t width, std::uint32_t height) {
    int size[2] = {0, 0};
    int channels = 0;
    stbi_uc* pixels = stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(png.data()),
                                            static_cast<int>(png.size()), &size[0], &size[1], &channels, 4);
    const bool right =
        pixels != nullptr && size[0] == static_cast<int>(width) && size[1] == static_cast<int>(height);
    std::vector<std::uint8_t> rgba;
    if (right) rgba.assign(pixels, pixels + std::size_t{4} * width * height);
    stbi_image_free(pixels);
    if (!right) throw std::runtime_error("a PNG cannot be read, or has another size");
    return rgba;
}

double differingShare(const ReadPicture& a, const ReadPicture& b, int tolerance) {
    if (a.width != b.width || a.height != b.height || a.rgb.empty()) return 1;
    std::size_t differing = 0;
    for (std::size_t i = 0; i < a.rgb.size(); i += 3) {
        bool differs = false;
        for (std::size_t channel = i; channel < i + 3; ++channel)
            differs = differs || std::abs(a.rgb[channel] - b.rgb[channel]) > tolerance;
        differing += differs ? 1 : 0;
    }
    return static_cast<double>(differing) / static_cast<double>(a.rgb.size() / 3);
}

std::size_t countColours(const ReadPicture& picture, std::size_t most) {
    std::set<std::uint32_t> colours;
    for (std::size_t i = 0; i < picture.rgb.size() && colours.size() < most; i += 3)
        colours.insert(
            static_cast<std::uint32_t>(picture.rgb[i] << 16 | picture.rgb[i + 1] << 8 | picture.rgb[i + 2]));
    return colours.size();
}

} // namespace lockstep::test
