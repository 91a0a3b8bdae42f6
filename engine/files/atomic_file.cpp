#include "engine/files/atomic_file.h"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lockstep {

namespace {

namespace fs = std::filesystem;

thread_local const char* refusal = nullptr; // null: files may be written

void requireAllowed(const fs::path& path) {
    if (refusal != nullptr)
        throw std::runtime_error("cannot write " + path.string() + ": " + std::string(refusal));
}

const char* hintFor(int error) {
    switch (error) {
    case ENOSPC:
    case EDQUOT: return "; free some space, or save to another disk";
    case EACCES:
    case EPERM:
    case EROFS: return "; save to a folder you can write to";
    case ENOENT: return "; create its folder first";
    case ENAMETOOLONG: return "; choose a shorter name";
    case EFBIG: return "; raise the limit on file sizes (ulimit -f), or save to another disk";
    case ENXIO: return "; no program reads this pipe";
    default: return "";
    }
}

[[noreturn]] void throwUnwritable(const fs::path& path, int error) {
    throw std::runtime_error("cannot write " + path.string() + ": " + std::generic_category().message(error) +
                             hintFor(error));
}

std::string temporaryPrefix(const fs::path& target) { return target.filename().string() + ".tmp-"; }

fs::path folderOf(const fs::path& target) {
    return target.has_parent_path() ? target.parent_path() : fs::path(".");
}

// A file descriptor that is closed at the end of its scope.
struct Descriptor {
    int number = -1;
    explicit Descriptor(int opened) : number(opened) {}
    ~Descriptor() {
        if (number >= 0) ::close(number);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
};

// The process that has made a temporary with this name, "file.tmp-PID-N"; 0 if it is no such name.
::pid_t writerOf(std::string_view name, std::string_view prefix) {
    if (!name.starts_with(prefix)) return 0;
    const char* const end = name.data() + name.size();
    ::pid_t process = 0;
    unsigned number = 0;
    const auto first = std::from_chars(name.data() + prefix.size(), end, process);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-' || process <= 0) return 0;
    const auto second = std::from_chars(first.ptr + 1, end, number);
    return second.ec == std::errc() && second.ptr == end ? process : 0;
}

// The present process counts as ended: its number may have been that of another one, and its locks tell.
bool hasEnded(::pid_t process) {
    return process == ::getpid() || (::kill(process, 0) != 0 && errno == ESRCH);
}

// A writer keeps its temporary locked until its process ends, and names it by its process: other files, a
// person's "file.tmp-backup" for instance, stay.
void removeStaleTemporaries(const fs::path& target) {
    const std::string prefix = temporaryPrefix(target);
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folderOf(target), ignored)) {
        const ::pid_t writer = writerOf(entry.path().filename().string(), prefix);
        if (writer == 0 || !hasEnded(writer) || !fs::is_regular_file(entry.symlink_status(ignored))) continue;
        const Descriptor file(::open(entry.path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        if (file.number >= 0 && ::flock(file.number, LOCK_EX | LOCK_NB) == 0) ::unlink(entry.path().c_str());
    }
}

// Returns 0 or the error number.
int writeAll(int file, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ::ssize_t written = ::write(file, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return 0;
}

// Devices and pipes have no old contents to protect, and a rename would replace them with a file. Opening a
// pipe that nothing reads fails at once, where it would wait for ever otherwise.
void writeDirectly(const fs::path& path, std::span<const std::byte> bytes) {
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NONBLOCK));
    if (file.number >= 0) ::fcntl(file.number, F_SETFL, O_WRONLY); // a slow reader is waited for
    if (const int error = file.number < 0 ? errno : writeAll(file.number, bytes); error != 0)
        throwUnwritable(path, error);
}

// The new file keeps the old one's permissions.
void keepPermissions(int file, const fs::path& target) {
    struct ::stat old {};
    if (::stat(target.c_str(), &old) == 0 && ::fchmod(file, old.st_mode & 0777) != 0) errno = 0;
}

// The rename survives a crash only once the folder is flushed. File systems that refuse this write in order.
void flushFolder(const fs::path& folder) {
    const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (descriptor.number >= 0 && ::fsync(descriptor.number) != 0) errno = 0;
}

// Between creation and lock, a temporary looks stale to other writers. False: one of them removed it.
bool lockTemporary(int file) {
    if (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
    struct ::stat status {};
    return ::fstat(file, &status) != 0 || status.st_nlink > 0;
}

// Creates, opens and locks a new file; sets `path` to its name.
int openTemporary(const fs::path& target, fs::path& path) {
    static std::atomic<unsigned> counter{0};
    for (;;) {
        path = folderOf(target) / (temporaryPrefix(target) + std::to_string(::getpid()) + "-" +
                                   std::to_string(counter.fetch_add(1)));
        const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && errno != EEXIST) throwUnwritable(target, errno);
        if (file >= 0 && lockTemporary(file)) return file;
        if (file >= 0) ::close(file);
    }
}

// Where a write to a path ends up.
struct Target {
    fs::path path;
    bool direct = false; // a device or a pipe
};

// What a chain of symbolic links ends in; that need not exist.
fs::path behindLinks(const fs::path& path) {
    constexpr int mostLinks = 40; // as of the system
    std::error_code error;
    fs::path target = path;
    for (int links = 0; fs::is_symlink(target, error); ++links) {
        if (links == mostLinks) throwUnwritable(path, ELOOP);
        target = target.parent_path() / fs::read_symlink(target, error);
        if (error) throwUnwritable(path, error.value());
    }
    return target;
}

Target targetOf(const fs::path& path) {
    std::error_code ignored; // what is wrong with the path, opening it tells
    const fs::file_status status = fs::status(path, ignored);
    if (fs::is_directory(status)) throwUnwritable(path, EISDIR);
    if (fs::exists(status) && !fs::is_regular_file(status)) return {path, true};
    return {behindLinks(path), false};
}

} // namespace

void writeFileAtomically(const std::filesystem::path& path, std::span<const std::byte> bytes) {
    requireAllowed(path);
    const auto [target, direct] = targetOf(path);
    if (direct) return writeDirectly(target, bytes);
    removeStaleTemporaries(target);
    fs::path temporary;
    const Descriptor file(openTemporary(target, temporary));
    keepPermissions(file.number, target);

    int error = writeAll(file.number, bytes);
    if (error == 0 && ::fsync(file.number) != 0) error = errno;
    if (error == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
    if (error != 0) {
        ::unlink(temporary.c_str());
        throwUnwritable(target, error);
    }
    flushFolder(folderOf(target));
}

void writeFileAtomically(const std::filesystem::path& path, std::string_view text) {
    writeFileAtomically(path, std::as_bytes(std::span(text.data(), text.size())));
}

void createFoldersFor(const std::filesystem::path& path) {
    std::error_code ignored;
    if (refusal == nullptr && path.has_parent_path()) fs::create_directories(path.parent_path(), ignored);
}

void requireWritable(const std::filesystem::path& path) {
    requireAllowed(path);
    const auto [target, direct] = targetOf(path);
    if (direct) return;
    fs::path temporary;
    const Descriptor file(openTemporary(target, temporary));
    ::unlink(temporary.c_str());
}

bool sameFile(const std::filesystem::path& a, const std::filesystem::path& b) {
    std::error_code error;
    if (fs::is_character_file(a, error)) return false;
    if (fs::equivalent(a, b, error)) return true;
    return fs::weakly_canonical(fs::absolute(behindLinks(a))) ==
           fs::weakly_canonical(fs::absolute(behindLinks(b)));
}

WritesRefused::WritesRefused(const char* why) : before_(std::exchange(refusal, why)) {}
WritesRefused::~WritesRefused() { refusal = before_; }

} // namespace lockstep
