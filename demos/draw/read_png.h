// Pixels in memory, and PNG files of others, read within bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lockstep::demos {

/// Pixels as files and tests want them: RGBA, row by row from the top.
struct Pixels {
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    std::vector<std::uint8_t> rgba;
};

inline constexpr std::uint32_t longestPngSide = 4096;                  ///< pixels
inline constexpr std::uint64_t mostPngPixels = std::uint64_t{8} << 20; ///< of a picture: 32 MB in memory

/// Reads a PNG within these limits, in at most 300 MB of memory whatever the file says. Throws
/// std::runtime_error "cannot read the PNG NAME: reason".
Pixels decodePng(std::span<const std::byte> file, const std::string& name);

} // namespace lockstep::demos
