#include "demos/kit/assets.h"

#include <algorithm>

#include "engine/platform/folders.h"

namespace lockstep::demos {

namespace fs = std::filesystem;

fs::path assetFolder(std::string_view name) {
    const fs::path program = platform::programFolder();
    std::error_code unknown;
    for (const fs::path& assets :
         {program / "assets", program / "../share/lockstep", program / LOCKSTEP_ASSETS})
        if (fs::is_directory(assets / name, unknown)) return (assets / name).lexically_normal();
    return {};
}

std::vector<fs::path> presetFiles() {
    std::vector<fs::path> files;
    std::error_code failure;
    for (fs::directory_iterator entry(assetFolder("presets"), failure);
         !failure && entry != fs::directory_iterator(); entry.increment(failure))
        if (entry->path().extension() == ".json") files.push_back(entry->path());
    std::ranges::sort(files);
    return files;
}

} // namespace lockstep::demos
