#include "engine/gpu/vulkan_api.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <vector>

#include "engine/gpu/error.h"

namespace lockstep::gpu {

namespace {

// The program's folder and a bundle's ../lib come last, because a system's own loader matches its drivers.
std::vector<std::string> loaderNames() {
#if defined(__APPLE__)
    const std::string file = "libvulkan.1.dylib";
#else
    const std::string file = "libvulkan.so.1";
#endif
    std::vector<std::string> names{file};
    std::error_code ignored;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
    if (!program.empty()) {
        names.push_back((program.parent_path() / file).string());
        names.push_back((program.parent_path().parent_path() / "lib" / file).string());
    }
    return names;
}

GlobalApi openLoader() {
    GlobalApi api;
    for (const std::string& name : loaderNames()) {
        void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) continue;
        api.GetInstanceProcAddr =
            reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
        if (api.GetInstanceProcAddr != nullptr) break;
    }
    if (api.GetInstanceProcAddr == nullptr) return api;
#define LOCKSTEP_LOAD(function)                                                                              \
    api.function = reinterpret_cast<PFN_vk##function>(api.GetInstanceProcAddr(nullptr, "vk" #function));
    LOCKSTEP_VULKAN_GLOBAL(LOCKSTEP_LOAD)
#undef LOCKSTEP_LOAD
    return api;
}

} // namespace

const GlobalApi& loadVulkan() {
    // Never closed, because drivers keep threads and thread-local state that outlive an instance.
    static const GlobalApi api = openLoader();
    if (api.CreateInstance == nullptr)
        throw NoDeviceError("no Vulkan loader (libvulkan.so.1) was found. " + installHint());
    return api;
}

InstanceApi loadInstanceApi(VkInstance instance) {
    const GlobalApi& global = loadVulkan();
    InstanceApi api;
#define LOCKSTEP_LOAD(function)                                                                              \
    api.function = reinterpret_cast<PFN_vk##function>(global.GetInstanceProcAddr(instance, "vk" #function));
    LOCKSTEP_VULKAN_INSTANCE(LOCKSTEP_LOAD)
    LOCKSTEP_LOAD(CreateDebugUtilsMessengerEXT)
    LOCKSTEP_LOAD(DestroyDebugUtilsMessengerEXT)
    LOCKSTEP_LOAD(GetPhysicalDeviceCooperativeMatrixPropertiesNV)
#ifdef VK_KHR_cooperative_matrix
    LOCKSTEP_LOAD(GetPhysicalDeviceCooperativeMatrixPropertiesKHR)
#endif
#undef LOCKSTEP_LOAD
    return api;
}

DeviceApi loadDeviceApi(const InstanceApi& instanceApi, VkDevice device) {
    DeviceApi api;
#define LOCKSTEP_LOAD(function)                                                                              \
    api.function = reinterpret_cast<PFN_vk##function>(instanceApi.GetDeviceProcAddr(device, "v"              \
                                                                                            "k" #function));
    LOCKSTEP_VULKAN_DEVICE(LOCKSTEP_LOAD)
#undef LOCKSTEP_LOAD
    return api;
}

} // namespace lockstep::gpu
