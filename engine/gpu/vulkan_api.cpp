#include "engine/gpu/vulkan_api.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>

#include "engine/gpu/error.h"
#include "engine/platform/folders.h"
#include "engine/platform/library.h"

namespace lockstep::gpu {

namespace {

// The program's folder and a bundle's ../lib come last, because a system's own loader matches its drivers.
std::vector<std::filesystem::path> loaderFiles() {
    const std::filesystem::path name = platform::vulkanLoader, folder = platform::programFolder();
    if (folder.empty()) return {name};
    return {name, folder / name, folder.parent_path() / "lib" / name};
}

// For the members of `api`, by a function `load` that looks up their names.
#define LOCKSTEP_LOAD(function) api.function = reinterpret_cast<PFN_vk##function>(load("vk" #function));

GlobalApi openLoader() {
    GlobalApi api;
    for (const std::filesystem::path& file : loaderFiles()) {
        const platform::Library library = platform::Library::open(file);
        api.GetInstanceProcAddr = library.function<PFN_vkGetInstanceProcAddr>("vkGetInstanceProcAddr");
        if (api.GetInstanceProcAddr != nullptr) break;
    }
    if (api.GetInstanceProcAddr == nullptr) return api;
    const auto load = [&api](const char* name) { return api.GetInstanceProcAddr(nullptr, name); };
    LOCKSTEP_VULKAN_GLOBAL(LOCKSTEP_LOAD)
    return api;
}

} // namespace

const GlobalApi& loadVulkan() {
    // Never closed, because drivers keep threads and thread-local state that outlive an instance.
    static const GlobalApi api = openLoader();
    if (api.CreateInstance == nullptr)
        throw NoDeviceError(std::string("no Vulkan loader (") + platform::vulkanLoader + ") was found. " +
                            installHint());
    return api;
}

InstanceApi loadInstanceApi(PFN_vkGetInstanceProcAddr getInstanceProcAddr, VkInstance instance) {
    InstanceApi api;
    const auto load = [&](const char* name) { return getInstanceProcAddr(instance, name); };
    LOCKSTEP_VULKAN_INSTANCE(LOCKSTEP_LOAD)
    return api;
}

DeviceApi loadDeviceApi(const InstanceApi& instanceApi, VkDevice device) {
    DeviceApi api;
    const auto load = [&](const char* name) { return instanceApi.GetDeviceProcAddr(device, name); };
    LOCKSTEP_VULKAN_DEVICE(LOCKSTEP_LOAD)
    return api;
}

#undef LOCKSTEP_LOAD

Extensions extensionsOf(const InstanceApi& api, VkPhysicalDevice device) {
    return enumerate<VkExtensionProperties>(
        [&](auto* count, auto* out) { api.EnumerateDeviceExtensionProperties(device, nullptr, count, out); });
}

bool contains(const Extensions& extensions, const char* name) {
    return std::ranges::any_of(extensions, [name](const VkExtensionProperties& extension) {
        return std::strcmp(extension.extensionName, name) == 0;
    });
}

std::vector<VkQueueFamilyProperties> queueFamiliesOf(const InstanceApi& api, VkPhysicalDevice device) {
    return enumerate<VkQueueFamilyProperties>(
        [&](auto* count, auto* out) { api.GetPhysicalDeviceQueueFamilyProperties(device, count, out); });
}

} // namespace lockstep::gpu
