#include "engine/platform/library.h"

#include <windows.h>

// A laptop's second graphics card: drivers look for these names in the program's file, and wake it.
extern "C" {
__declspec(dllexport) extern const DWORD NvOptimusEnablement = 1;
__declspec(dllexport) extern const DWORD AmdPowerXpressRequestHighPerformance = 1;
}

namespace lockstep::platform {

const char* const nvidiaManagement = "nvml.dll";
const char* const vulkanLoader = "vulkan-1.dll";
const char* const vulkanPackage =
    "the graphics card's driver by its maker (AMD, Intel, NVIDIA), which brings Vulkan";

// A library beside the program or in the system's folder; the working folder, where anyone may have put one,
// is not searched.
Library Library::open(const std::filesystem::path& file) {
    const DWORD where = file.is_absolute() ? LOAD_WITH_ALTERED_SEARCH_PATH : LOAD_LIBRARY_SEARCH_DEFAULT_DIRS;
    return Library(LoadLibraryExW(file.c_str(), nullptr, where));
}

Library Library::ofProcess() { return Library(GetModuleHandleW(nullptr)); }

Library::Anything Library::find(const char* name) const {
    if (handle_ == nullptr) return nullptr;
    return reinterpret_cast<Anything>(GetProcAddress(static_cast<HMODULE>(handle_), name));
}

} // namespace lockstep::platform
