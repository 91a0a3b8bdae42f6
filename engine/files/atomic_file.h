// Writing a file so that whoever reads it sees the old contents or the new, never a part.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace lockstep {

/// Replaces the contents of `path`, or creates it: the bytes go to a temporary file in the same folder, are
/// flushed to the disk, and are then renamed over `path`. A program killed in the middle leaves the old file
/// whole; the temporary that it leaves behind is removed by the next write to the same path.
///   path   a file; a symbolic link is followed; a device or pipe ("/dev/stdout") is written to directly
///   bytes  the whole new contents
/// Throws std::runtime_error "cannot write PATH: reason; hint" and removes its temporary.
void writeFileAtomically(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// The same for text.
void writeFileAtomically(const std::filesystem::path& path, std::string_view text);

/// Throws when `path` could not be replaced or created now, as writing to it would, and leaves it as it is:
/// for those who will write after hours of work. Devices and pipes are not tried.
void requireWritable(const std::filesystem::path& path);

} // namespace lockstep
