#include "engine/platform/apart.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <windows.h>

#include <psapi.h>
#include <shellapi.h>

namespace lockstep::platform {

namespace {

// The process's exit codes. 3 is abort()'s.
constexpr UINT exitFinished = 0, exitThrew = 1, exitOutOfMemory = 2, exitDivision = 4, exitCrashed = 5;
constexpr std::wstring_view option = L"--do-apart";

const ApartWork*& firstWork() {
    static const ApartWork* first = nullptr;
    return first;
}

/// A handle that is closed at the end; null for none.
class Handle {
  public:
    Handle() = default;
    explicit Handle(HANDLE handle) : handle_(handle == INVALID_HANDLE_VALUE ? nullptr : handle) {}
    Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Handle() { close(); }

    HANDLE get() const { return handle_; }
    explicit operator bool() const { return handle_ != nullptr; }
    void close() {
        if (handle_ != nullptr) CloseHandle(std::exchange(handle_, nullptr));
    }

  private:
    HANDLE handle_ = nullptr;
};

struct Pipe {
    Handle read, write;

    Pipe() {
        HANDLE ends[2];
        if (CreatePipe(&ends[0], &ends[1], nullptr, 0) == 0) return;
        read = Handle(ends[0]);
        write = Handle(ends[1]);
    }
};

bool writeAll(HANDLE file, const std::string& bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
        DWORD now = 0;
        const auto part = static_cast<DWORD>(std::min<std::size_t>(bytes.size() - done, 1 << 16));
        if (WriteFile(file, bytes.data() + done, part, &now, nullptr) == 0) return false;
        done += now;
    }
    return true;
}

std::string readAll(HANDLE file) {
    std::string bytes;
    std::array<char, 1 << 14> part{};
    DWORD now = 0;
    while (ReadFile(file, part.data(), static_cast<DWORD>(part.size()), &now, nullptr) != 0 && now > 0)
        bytes.append(part.data(), now);
    return bytes;
}

[[noreturn]] void endWith(UINT code) {
    TerminateProcess(GetCurrentProcess(), code);
    std::abort();
}

/// A crash is an answer here: it opens no dialog and leaves no report.
void crashSilently() {
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
    SetUnhandledExceptionFilter([](EXCEPTION_POINTERS* crash) -> LONG {
        const DWORD code = crash->ExceptionRecord->ExceptionCode;
        endWith(code == EXCEPTION_INT_DIVIDE_BY_ZERO || code == EXCEPTION_INT_OVERFLOW ? exitDivision
                                                                                       : exitCrashed);
    });
    std::signal(SIGFPE, [](int) { endWith(exitDivision); });
    std::signal(SIGABRT, [](int) { endWith(exitCrashed); });
}

/// What a process has used since it began.
struct Taken {
    double seconds = 0;
    std::uint64_t memory = 0;
};

Taken takenBy(HANDLE process) {
    Taken taken;
    FILETIME began, ended, kernel, user;
    if (GetProcessTimes(process, &began, &ended, &kernel, &user) != 0) {
        const auto ticks = [](const FILETIME& time) { // of 100 ns
            return static_cast<double>(std::uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime);
        };
        taken.seconds = 1e-7 * (ticks(kernel) + ticks(user));
    }
    PROCESS_MEMORY_COUNTERS memory{};
    memory.cb = sizeof memory;
    if (GetProcessMemoryInfo(process, &memory, sizeof memory) != 0) taken.memory = memory.PagefileUsage;
    return taken;
}

/// Waits for its end, which comes by force once it has taken more than it may.
ApartEnd endOf(HANDLE process, const ApartLimits& limits) {
    constexpr DWORD lookMilliseconds = 20;
    while (WaitForSingleObject(process, lookMilliseconds) == WAIT_TIMEOUT) {
        const Taken taken = takenBy(process);
        const bool hungry = taken.memory > limits.moreMemory;
        if (!hungry && taken.seconds <= limits.seconds) continue;
        TerminateProcess(process, exitCrashed);
        WaitForSingleObject(process, INFINITE);
        return hungry ? ApartEnd::outOfMemory : ApartEnd::outOfTime;
    }
    DWORD code = exitCrashed;
    GetExitCodeProcess(process, &code);
    switch (code) {
    case exitFinished: return ApartEnd::finished;
    case exitThrew: return ApartEnd::threw;
    case exitOutOfMemory: return ApartEnd::outOfMemory;
    case exitDivision: return ApartEnd::division;
    default: return ApartEnd::crashed;
    }
}

/// A job whose processes end with it, and may not have more memory than this; none where there are none.
Handle jobOf(const ApartLimits& limits) {
    Handle job(CreateJobObjectW(nullptr, nullptr));
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION info{};
    info.BasicLimitInformation.LimitFlags =
        JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_PROCESS_MEMORY;
    info.ProcessMemoryLimit = limits.moreMemory;
    if (job) SetInformationJobObject(job.get(), JobObjectExtendedLimitInformation, &info, sizeof info);
    return job;
}

/// This program, to do that work with these streams. Null if the system does not start it.
Handle started(const std::string& name, HANDLE input, HANDLE output, HANDLE job) {
    std::vector<wchar_t> program(1 << 15);
    if (GetModuleFileNameW(nullptr, program.data(), static_cast<DWORD>(program.size())) == 0) return {};
    std::wstring command = L'"' + std::wstring(program.data()) + L"\" " + std::wstring(option) + L' ' +
                           std::wstring(name.begin(), name.end());
    std::array handles{input, output};
    for (HANDLE handle : handles) SetHandleInformation(handle, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
    SIZE_T bytes = 0;
    InitializeProcThreadAttributeList(nullptr, 1, 0, &bytes);
    std::vector<std::byte> memory(bytes);
    STARTUPINFOEXW start{};
    start.StartupInfo.cb = sizeof start;
    start.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
    start.StartupInfo.hStdInput = input;
    start.StartupInfo.hStdOutput = output;
    start.lpAttributeList = reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(memory.data());
    if (InitializeProcThreadAttributeList(start.lpAttributeList, 1, 0, &bytes) == 0) return {};
    UpdateProcThreadAttribute(start.lpAttributeList, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles.data(),
                              sizeof handles, nullptr, nullptr);
    PROCESS_INFORMATION info{};
    const BOOL done = CreateProcessW(program.data(), command.data(), nullptr, nullptr, TRUE,
                                     CREATE_SUSPENDED | CREATE_NO_WINDOW | EXTENDED_STARTUPINFO_PRESENT,
                                     nullptr, nullptr, &start.StartupInfo, &info);
    DeleteProcThreadAttributeList(start.lpAttributeList);
    if (done == 0) return {};
    if (job != nullptr) AssignProcessToJobObject(job, info.hProcess);
    ResumeThread(info.hThread);
    CloseHandle(info.hThread);
    return Handle(info.hProcess);
}

} // namespace

ApartWork::ApartWork(const char* name, Function function)
    : name_(name), function_(function), next_(std::exchange(firstWork(), this)) {}

ApartOutcome ApartWork::run(const std::string& input, const ApartLimits& limits) const {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    Pipe in, out;
    if (!in.read || !out.read) return {};
    const Handle job = jobOf(limits);
    const Handle process = started(name_, in.read.get(), out.write.get(), job.get());
    in.read.close();
    out.write.close(); // else its end would not end readAll()
    if (!process) return {};
    std::string output;
    std::thread talk([&] {
        writeAll(in.write.get(), input);
        in.write.close();
        output = readAll(out.read.get());
    });
    const ApartEnd end = endOf(process.get(), limits);
    talk.join();
    return {end, end == ApartEnd::finished ? std::move(output) : std::string()};
}

void serveApart() {
    int count = 0;
    LPWSTR* const arguments = CommandLineToArgvW(GetCommandLineW(), &count);
    if (arguments == nullptr || count != 3 || arguments[1] != option) return;
    const std::wstring_view name = arguments[2];
    crashSilently();
    for (const ApartWork* work = firstWork(); work != nullptr; work = work->next_) {
        if (!std::ranges::equal(std::string_view(work->name_), name)) continue;
        try {
            const std::string output = work->function_(readAll(GetStdHandle(STD_INPUT_HANDLE)));
            endWith(writeAll(GetStdHandle(STD_OUTPUT_HANDLE), output) ? exitFinished : exitThrew);
        } catch (const std::bad_alloc&) {
            endWith(exitOutOfMemory);
        } catch (...) {
            endWith(exitThrew);
        }
    }
    endWith(exitThrew);
}

} // namespace lockstep::platform
