#include "engine/files/atomic_file.h"

#include <atomic>
#include <charconv>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "engine/platform/file.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

thread_local const char* refusal = nullptr; // null: files may be written

void requireAllowed(const fs::path& path) {
    if (refusal != nullptr)
        throw std::runtime_error("cannot write " + path.string() + ": " + std::string(refusal));
}

const char* hintFor(std::error_code error) {
    if (platform::isFull(error)) return "; free some space, or save to another disk";
    if (error == std::errc::permission_denied || error == std::errc::operation_not_permitted ||
        error == std::errc::read_only_file_system)
        return "; save to a folder you can write to";
    if (error == std::errc::no_such_file_or_directory) return "; create its folder first";
    if (error == std::errc::filename_too_long) return "; choose a shorter name";
    if (error == std::errc::file_too_large)
        return "; raise the limit on file sizes (ulimit -f), or save to another disk";
    if (error == std::errc::no_such_device_or_address) return "; no program reads this pipe";
    if (error == std::errc::device_or_resource_busy) return "; close the program that has it open";
    return "";
}

[[noreturn]] void throwUnwritable(const fs::path& path, std::error_code error) {
    throw std::runtime_error("cannot write " + path.string() + ": " + error.message() + hintFor(error));
}

[[noreturn]] void throwUnwritable(const fs::path& path, std::errc error) {
    throwUnwritable(path, std::make_error_code(error));
}

std::string temporaryPrefix(const fs::path& target) { return target.filename().string() + ".tmp-"; }

fs::path folderOf(const fs::path& target) {
    return target.has_parent_path() ? target.parent_path() : fs::path(".");
}

// The process that has made a temporary with this name, "file.tmp-PID-N"; 0 if it is no such name.
unsigned long writerOf(std::string_view name, std::string_view prefix) {
    if (!name.starts_with(prefix)) return 0;
    const char* const end = name.data() + name.size();
    unsigned long process = 0;
    unsigned number = 0;
    const auto first = std::from_chars(name.data() + prefix.size(), end, process);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return 0;
    const auto second = std::from_chars(first.ptr + 1, end, number);
    return second.ec == std::errc() && second.ptr == end ? process : 0;
}

// The present process counts as ended: its number may have been that of another one, and its locks tell.
bool hasEnded(unsigned long process) {
    return process == platform::processNumber() || !platform::processRuns(process);
}

// A writer keeps its temporary locked until its process ends, and names it by its process: other files, a
// person's "file.tmp-backup" for instance, stay.
void removeStaleTemporaries(const fs::path& target) {
    const std::string prefix = temporaryPrefix(target);
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folderOf(target), ignored)) {
        const unsigned long writer = writerOf(entry.path().filename().string(), prefix);
        if (writer == 0 || !hasEnded(writer) || !fs::is_regular_file(entry.symlink_status(ignored))) continue;
        platform::removeAbandoned(entry.path());
    }
}

// Devices and pipes have no old contents to protect, and a rename would replace them with a file.
void writeDirectly(const fs::path& path, std::span<const std::byte> bytes) {
    std::error_code error;
    platform::OutputFile device = platform::OutputFile::openDevice(path, error);
    if (device) error = device.write(bytes);
    if (error) throwUnwritable(path, error);
}

platform::OutputFile openTemporary(const fs::path& target) {
    static std::atomic<unsigned> counter{0};
    for (;;) {
        const fs::path path =
            folderOf(target) / (temporaryPrefix(target) + std::to_string(platform::processNumber()) + "-" +
                                std::to_string(counter.fetch_add(1)));
        std::error_code error;
        platform::OutputFile file = platform::OutputFile::create(path, error);
        if (file) return file;
        if (error != std::errc::file_exists) throwUnwritable(target, error);
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
        if (links == mostLinks) throwUnwritable(path, std::errc::too_many_symbolic_link_levels);
        target = target.parent_path() / fs::read_symlink(target, error);
        if (error) throwUnwritable(path, error);
    }
    return target;
}

Target targetOf(const fs::path& path) {
    std::error_code ignored; // what is wrong with the path, opening it tells
    const fs::file_status status = fs::status(path, ignored);
    if (fs::is_directory(status)) throwUnwritable(path, std::errc::is_a_directory);
    if (fs::exists(status) && !fs::is_regular_file(status)) return {path, true};
    return {behindLinks(path), false};
}

} // namespace

void writeFileAtomically(const std::filesystem::path& path, std::span<const std::byte> bytes) {
    requireAllowed(path);
    const auto [target, direct] = targetOf(path);
    if (direct) return writeDirectly(target, bytes);
    removeStaleTemporaries(target);
    platform::OutputFile file = openTemporary(target);
    std::error_code error = file.write(bytes);
    if (!error) error = file.flush();
    if (!error) error = file.renameOver(target);
    if (error) {
        file.remove();
        throwUnwritable(target, error);
    }
    platform::flushFolder(folderOf(target));
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
    openTemporary(target).remove();
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
