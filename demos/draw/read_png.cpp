#include "demos/draw/read_png.h"

#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "engine/net/names.h"

namespace {

// What the library may still allocate for the picture at hand: a few bytes of compressed data can unfold to
// gigabytes that no picture needs.
constexpr std::size_t decodingBytes = std::size_t{256} << 20;
thread_local std::size_t bytesLeft = 0;

bool takeBytes(std::size_t bytes) {
    if (bytes > bytesLeft) return false;
    bytesLeft -= bytes;
    return true;
}

void* allocateWithin(std::size_t bytes) { return takeBytes(bytes) ? std::malloc(bytes) : nullptr; }

void* reallocateWithin(void* old, std::size_t before, std::size_t bytes) {
    return takeBytes(bytes > before ? bytes - before : 0) ? std::realloc(old, bytes) : nullptr;
}

} // namespace

// The library's functions become this file's own; its warnings are not ours to mend.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
// An empty chunk is copied to nowhere: no bytes to a null pointer, which does nothing.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((no_sanitize("nonnull-attribute"))), apply_to = function)
#endif
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_ONLY_PNG
#define STBI_MAX_DIMENSIONS 4096
#define STBI_MALLOC(bytes) allocateWithin(bytes)
#define STBI_REALLOC(old, bytes) reallocateWithin(old, 0, bytes)
#define STBI_REALLOC_SIZED(old, before, bytes) reallocateWithin(old, before, bytes)
#define STBI_FREE(old) std::free(old)
#include <stb/stb_image.h>
#if defined(__clang__)
#pragma clang attribute pop
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace lockstep::demos {

namespace {

/// Where every PNG file has its width, and the height after it.
constexpr std::size_t sizeAt = 16;

std::uint32_t bigEndian(std::span<const std::byte> bytes) {
    std::uint32_t number = 0;
    for (const std::byte byte : bytes.first(4)) number = number << 8 | std::to_integer<std::uint32_t>(byte);
    return number;
}

template <class... Reason>
[[noreturn]] void throwUnreadable(const std::string& name, const Reason&... reason) {
    throw std::runtime_error(concat("cannot read the PNG ", name, ": ", reason...));
}

} // namespace

Pixels decodePng(std::span<const std::byte> file, const std::string& name) {
    constexpr std::string_view signature = "\x89PNG\r\n\x1a\n";
    const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
    if (!text.starts_with(signature)) throwUnreadable(name, "it is no PNG file");
    if (file.size() < sizeAt + 8) throwUnreadable(name, "it is damaged");
    const std::uint64_t columns = bigEndian(file.subspan(sizeAt));
    const std::uint64_t rows = bigEndian(file.subspan(sizeAt + 4));
    if (columns > longestPngSide || rows > longestPngSide)
        throwUnreadable(name, "it has more than ", longestPngSide, " pixels a side");
    if (columns * rows > mostPngPixels)
        throwUnreadable(name, "it has ", columns, "x", rows, " pixels; at most ", mostPngPixels,
                        " can be shown, such as 4096x2048");
    bytesLeft = decodingBytes;
    int width = 0, height = 0, channels = 0;
    stbi_uc* decoded = stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(file.data()),
                                             static_cast<int>(file.size()), &width, &height, &channels, 4);
    if (decoded == nullptr)
        throwUnreadable(name, "it is damaged"); // of what, the library does not always say
    Pixels pixels{static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height), {}};
    pixels.rgba.assign(decoded, decoded + std::size_t{4} * pixels.width * pixels.height);
    stbi_image_free(decoded);
    return pixels;
}

} // namespace lockstep::demos
