#include "engine/platform/library.h"

#include <dlfcn.h>

namespace lockstep::platform {

const char* const nvidiaManagement = "libnvidia-ml.so.1";
#if defined(__APPLE__)
const char* const vulkanLoader = "libvulkan.1.dylib";
const char* const vulkanPackage = "the Vulkan SDK, which brings MoltenVK";
#else
const char* const vulkanLoader = "libvulkan.so.1";
const char* const vulkanPackage =
    "a Vulkan driver: on Debian and Ubuntu `apt-get install mesa-vulkan-drivers` (AMD, Intel and software "
    "Vulkan) or the NVIDIA driver";
#endif

Library Library::open(const std::filesystem::path& file) {
    return Library(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL));
}

Library Library::ofProcess() {
    static void* const process = dlopen(nullptr, RTLD_NOW);
    return Library(process);
}

Library::Anything Library::find(const char* name) const {
    return handle_ == nullptr ? nullptr : reinterpret_cast<Anything>(dlsym(handle_, name));
}

} // namespace lockstep::platform
