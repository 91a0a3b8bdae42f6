#include "demos/draw/png.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "engine/files/atomic_file.h"

// The library's functions become this file's own; its warnings are not ours to mend.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace lockstep::demos {

std::vector<std::byte> encodedPng(const Pixels& pixels, bool alpha) {
    const std::size_t channels = alpha ? 4 : 3;
    std::vector<std::uint8_t> values;
    values.reserve(pixels.rgba.size() / 4 * channels);
    for (auto pixel = pixels.rgba.begin(); pixel != pixels.rgba.end(); pixel += 4)
        values.insert(values.end(), pixel, pixel + static_cast<std::ptrdiff_t>(channels));
    std::vector<std::byte> encoded;
    const auto append = [](void* context, void* data, int size) {
        auto& bytes = *static_cast<std::vector<std::byte>*>(context);
        const auto* first = static_cast<const std::byte*>(data);
        bytes.insert(bytes.end(), first, first + size);
    };
    const auto width = static_cast<int>(pixels.width);
    const auto height = static_cast<int>(pixels.height);
    const int each = static_cast<int>(channels);
    if (stbi_write_png_to_func(append, &encoded, width, height, each, values.data(), width * each) == 0)
        throw std::runtime_error("there is not enough memory for a picture of this size");
    return encoded;
}

void writePng(const std::filesystem::path& file, const Pixels& pixels) {
    writeFileAtomically(file, encodedPng(pixels, false));
}

Pixels cropped(Pixels pixels, const std::optional<Place>& area) {
    if (!area) return pixels;
    const auto from = [](float edge, std::uint32_t size) {
        return static_cast<std::uint32_t>(std::clamp(std::floor(edge), 0.0f, static_cast<float>(size - 1)));
    };
    const auto to = [](float edge, std::uint32_t first, std::uint32_t size) {
        return std::max(
            static_cast<std::uint32_t>(std::clamp(std::ceil(edge), 0.0f, static_cast<float>(size))),
            first + 1);
    };
    const std::uint32_t left = from(area->min.x, pixels.width);
    const std::uint32_t top = from(area->min.y, pixels.height);
    Pixels part;
    part.width = to(area->max.x, left, pixels.width) - left;
    part.height = to(area->max.y, top, pixels.height) - top;
    for (std::uint32_t row = top; row < top + part.height; ++row) {
        const auto begin = pixels.rgba.begin() + (static_cast<std::ptrdiff_t>(row) * pixels.width + left) * 4;
        part.rgba.insert(part.rgba.end(), begin, begin + static_cast<std::ptrdiff_t>(part.width) * 4);
    }
    return part;
}

} // namespace lockstep::demos
