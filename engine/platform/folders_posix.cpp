#include "engine/platform/folders.h"

#include <cstdlib>
#include <system_error>

#if defined(__APPLE__)
#include <array>
#include <cstdint>
#include <mach-o/dyld.h>
#endif

namespace lockstep::platform {

std::filesystem::path programFile() {
    std::error_code missing;
#if defined(__APPLE__)
    std::array<char, 4096> name{};
    auto size = static_cast<std::uint32_t>(name.size());
    if (_NSGetExecutablePath(name.data(), &size) != 0) return {};
    std::filesystem::path file = std::filesystem::canonical(name.data(), missing);
#else
    std::filesystem::path file = std::filesystem::read_symlink("/proc/self/exe", missing);
#endif
    return missing ? std::filesystem::path() : file;
}

std::filesystem::path programFolder() { return programFile().parent_path(); }

std::filesystem::path userCacheFolder() {
    // The specification of these folders has a relative one ignored.
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') return cache;
    if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
        return std::filesystem::path(home) / ".cache";
    return {};
}

std::filesystem::path ownCacheFolder() {
    const std::filesystem::path folder = userCacheFolder();
    return folder.empty() ? folder : folder / "lockstep";
}

} // namespace lockstep::platform
