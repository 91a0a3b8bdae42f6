#include "engine/gpu/error.h"

#include "engine/platform/library.h"

namespace lockstep::gpu {

namespace {

struct ResultText {
    VkResult value;
    const char* name;
    const char* hint;
};

constexpr ResultText resultTexts[] = {
    {VK_SUCCESS, "VK_SUCCESS", ""},
    {VK_NOT_READY, "VK_NOT_READY", ""},
    {VK_TIMEOUT, "VK_TIMEOUT", "The device did not answer in time."},
    {VK_INCOMPLETE, "VK_INCOMPLETE", ""},
    {VK_ERROR_OUT_OF_HOST_MEMORY, "VK_ERROR_OUT_OF_HOST_MEMORY", "Close other programs."},
    {VK_ERROR_OUT_OF_DEVICE_MEMORY, "VK_ERROR_OUT_OF_DEVICE_MEMORY",
     "Try a smaller batch or narrower layers."},
    {VK_ERROR_INITIALIZATION_FAILED, "VK_ERROR_INITIALIZATION_FAILED",
     "The driver could not start; is it up to date?"},
    {VK_ERROR_DEVICE_LOST, "VK_ERROR_DEVICE_LOST",
     "The driver reset the device; training can be resumed from the last checkpoint."},
    {VK_ERROR_MEMORY_MAP_FAILED, "VK_ERROR_MEMORY_MAP_FAILED", ""},
    {VK_ERROR_LAYER_NOT_PRESENT, "VK_ERROR_LAYER_NOT_PRESENT",
     "Install the layer (for validation: package vulkan-validationlayers)."},
    {VK_ERROR_EXTENSION_NOT_PRESENT, "VK_ERROR_EXTENSION_NOT_PRESENT", ""},
    {VK_ERROR_FEATURE_NOT_PRESENT, "VK_ERROR_FEATURE_NOT_PRESENT", ""},
    {VK_ERROR_INCOMPATIBLE_DRIVER, "VK_ERROR_INCOMPATIBLE_DRIVER",
     "No driver was found, or the driver is too old."},
    {VK_ERROR_TOO_MANY_OBJECTS, "VK_ERROR_TOO_MANY_OBJECTS", ""},
    {VK_ERROR_UNKNOWN, "VK_ERROR_UNKNOWN", ""},
};

} // namespace

bool endsDevice(const std::exception& error) {
    return dynamic_cast<const DeviceLostError*>(&error) != nullptr ||
           dynamic_cast<const TimeoutError*>(&error) != nullptr ||
           dynamic_cast<const LoopError*>(&error) != nullptr;
}

std::string resultName(VkResult result) {
    for (const ResultText& text : resultTexts)
        if (text.value == result) return text.name;
    return "VkResult " + std::to_string(static_cast<int>(result));
}

std::string installHint() {
    return std::string("Install ") + platform::vulkanPackage + "; CPU lanes work without one.";
}

void check(VkResult result, const char* call) {
    if (result == VK_SUCCESS) return;
    std::string message = std::string(call) + " failed: " + resultName(result) + ".";
    for (const ResultText& text : resultTexts)
        if (text.value == result && text.hint[0] != '\0') message += std::string(" ") + text.hint;
    if (result == VK_ERROR_DEVICE_LOST) throw DeviceLostError(message);
    if (result == VK_TIMEOUT) throw TimeoutError(message);
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY)
        throw OutOfMemoryError(message, 0, 0);
    throw GpuError(message);
}

} // namespace lockstep::gpu
