#include "engine/platform/apart.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <fcntl.h>
#include <fstream>
#include <mutex>
#include <new>
#include <unistd.h>
#include <utility>

#include <sys/resource.h>
#include <sys/wait.h>

namespace lockstep::platform {

namespace {

// The copy's exit codes.
constexpr int exitFinished = 0, exitThrew = 1, exitOutOfMemory = 2;

void limit(int resource, rlim_t most) {
    const rlimit value{most, most};
    static_cast<void>(setrlimit(resource, &value));
}

/// Bytes of address space that this process has; 0 where the system does not tell.
rlim_t addressSpace() {
    std::ifstream file("/proc/self/statm");
    rlim_t pages = 0;
    file >> pages;
    return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

bool writeAll(int file, const std::string& bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t now = write(file, bytes.data() + done, bytes.size() - done);
        if (now < 0 && errno != EINTR) return false;
        if (now > 0) done += static_cast<std::size_t>(now);
    }
    return true;
}

std::string readAll(int file) {
    std::string bytes;
    std::array<char, 1 << 14> part{};
    for (;;) {
        const ssize_t now = read(file, part.data(), part.size());
        if (now > 0) bytes.append(part.data(), static_cast<std::size_t>(now));
        if (now == 0 || (now < 0 && errno != EINTR)) return bytes;
    }
}

[[noreturn]] void runInCopy(ApartWork::Function work, const std::string& input, const ApartLimits& limits,
                            int output) {
    // A crash is an answer here: no handler and no core file makes more of it, and nothing is printed.
    for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGXCPU}) std::signal(signal, SIG_DFL);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, limits.seconds);
    if (const rlim_t now = addressSpace(); now > 0) limit(RLIMIT_AS, now + limits.moreMemory);
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    try {
        _exit(writeAll(output, work(input)) ? exitFinished : exitThrew);
    } catch (const std::bad_alloc&) {
        _exit(exitOutOfMemory);
    } catch (...) {
        _exit(exitThrew);
    }
}

ApartEnd endOf(int status) {
    if (WIFEXITED(status)) switch (WEXITSTATUS(status)) {
        case exitFinished: return ApartEnd::finished;
        case exitOutOfMemory: return ApartEnd::outOfMemory;
        default: return ApartEnd::threw;
        }
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (signal == SIGXCPU || signal == SIGKILL) return ApartEnd::outOfTime; // of the soft and the hard limit
    return signal == SIGFPE ? ApartEnd::division : ApartEnd::crashed;
}

} // namespace

ApartWork::ApartWork(const char* name, Function function)
    : name_(name), function_(function), next_(nullptr) {}

ApartOutcome ApartWork::run(const std::string& input, const ApartLimits& limits) const {
    static std::mutex mutex; // a copy also keeps the pipe of another one open
    const std::lock_guard lock(mutex);
    int ends[2];
    if (pipe(ends) != 0) return {};
    const pid_t copy = fork();
    if (copy == 0) {
        close(ends[0]);
        runInCopy(function_, input, limits, ends[1]);
    }
    close(ends[1]);
    std::string output;
    if (copy > 0) output = readAll(ends[0]);
    close(ends[0]);
    if (copy < 0) return {};
    int status = 0;
    while (waitpid(copy, &status, 0) < 0 && errno == EINTR) {
    }
    const ApartEnd end = endOf(status);
    return {end, end == ApartEnd::finished ? std::move(output) : std::string()};
}

void serveApart() {} // a copy never comes to main()

} // namespace lockstep::platform
