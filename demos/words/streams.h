// What the program says, and where: results on standard output, everything else on standard error. The only
// place that writes to either, because a write may fail: the reader of a pipe left, a disk is full, a
// terminal was closed.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace lockstep::demos {

/// Call first in main(). Makes writes fail with an error instead of ending the program: a pipe without a
/// reader (SIGPIPE), a file that would grow past its limit (SIGXFSZ). Occupies standard streams that were
/// closed at the start, or the next file to be opened would be taken for one; writes to them still fail.
void prepareStreams();

/// Writes text to stdout or stderr, and throws nothing. A failure on standard error changes nothing, since
/// progress that cannot be shown is no reason to stop. The first failure on standard output is kept for
/// exitCodeAfter().
void writeText(std::FILE* stream, std::string_view text) noexcept;
/// Hands to the system what writeText() has buffered.
void flushText(std::FILE* stream) noexcept;

/// Whether all that was flushed to standard output so far was written. For commands that would go on for
/// ever.
bool outputWorks() noexcept;

/// Call last in main(): flushes standard output, and says so on standard error when some of it could not be
/// written. Returns the exit code: `code`, or 1 in place of 0 then.
int exitCodeAfter(int code) noexcept;

/// Writes text without the characters that a terminal obeys, line breaks and tabs excepted: what is said may
/// hold names out of anyone's files.
void writePlain(std::FILE* stream, std::string_view text);

/// Formats a text for stdout or stderr, as peopleStream() chooses, and writes it with writePlain().
template <class... Args> void printTo(std::FILE* stream, fmt::format_string<Args...> format, Args&&... args) {
    writePlain(stream, fmt::format(format, std::forward<Args>(args)...));
}
/// Formats a text for standard output.
template <class... Args> void printOut(fmt::format_string<Args...> format, Args&&... args) {
    printTo(stdout, format, std::forward<Args>(args)...);
}
/// Formats a text for the person, on standard error. Throws nothing, so that handlers of exceptions may use
/// it.
template <class... Args> void printError(fmt::format_string<Args...> format, Args&&... args) noexcept {
    try {
        printTo(stderr, format, std::forward<Args>(args)...);
    } catch (...) { // NOLINT(bugprone-empty-catch): no memory for a message
    }
}

} // namespace lockstep::demos
