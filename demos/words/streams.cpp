#include "demos/words/streams.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

std::atomic<int> outputError = 0; // errno of the first write to standard output that failed

void noteFailure(const std::FILE* stream) {
    int none = 0;
    if (stream == stdout) outputError.compare_exchange_strong(none, errno == 0 ? EIO : errno);
}

} // namespace

void prepareStreams() {
    // Opened the wrong way round, so that reading and writing fail as on a closed one. A new descriptor is
    // the lowest that is free: in this order, the one that is closed.
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
            static_cast<void>(::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

void writeText(std::FILE* stream, std::string_view text) noexcept {
    errno = 0;
    if (std::fwrite(text.data(), 1, text.size(), stream) != text.size()) noteFailure(stream);
}

void writePlain(std::FILE* stream, std::string_view text) { writeText(stream, withoutControls(text)); }

void flushText(std::FILE* stream) noexcept {
    errno = 0;
    if (std::fflush(stream) != 0) noteFailure(stream);
}

bool outputWorks() noexcept { return outputError == 0; }

int exitCodeAfter(int code) noexcept {
    flushText(stdout);
    // Network file systems report some failures only when a file is closed; closing a copy is enough.
    const int copy = ::dup(STDOUT_FILENO);
    errno = 0;
    if (copy >= 0 && ::close(copy) != 0) noteFailure(stdout);
    if (outputWorks()) return code;
    printError("lockstep: cannot write standard output: {}\n", std::generic_category().message(outputError));
    return code == 0 ? 1 : code;
}

} // namespace lockstep::demos
