#include "engine/platform/file.h"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lockstep::platform {

namespace {

std::error_code lastError() { return {errno, std::generic_category()}; }

// Between creation and lock, a file looks abandoned to others. False: one of them removed it.
bool lockNew(int file) {
    if (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
    struct ::stat status {};
    return ::fstat(file, &status) != 0 || status.st_nlink > 0;
}

} // namespace

OutputFile OutputFile::create(const std::filesystem::path& path, std::error_code& error) {
    OutputFile file;
    error.clear();
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        error = lastError();
        return file;
    }
    file.handle_ = descriptor;
    file.path_ = path;
    if (lockNew(descriptor)) return file;
    error = std::make_error_code(std::errc::file_exists);
    return {};
}

OutputFile OutputFile::openDevice(const std::filesystem::path& path, std::error_code& error) {
    OutputFile file;
    error.clear();
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        error = lastError();
        return file;
    }
    ::fcntl(descriptor, F_SETFL, O_WRONLY);
    file.handle_ = descriptor;
    file.path_ = path;
    return file;
}

std::error_code OutputFile::write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ::ssize_t written = ::write(static_cast<int>(handle_), bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return lastError();
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return {};
}

std::error_code OutputFile::flush() {
    return ::fsync(static_cast<int>(handle_)) == 0 ? std::error_code() : lastError();
}

std::error_code OutputFile::renameOver(const std::filesystem::path& target) {
    struct ::stat old {};
    if (::stat(target.c_str(), &old) == 0)
        static_cast<void>(::fchmod(static_cast<int>(handle_), old.st_mode & 0777));
    return ::rename(path_.c_str(), target.c_str()) == 0 ? std::error_code() : lastError();
}

void OutputFile::remove() {
    ::unlink(path_.c_str());
    close();
}

void OutputFile::close() {
    if (handle_ != none) ::close(static_cast<int>(std::exchange(handle_, none)));
}

void flushFolder(const std::filesystem::path& folder) {
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    static_cast<void>(::fsync(descriptor));
    ::close(descriptor);
}

void removeAbandoned(const std::filesystem::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return;
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
    ::close(file);
}

bool isFull(std::error_code error) { return error.value() == ENOSPC || error.value() == EDQUOT; }

unsigned long processNumber() { return static_cast<unsigned long>(::getpid()); }

bool processRuns(unsigned long number) {
    return ::kill(static_cast<::pid_t>(number), 0) == 0 || errno != ESRCH;
}

} // namespace lockstep::platform
