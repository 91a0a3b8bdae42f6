#include "demos/words/streams.h"

#include <atomic>
#include <cerrno>
#include <system_error>

#include "demos/words/text.h"
#include "engine/platform/terminal.h"

namespace lockstep::demos {

namespace {

std::atomic<int> outputError = 0; // errno of the first write to standard output that failed

void noteFailure(const std::FILE* stream) {
    int none = 0;
    if (stream == stdout) outputError.compare_exchange_strong(none, errno == 0 ? EIO : errno);
}

} // namespace

void prepareStreams() { platform::prepareStandardStreams(); }

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
    if (const std::error_code error = platform::errorOfClosing(stdout)) {
        errno = error.value();
        noteFailure(stdout);
    }
    if (outputWorks()) return code;
    printError("lockstep: cannot write standard output: {}\n", std::generic_category().message(outputError));
    return code == 0 ? 1 : code;
}

} // namespace lockstep::demos
