// CRC-32, the checksum of gzip and PNG.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lockstep {

/// CRC-32 (ISO-HDLC, as zlib's crc32()) of `bytes` after those that gave `before`; 0 for none.
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0);

} // namespace lockstep
