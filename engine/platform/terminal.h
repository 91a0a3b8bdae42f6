// The standard streams, and the terminal that they may lead to.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <system_error>

namespace lockstep::platform {

/// Call first in main(). Makes writes fail with an error instead of ending the program: a pipe without a
/// reader, a file that would grow past its limit. Occupies standard streams that were closed at the start, or
/// the next file to be opened would be taken for one; writes to them still fail. On Windows, the console
/// shows UTF-8 and obeys escape sequences, and lines end as in the text that is written.
void prepareStandardStreams();

/// Whether a stream leads to a terminal.
bool isTerminal(std::FILE* stream);

/// Whether that terminal obeys the sequences of ECMA-48 that move the cursor and set colours.
bool obeysEscapes(std::FILE* stream);

/// Columns of the terminal; 0 if it is none.
std::size_t terminalColumns(std::FILE* stream);

/// Shows a message in a box where standard error leads to no window: on Windows, in a program that was
/// started by a double click. Elsewhere it does nothing.
void showWithoutTerminal(const std::string& message);

/// What closing the stream's file would report, as network file systems do only then; the stream stays open.
std::error_code errorOfClosing(std::FILE* stream);

} // namespace lockstep::platform
