#include "engine/platform/folders.h"

#include <cstdlib>
#include <string>

#include <windows.h>

namespace lockstep::platform {

std::filesystem::path programFile() {
    // The length of the name is not asked for: the buffer grows until it fits.
    for (std::wstring name(MAX_PATH, L'\0'); name.size() <= 1 << 16; name.resize(2 * name.size())) {
        const DWORD length = GetModuleFileNameW(nullptr, name.data(), static_cast<DWORD>(name.size()));
        if (length == 0) return {};
        if (length < name.size()) return name.substr(0, length);
    }
    return {};
}

std::filesystem::path programFolder() { return programFile().parent_path(); }

std::filesystem::path userCacheFolder() {
    const wchar_t* folder = _wgetenv(L"LOCALAPPDATA");
    return folder == nullptr ? L"" : folder;
}

std::filesystem::path ownCacheFolder() {
    const std::filesystem::path folder = userCacheFolder();
    return folder.empty() ? folder : folder / "Lockstep";
}

} // namespace lockstep::platform
