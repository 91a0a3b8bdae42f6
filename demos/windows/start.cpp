// lockstep.exe of the Windows release: what a double click starts. The program itself is lockstep.com beside
// it, which shells find first ("lockstep" in a terminal) and wait for; a double click on it would open a
// console before the window.
#include <array>
#include <string>

#include <windows.h>

namespace {

/// The program's own name up to its ending; empty: it cannot be told.
std::wstring ownStem() {
    std::array<wchar_t, 32768> name{};
    const DWORD length = GetModuleFileNameW(nullptr, name.data(), static_cast<DWORD>(name.size()));
    const std::wstring file(name.data(), length);
    return file.substr(0, file.rfind(L'.'));
}

/// What follows the program's name in its command line, as it was written.
const wchar_t* argumentsOf(const wchar_t* line) {
    bool quoted = false;
    for (; *line != 0 && (quoted || (*line != L' ' && *line != L'\t')); ++line)
        if (*line == L'"') quoted = !quoted;
    return line;
}

} // namespace

int WINAPI wWinMain(HINSTANCE, HINSTANCE, PWSTR, int) {
    const std::wstring program = ownStem() + L".com";
    std::wstring line = L"\"" + program + L"\"" + argumentsOf(GetCommandLineW());
    // From a terminal, "lockstep.exe devices" prints there; from the desktop, there is none and none opens.
    const bool terminal = AttachConsole(ATTACH_PARENT_PROCESS) != 0;
    SetConsoleCtrlHandler([](DWORD) { return TRUE; }, TRUE); // the program saves, and says how it ended
    STARTUPINFOW start{};
    GetStartupInfoW(&start);
    start.dwFlags = (start.dwFlags & STARTF_USESHOWWINDOW) | STARTF_USESTDHANDLES; // what was redirected
    start.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    start.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
    start.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    PROCESS_INFORMATION process{};
    if (CreateProcessW(program.c_str(), line.data(), nullptr, nullptr, TRUE, terminal ? 0 : CREATE_NO_WINDOW,
                       nullptr, nullptr, &start, &process) == 0) {
        MessageBoxW(
            nullptr,
            (L"Lockstep cannot be started, because this file is missing or damaged:\n" + program).c_str(),
            L"Lockstep", MB_ICONERROR);
        return 1;
    }
    AllowSetForegroundWindow(process.dwProcessId);
    WaitForSingleObject(process.hProcess, INFINITE);
    DWORD code = 1;
    GetExitCodeProcess(process.hProcess, &code);
    return static_cast<int>(code);
}
