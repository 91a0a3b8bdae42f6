// What a file that is replaced safely needs from the system. engine/files/atomic_file.h makes use of it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

namespace lockstep::platform {

/// A file or device that is open for writing; closed at its end. Errors are those of std::generic_category(),
/// so that they can be compared with std::errc and read alike on all systems.
class OutputFile {
  public:
    /// No file.
    OutputFile() = default;
    ~OutputFile() { close(); }
    OutputFile(OutputFile&& other) noexcept
        : handle_(std::exchange(other.handle_, none)), path_(std::move(other.path_)) {}
    OutputFile& operator=(OutputFile&& other) noexcept {
        close();
        handle_ = std::exchange(other.handle_, none);
        path_ = std::move(other.path_);
        return *this;
    }

    /// Makes a new file, which stays locked until it is closed or the process ends: removeAbandoned() leaves
    /// it alone. std::errc::file_exists: another name has to be tried.
    static OutputFile create(const std::filesystem::path& path, std::error_code& error);

    /// Opens a device, or a pipe. One that nothing reads fails at once, where it would wait for ever
    /// otherwise; afterwards, a slow reader is waited for.
    static OutputFile openDevice(const std::filesystem::path& path, std::error_code& error);

    explicit operator bool() const { return handle_ != none; }

    std::error_code write(std::span<const std::byte> bytes);

    /// Waits until what was written is on the disk.
    std::error_code flush();

    /// Renames it over `target`, which others see either as it was or as it is now, and which may have been
    /// missing. It takes the target's permissions. Where a program that has the target open prevents this,
    /// tries for two seconds; std::errc::device_or_resource_busy then. The name is not on the disk before the
    /// folder was flushed.
    std::error_code renameOver(const std::filesystem::path& target);

    /// Deletes it.
    void remove();

  private:
    static constexpr std::ptrdiff_t none = -1;

    void close();

    std::ptrdiff_t handle_ = none; // a descriptor, or a HANDLE
    std::filesystem::path path_;
};

/// A rename survives a crash only once its folder is flushed. Systems that refuse this write in order.
void flushFolder(const std::filesystem::path& folder);

/// Deletes a file that OutputFile::create() has made, unless somebody still has it open.
void removeAbandoned(const std::filesystem::path& path);

/// Whether the disk, or the user's share of it, is full.
bool isFull(std::error_code error);

/// The number of this process, which no other one has at the same time.
unsigned long processNumber();

/// Whether there is a process of that number.
bool processRuns(unsigned long number);

} // namespace lockstep::platform
