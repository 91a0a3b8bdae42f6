// Pictures that tests compare: read from PNG, and judged by how much of them differs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::test {

struct ReadPicture {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> rgb; ///< row by row from the top
};

/// Throws std::runtime_error when the file is no picture.
ReadPicture readPicture(const std::filesystem::path& file);

/// The pixels of a PNG, four bytes each, row by row from the top. Throws std::runtime_error unless it has
/// that size.
std::vector<std::uint8_t> readRgba(std::string_view png, std::uint32_t width, std::uint32_t height);

/// Share of the pixels (0 to 1) that differ by more than `tolerance` in any channel; 1 for other sizes.
double differingShare(const ReadPicture& a, const ReadPicture& b, int tolerance);

/// Different colours in the picture, up to `most`.
std::size_t countColours(const ReadPicture& picture, std::size_t most);

} // namespace lockstep::test
