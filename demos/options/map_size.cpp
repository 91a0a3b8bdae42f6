#include "demos/options/map_size.h"

#include <charconv>
#include <stdexcept>

#include <fmt/format.h>

namespace lockstep::demos {

namespace {

std::uint32_t pixelsFromText(std::string_view digits, std::string_view text) {
    std::uint32_t pixels = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), pixels);
    if (code == std::errc::invalid_argument || end != digits.data() + digits.size())
        throw std::invalid_argument(fmt::format("'{}' is no size; write WIDTHxHEIGHT, as in 512x512", text));
    if (code != std::errc() || pixels < 1 || pixels > largestMap)
        throw std::invalid_argument(
            fmt::format("a map has 1x1 to {0}x{0} pixels, not {1}", largestMap, text));
    return pixels;
}

} // namespace

MapSize mapSizeFromText(std::string_view text) {
    std::string bare(text);
    std::erase_if(bare, [](char letter) { return letter == ' ' || letter == ','; });
    const std::size_t cross = bare.find('x');
    const std::uint32_t width = pixelsFromText(std::string_view(bare).substr(0, cross), text);
    if (cross == std::string::npos) return {width, width};
    return {width, pixelsFromText(std::string_view(bare).substr(cross + 1), text)};
}

std::string mapSizeText(MapSize size) { return fmt::format("{}x{}", size.width, size.height); }

} // namespace lockstep::demos
