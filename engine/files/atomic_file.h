// Atomic file writes: a reader sees the old contents or the new, never a mixture.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace lockstep {

/// Replaces the contents of `path`, or creates it: the bytes go to a temporary file in the same folder, are
/// flushed to disk, and renamed over `path`. If the program is killed half-way, the old file stays intact,
/// and the next write to the same path removes the abandoned temporary ("PATH.tmp-PROCESS-NUMBER").
///   path   a file; a symbolic link stays, and what it names is written, even if that does not exist yet; a
///          device or pipe ("/dev/stdout") is written to directly; a pipe must have a reader
///   bytes  the whole new contents
/// Throws std::runtime_error "cannot write PATH: reason; hint" and removes its temporary.
void writeFileAtomically(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// Overload for text.
void writeFileAtomically(const std::filesystem::path& path, std::string_view text);

/// Creates the folders in which `path` is about to be written, where they are missing. Throws nothing: the
/// write says what is wrong.
void createFoldersFor(const std::filesystem::path& path);

/// Throws, as a write would, when `path` cannot be replaced or created now; changes nothing. Call it before
/// hours of work whose result goes there. Devices and pipes are not checked.
void requireWritable(const std::filesystem::path& path);

/// Whether writes to both paths would replace the same file: by other spellings, or through links. False for
/// a device such as /dev/null, which takes any number of writers. Throws std::runtime_error for links in a
/// circle, std::filesystem::filesystem_error for an unreadable folder.
bool sameFile(const std::filesystem::path& a, const std::filesystem::path& b);

/// While one lives, the functions above write nothing on its thread, and throw that it is not allowed, and
/// why: for what acts on behalf of a file of somebody else.
class WritesRefused {
  public:
    /// why   a clause that lives as long: "a lesson's 'try' saves nothing"
    explicit WritesRefused(const char* why);
    ~WritesRefused();
    WritesRefused(const WritesRefused&) = delete;
    WritesRefused& operator=(const WritesRefused&) = delete;

  private:
    const char* before_;
};

} // namespace lockstep
