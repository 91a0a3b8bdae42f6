// Reading a whole file into memory, with an upper bound, and the helpers that all file readers share: error
// messages, checksum, UTF-8 check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/net/names.h"

namespace lockstep {

/// Default limit on the size of a file: 4 GiB.
inline constexpr std::uint64_t largestFile = std::uint64_t{4} << 30;

/// Reads a regular file. Allocates exactly the size that the file system reports.
///   path      the file
///   maximum   bytes; a larger file is rejected before anything is allocated
/// Throws std::runtime_error "cannot read PATH: reason" for a missing, unreadable, empty or too large file,
/// for a folder, device or pipe, and for a file shorter than its reported size.
std::vector<std::byte> readFileBytes(const std::filesystem::path& path, std::uint64_t maximum = largestFile);

/// The same bytes as text.
inline std::string_view asText(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Throws std::runtime_error "NAME: byte OFFSET: reason", the parts of the reason as for concat().
template <class... Reason>
[[noreturn]] void throwAtByte(std::string_view name, std::uint64_t offset, const Reason&... reason) {
    throw std::runtime_error(concat(name, ": byte ", offset, ": ", reason...));
}

/// `text` in single quotes for a message: at most `longest` bytes (cut between UTF-8 characters and marked by
/// an ellipsis), with control characters shown as '?'.
std::string quotedForMessage(std::string_view text, std::size_t longest = 40);

/// CRC-32 (ISO-HDLC, as in gzip, PNG and zlib). For several pieces, pass the previous result as `before`.
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// Offset of the first byte that is not well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates,
/// nothing above 10FFFF); std::string_view::npos when the text is valid.
std::size_t findInvalidUtf8(std::string_view text);

} // namespace lockstep
