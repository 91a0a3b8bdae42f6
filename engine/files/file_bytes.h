// A whole file in memory, bounded, and the words in which every reader of files complains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// The largest file that is read unless the caller says otherwise: 4 GiB.
inline constexpr std::uint64_t largestFile = std::uint64_t{4} << 30;

/// The bytes of a regular file. Allocates as many as the file system says it has, and never more.
///   path      the file
///   maximum   bytes; a larger file is refused before anything is allocated
/// Throws std::runtime_error "cannot read PATH: reason" for a missing or unreadable file, a folder, a device
/// or pipe, an empty file, one that is too large, and one that ends earlier than its size says.
std::vector<std::byte> readFileBytes(const std::filesystem::path& path, std::uint64_t maximum = largestFile);

/// Bytes seen as text.
std::string_view asText(std::span<const std::byte> bytes);

/// Text seen as bytes.
std::span<const std::byte> asBytes(std::string_view text);

/// Throws std::runtime_error "NAME: byte OFFSET: reason".
[[noreturn]] void throwAtByte(std::string_view name, std::uint64_t offset, const std::string& reason);

/// `text` in single quotes for a message: at most 40 bytes of it (an ellipsis marks the cut, never inside a
/// UTF-8 character), and control characters as '?'.
std::string quotedForMessage(std::string_view text);

} // namespace lockstep
