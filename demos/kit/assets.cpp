#include "demos/kit/assets.h"

#include "engine/files/file_bytes.h"

namespace lockstep::demos {

namespace fs = std::filesystem;

fs::path assetFolder(std::string_view name) {
    const fs::path program = programFolder();
    std::error_code unknown;
    for (const fs::path& assets : {program / "assets", program / "../assets", fs::path(LOCKSTEP_ASSETS)})
        if (fs::is_directory(assets / name, unknown)) return (assets / name).lexically_normal();
    return {};
}

} // namespace lockstep::demos
