#include "engine/gpu/instance.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "engine/gpu/error.h"

namespace lockstep::gpu {

namespace {

constexpr const char* validationLayer = "VK_LAYER_KHRONOS_validation";

VKAPI_ATTR VkBool32 VKAPI_CALL onMessage(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                         VkDebugUtilsMessageTypeFlagsEXT,
                                         const VkDebugUtilsMessengerCallbackDataEXT* data, void* user) {
    const auto& sink = *static_cast<const std::function<void(const ValidationMessage&)>*>(user);
    if (sink)
        sink({(severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT) != 0,
              data->pMessageIdName == nullptr ? "" : data->pMessageIdName, data->pMessage});
    return VK_FALSE;
}

bool hasLayer(const char* name) {
    const auto layers = enumerate<VkLayerProperties>(
        [](auto* count, auto* out) { loadVulkan().EnumerateInstanceLayerProperties(count, out); });
    return std::ranges::any_of(
        layers, [name](const VkLayerProperties& layer) { return std::strcmp(layer.layerName, name) == 0; });
}

bool hasExtension(const char* layer, const char* name) {
    const auto list = [layer](auto* count, auto* out) {
        loadVulkan().EnumerateInstanceExtensionProperties(layer, count, out);
    };
    return contains(enumerate<VkExtensionProperties>(list), name);
}

} // namespace

Instance::Instance(const DeviceOptions& options) : messages_(options.messages) {
    const GlobalApi& global = loadVulkan();
    if (options.validation && !hasLayer(validationLayer))
        throw GpuError("the Vulkan validation layer is not installed (package vulkan-validationlayers)");

    std::vector<const char*> layers;
    std::vector<const char*> extensions;
    if (options.validation) layers.push_back(validationLayer);
    const bool debugUtils =
        options.validation && (hasExtension(nullptr, VK_EXT_DEBUG_UTILS_EXTENSION_NAME) ||
                               hasExtension(validationLayer, VK_EXT_DEBUG_UTILS_EXTENSION_NAME));
    if (debugUtils) extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    // The loader lists devices that translate Vulkan to another API (MoltenVK) only on request.
    const bool portability = hasExtension(nullptr, VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
    if (portability) extensions.push_back(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);

    for (const std::string& name : options.instanceExtensions) extensions.push_back(name.c_str());

    auto application = structure<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
    application.pApplicationName = "lockstep";
    application.apiVersion = VK_API_VERSION_1_2;

    std::vector<VkValidationFeatureEnableEXT> enables{
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    if (options.gpuAssisted) {
        // Leaves one descriptor set free for the layer's own buffers.
        enables.push_back(VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT);
        enables.push_back(VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_RESERVE_BINDING_SLOT_EXT);
    }
    auto features = structure<VkValidationFeaturesEXT>(VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT);
    features.enabledValidationFeatureCount = static_cast<std::uint32_t>(enables.size());
    features.pEnabledValidationFeatures = enables.data();

    auto info = structure<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
    info.pNext = options.validation ? &features : nullptr;
    info.flags = portability ? VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR : 0;
    info.pApplicationInfo = &application;
    info.enabledLayerCount = static_cast<std::uint32_t>(layers.size());
    info.ppEnabledLayerNames = layers.data();
    info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
    const VkResult result = global.CreateInstance(&info, nullptr, &handle_);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER)
        throw NoDeviceError("the Vulkan loader found no driver. " + installHint());
    check(result, "vkCreateInstance");
    api_ = loadInstanceApi(global.GetInstanceProcAddr, handle_);

    if (debugUtils && api_.CreateDebugUtilsMessengerEXT != nullptr) {
        auto messenger = structure<VkDebugUtilsMessengerCreateInfoEXT>(
            VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT);
        messenger.messageSeverity =
            VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT;
        messenger.messageType =
            VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
        messenger.pfnUserCallback = onMessage;
        messenger.pUserData = &messages_;
        check(api_.CreateDebugUtilsMessengerEXT(handle_, &messenger, nullptr, &messenger_),
              "vkCreateDebugUtilsMessengerEXT");
    }
}

Instance::Instance(PFN_vkGetInstanceProcAddr getInstanceProcAddr, VkInstance handle)
    : handle_(handle), own_(false), api_(loadInstanceApi(getInstanceProcAddr, handle)) {
    if (api_.GetPhysicalDeviceProperties2 == nullptr)
        throw std::invalid_argument("the host's instance is of Vulkan 1.0, and training needs 1.2");
}

Instance::~Instance() {
    if (!own_) return;
    if (messenger_ != VK_NULL_HANDLE) api_.DestroyDebugUtilsMessengerEXT(handle_, messenger_, nullptr);
    if (handle_ != VK_NULL_HANDLE) api_.DestroyInstance(handle_, nullptr);
}

} // namespace lockstep::gpu
