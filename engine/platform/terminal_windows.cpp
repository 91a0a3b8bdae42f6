#include "engine/platform/terminal.h"

#include <cerrno>
#include <fcntl.h>
#include <io.h>

#include <windows.h>

namespace lockstep::platform {

namespace {

HANDLE handleOf(std::FILE* stream) { return reinterpret_cast<HANDLE>(_get_osfhandle(_fileno(stream))); }

/// A window program that was started in a terminal has no streams of its own: those of the terminal that it
/// was started from become its own. What was redirected stays.
void takeTerminalOfParent() {
    const auto missing = [](DWORD which) {
        const HANDLE handle = GetStdHandle(which);
        return handle == nullptr || handle == INVALID_HANDLE_VALUE ||
               GetFileType(handle) == FILE_TYPE_UNKNOWN;
    };
    const bool output = missing(STD_OUTPUT_HANDLE), errors = missing(STD_ERROR_HANDLE);
    if (!(output || errors) || AttachConsole(ATTACH_PARENT_PROCESS) == 0) return;
    if (output) std::freopen("CONOUT$", "w", stdout);
    if (errors) std::freopen("CONOUT$", "w", stderr);
}

} // namespace

void prepareStandardStreams() {
    takeTerminalOfParent();
    SetConsoleOutputCP(CP_UTF8);
    for (std::FILE* stream : {stdout, stderr}) {
        if (_fileno(stream) < 0) continue;
        _setmode(_fileno(stream), _O_BINARY);
        DWORD mode = 0;
        if (GetConsoleMode(handleOf(stream), &mode) != 0)
            SetConsoleMode(handleOf(stream), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
    }
}

bool isTerminal(std::FILE* stream) { return _fileno(stream) >= 0 && _isatty(_fileno(stream)) != 0; }

bool obeysEscapes(std::FILE* stream) {
    DWORD mode = 0;
    return isTerminal(stream) && GetConsoleMode(handleOf(stream), &mode) != 0 &&
           (mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
}

std::size_t terminalColumns(std::FILE* stream) {
    CONSOLE_SCREEN_BUFFER_INFO screen{};
    if (!isTerminal(stream) || GetConsoleScreenBufferInfo(handleOf(stream), &screen) == 0) return 0;
    return static_cast<std::size_t>(screen.srWindow.Right - screen.srWindow.Left + 1);
}

// lockstep.exe starts the program with a console that has no window.
void showWithoutTerminal(const std::string& message) {
    if (GetConsoleWindow() == nullptr && (_fileno(stderr) < 0 || isTerminal(stderr)))
        MessageBoxA(nullptr, message.c_str(), "Lockstep", MB_ICONERROR); // UTF-8, as the manifest says
}

std::error_code errorOfClosing(std::FILE* stream) {
    if (_fileno(stream) < 0) return {};
    const int copy = _dup(_fileno(stream)); // closing a copy is enough
    if (copy < 0 || _close(copy) == 0) return {};
    return {errno, std::generic_category()};
}

} // namespace lockstep::platform
