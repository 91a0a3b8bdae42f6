// The IDX format of the MNIST family: big-endian header (magic, one count per dimension), then unsigned
// bytes. Plain or compressed with gzip, told apart by the first bytes and not by the name. Format: Y. LeCun,
// C. Cortes, C. Burges, "The MNIST database of handwritten digits".
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

/// The largest image: as many pixels as a network may have inputs.
inline constexpr std::size_t largestImage = 65536;

/// Images of a file with magic 00 00 08 03.
///   file   the whole file
///   name   the file, for messages
/// Throws std::runtime_error "NAME: byte N: reason" when the file is empty or truncated, has another magic,
/// sides of 0 or more than largestImage pixels, when its header claims another size than the file has, or
/// when its gzip data is damaged. Offsets inside gzip count decompressed bytes. What a header claims is
/// compared with what the file can hold before anything is allocated, so a lying header costs no memory.
IdxImages parseIdxImages(std::span<const std::byte> file, std::string_view name);

/// Labels of a file with magic 00 00 08 01. Throws as parseIdxImages.
std::vector<std::uint8_t> parseIdxLabels(std::span<const std::byte> file, std::string_view name);

} // namespace lockstep
