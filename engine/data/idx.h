// The IDX format of the MNIST family: a big-endian header (magic number, one count per dimension), then
// unsigned bytes, or big-endian integers of 4 bytes. Plain or gzip-compressed, recognised by the first bytes,
// not by the name. Format: Y. LeCun, C. Cortes, C. Burges, "The MNIST database of handwritten digits".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace lockstep {

struct IdxImages {
    std::size_t count = 0;
    std::size_t height = 0;
    std::size_t width = 0;
    std::vector<std::uint8_t> pixels; ///< [count][height][width]
};

struct IdxLabels {
    std::vector<std::uint32_t> values; ///< one per image
    std::size_t columns = 1;           ///< integers per image in the file, of which the first is the label
};

/// Maximum number of pixels per image: as many as a network can have inputs.
inline constexpr std::size_t largestImage = 65536;

/// Parses a file of images (magic number 00 00 08 03).
///   file   the whole file
///   name   the file, for messages
/// Throws std::runtime_error "NAME: byte N: reason" if the file is empty or truncated, has another magic
/// number, sides of 0 or more than largestImage pixels, a size that contradicts its header, or corrupt gzip
/// data. Offsets inside gzip count decompressed bytes. The header's counts are checked against the file's
/// size before anything is allocated, so a false header costs no memory.
IdxImages parseIdxImages(std::span<const std::byte> file, std::string_view name);

/// Parses a file of labels: bytes (magic number 00 00 08 01) or integers (00 00 0C 01; 00 00 0C 02 for
/// QMNIST's rows, whose first column is the class). Throws as parseIdxImages, and for a negative label.
IdxLabels parseIdxLabels(std::span<const std::byte> file, std::string_view name);

} // namespace lockstep
