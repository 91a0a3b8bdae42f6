#include "engine/platform/terminal.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace lockstep::platform {

void prepareStandardStreams() {
    // Opened the wrong way round, so that reading and writing fail as on a closed one. A new descriptor is
    // the lowest that is free: in this order, the one that is closed.
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
            static_cast<void>(::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

bool isTerminal(std::FILE* stream) { return ::isatty(::fileno(stream)) != 0; }

bool obeysEscapes(std::FILE* stream) {
    const char* kind = std::getenv("TERM");
    return isTerminal(stream) && kind != nullptr && std::string_view(kind) != "dumb";
}

std::size_t terminalColumns(std::FILE* stream) {
    winsize size{};
    return ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void showWithoutTerminal(const std::string&) {}

std::error_code errorOfClosing(std::FILE* stream) {
    const int copy = ::dup(::fileno(stream)); // closing a copy is enough
    if (copy < 0 || ::close(copy) == 0) return {};
    return {errno, std::generic_category()};
}

} // namespace lockstep::platform
