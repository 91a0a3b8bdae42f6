#include "engine/platform/file.h"

#include <algorithm>
#include <string>
#include <vector>

#include <windows.h>

namespace lockstep::platform {

namespace {

constexpr DWORD quotaExceeded = 1295; // ERROR_DISK_QUOTA_EXCEEDED; headers of 2022 lack it

std::error_code errorOf(DWORD code) {
    // What std::system_category() does not know how to translate, or calls a lack of permission.
    switch (code) {
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
    case ERROR_USER_MAPPED_FILE: return std::make_error_code(std::errc::device_or_resource_busy);
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
    case quotaExceeded: return std::make_error_code(std::errc::no_space_on_device);
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS: return std::make_error_code(std::errc::file_exists);
    case ERROR_PATH_NOT_FOUND:
    case ERROR_FILE_NOT_FOUND:
    case ERROR_INVALID_NAME: return std::make_error_code(std::errc::no_such_file_or_directory);
    case ERROR_WRITE_PROTECT: return std::make_error_code(std::errc::read_only_file_system);
    case ERROR_FILENAME_EXCED_RANGE: return std::make_error_code(std::errc::filename_too_long);
    case ERROR_BROKEN_PIPE:
    case ERROR_NO_DATA: return std::make_error_code(std::errc::broken_pipe);
    default: break;
    }
    const std::error_condition condition =
        std::system_category().default_error_condition(static_cast<int>(code));
    if (condition.category() == std::generic_category()) return {condition.value(), std::generic_category()};
    return std::make_error_code(std::errc::io_error);
}

std::error_code lastError() { return errorOf(GetLastError()); }

HANDLE handleOf(std::ptrdiff_t handle) { return reinterpret_cast<HANDLE>(handle); }

/// One attempt; 0 or the system's error.
DWORD renameOnce(HANDLE file, const std::wstring& target) {
    const std::size_t nameBytes = target.size() * sizeof(wchar_t);
    std::vector<std::byte> memory(sizeof(FILE_RENAME_INFO) + nameBytes);
    auto* info = reinterpret_cast<FILE_RENAME_INFO*>(memory.data());
    info->ReplaceIfExists = TRUE;
    info->FileNameLength = static_cast<DWORD>(nameBytes);
    std::ranges::copy(target, info->FileName);
    const BOOL done =
        SetFileInformationByHandle(file, FileRenameInfo, info, static_cast<DWORD>(memory.size()));
    return done != 0 ? 0 : GetLastError();
}

} // namespace

// Nobody else may open it to write or delete while this handle is open: that is the lock.
OutputFile OutputFile::create(const std::filesystem::path& path, std::error_code& error) {
    OutputFile file;
    error.clear();
    const HANDLE handle = CreateFileW(path.c_str(), GENERIC_WRITE | DELETE, FILE_SHARE_READ, nullptr,
                                      CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr);
    if (handle == INVALID_HANDLE_VALUE) {
        error = lastError();
        return file;
    }
    file.handle_ = reinterpret_cast<std::ptrdiff_t>(handle);
    file.path_ = path;
    return file;
}

OutputFile OutputFile::openDevice(const std::filesystem::path& path, std::error_code& error) {
    OutputFile file;
    error.clear();
    const HANDLE handle = CreateFileW(path.c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                                      nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
    if (handle == INVALID_HANDLE_VALUE) {
        error = lastError();
        return file;
    }
    file.handle_ = reinterpret_cast<std::ptrdiff_t>(handle);
    file.path_ = path;
    return file;
}

std::error_code OutputFile::write(std::span<const std::byte> bytes) {
    constexpr std::size_t most = std::size_t{1} << 28; // of one call
    while (!bytes.empty()) {
        DWORD written = 0;
        const auto part = static_cast<DWORD>(std::min(bytes.size(), most));
        if (WriteFile(handleOf(handle_), bytes.data(), part, &written, nullptr) == 0) return lastError();
        bytes = bytes.subspan(written);
    }
    return {};
}

std::error_code OutputFile::flush() {
    return FlushFileBuffers(handleOf(handle_)) != 0 ? std::error_code() : lastError();
}

std::error_code OutputFile::renameOver(const std::filesystem::path& target) {
    constexpr int attempts = 40;
    constexpr DWORD pause = 50; // ms: virus scanners and indexers hold a file for less than a second
    const std::wstring name = std::filesystem::absolute(target).wstring();
    DWORD error = 0;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        if (attempt > 0) Sleep(pause);
        error = renameOnce(handleOf(handle_), name);
        // A target that somebody has open is reported in both ways.
        if (error != ERROR_SHARING_VIOLATION && error != ERROR_ACCESS_DENIED) break;
        const DWORD attributes = GetFileAttributesW(name.c_str());
        if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_READONLY) != 0)
            return std::make_error_code(std::errc::permission_denied);
    }
    if (error == 0) return {};
    return errorOf(error == ERROR_ACCESS_DENIED ? ERROR_SHARING_VIOLATION : error);
}

void OutputFile::remove() {
    close();
    DeleteFileW(path_.c_str());
}

void OutputFile::close() {
    if (handle_ != none) CloseHandle(handleOf(std::exchange(handle_, none)));
}

void flushFolder(const std::filesystem::path&) {} // NTFS writes its journal in order

void removeAbandoned(const std::filesystem::path& path) { DeleteFileW(path.c_str()); } // fails if it is open

bool isFull(std::error_code error) { return error == std::errc::no_space_on_device; }

unsigned long processNumber() { return GetCurrentProcessId(); }

bool processRuns(unsigned long number) {
    const HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(number));
    if (process == nullptr) return GetLastError() != ERROR_INVALID_PARAMETER;
    DWORD code = 0;
    const bool runs = GetExitCodeProcess(process, &code) == 0 || code == STILL_ACTIVE;
    CloseHandle(process);
    return runs;
}

} // namespace lockstep::platform
