// The layer's door: instances and devices are made here, and the chain of calls is linked.
#include "tests/faults/layer.h"

#include <cstdio>
#include <memory>
#include <span>
#include <stdexcept>

#include <vulkan/vk_layer.h>

namespace lockstep::faults {

namespace {

struct Layer {
    std::mutex mutex;
    Plan plan;
    std::map<std::string_view, std::uint64_t> calls;
    bool spent = false; // of the process: a fault has happened
    std::map<void*, std::unique_ptr<InstanceState>> instances;
    std::map<void*, std::unique_ptr<DeviceState>> devices;
    Report report;
};

Layer& layer() {
    static Layer everything;
    return everything;
}

// The loader's table is what an instance and its physical devices, or a device and its queues, have in
// common.
void* keyOf(void* handle) { return *static_cast<void**>(handle); }

void startReport() {
    Report& report = layer().report;
    for (auto* count : {&report.injected, &report.creations, &report.submissions, &report.waits,
                        &report.counterReads, &report.flushes, &report.invalidations, &report.devices,
                        &report.destroyed, &report.lent, &report.misuses})
        *count = 0;
    report.leaked = 0;
    layer().calls.clear();
}

template <class Link> Link* linkOf(const void* chain, VkStructureType type) {
    for (auto* link = static_cast<const Link*>(chain); link != nullptr;
         link = static_cast<const Link*>(link->pNext))
        if (link->sType == type && link->function == VK_LAYER_LINK_INFO) return const_cast<Link*>(link);
    return nullptr;
}

VKAPI_ATTR VkResult VKAPI_CALL createInstance(const VkInstanceCreateInfo* info,
                                              const VkAllocationCallbacks* allocator, VkInstance* instance) {
    try {
        const std::lock_guard lock(layer().mutex);
        layer().plan = Plan::fromEnvironment();
        startReport();
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    if (plan().has("incompatible-driver")) return VK_ERROR_INCOMPATIBLE_DRIVER;
    auto* link =
        linkOf<VkLayerInstanceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
    const PFN_vkGetInstanceProcAddr get = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const auto create = reinterpret_cast<PFN_vkCreateInstance>(get(nullptr, "vkCreateInstance"));
    const VkResult result = create(info, allocator, instance);
    if (result != VK_SUCCESS) return result;
    auto state = std::make_unique<InstanceState>();
    state->handle = *instance;
#define LOCKSTEP_LOAD(function)                                                                              \
    state->next.function = reinterpret_cast<PFN_vk##function>(get(*instance, "vk" #function));
    LOCKSTEP_VULKAN_INSTANCE(LOCKSTEP_LOAD)
#undef LOCKSTEP_LOAD
    state->getNext = get;
    state->portability = (info->flags & VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR) != 0;
    const std::lock_guard lock(layer().mutex);
    layer().instances[keyOf(*instance)] = std::move(state);
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL destroyInstance(VkInstance instance, const VkAllocationCallbacks* allocator) {
    if (instance == VK_NULL_HANDLE) return;
    void* key = keyOf(instance);
    instanceOf(instance).next.DestroyInstance(instance, allocator);
    const std::lock_guard lock(layer().mutex);
    layer().instances.erase(key);
}

// The driver has one of a pretended card's queues, and some of its extensions.
struct RealDeviceInfo {
    explicit RealDeviceInfo(const VkDeviceCreateInfo& asked) : info(asked), queue(*asked.pQueueCreateInfos) {
        bool subset = false;
        for (const char* name : std::span(asked.ppEnabledExtensionNames, asked.enabledExtensionCount)) {
            if (!isPretendedExtension(name)) extensions.push_back(name);
            subset = subset || std::string_view(name) == "VK_KHR_portability_subset";
        }
        info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
        info.ppEnabledExtensionNames = extensions.data();
        if (plan().card() != nullptr && plan().card()->portabilitySubset && !subset)
            misuse("VK_KHR_portability_subset is present and not enabled");
        if (!plan().pretendsQueues()) return;
        queue.queueFamilyIndex = 0;
        queue.queueCount = 1;
        info.queueCreateInfoCount = 1;
        info.pQueueCreateInfos = &queue;
    }
    RealDeviceInfo(const RealDeviceInfo&) = delete;

    VkDeviceCreateInfo info;
    VkDeviceQueueCreateInfo queue;
    std::vector<const char*> extensions;
};

VKAPI_ATTR VkResult VKAPI_CALL createDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                            const VkAllocationCallbacks* allocator, VkDevice* device) {
    if (creationIsDue("vkCreateDevice")) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    InstanceState& instance = instanceOf(physical);
    auto* link = linkOf<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
    const PFN_vkGetInstanceProcAddr getOfInstance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    const PFN_vkGetDeviceProcAddr get = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const auto create =
        reinterpret_cast<PFN_vkCreateDevice>(getOfInstance(instance.handle, "vkCreateDevice"));
    const RealDeviceInfo real(*info);
    const VkResult result = create(physical, &real.info, allocator, device);
    if (result != VK_SUCCESS) return result;
    auto state = std::make_unique<DeviceState>();
    state->handle = *device;
    state->first = physical == instance.first;
#define LOCKSTEP_LOAD(function)                                                                              \
    state->next.function = reinterpret_cast<PFN_vk##function>(get(*device, "vk" #function));
    LOCKSTEP_VULKAN_DEVICE(LOCKSTEP_LOAD)
#undef LOCKSTEP_LOAD
    state->getNext = get;
    VkPhysicalDeviceMemoryProperties memory{};
    instance.next.GetPhysicalDeviceMemoryProperties(physical, &memory);
    state->memory = pretendedMemory(memory, state->realTypes);
    ++report().devices;
    const std::lock_guard lock(layer().mutex);
    layer().devices[keyOf(*device)] = std::move(state);
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL destroyDevice(VkDevice handle, const VkAllocationCallbacks* allocator) {
    if (handle == VK_NULL_HANDLE) return;
    void* key = keyOf(handle);
    DeviceState& device = deviceOf(handle);
    if (device.hangs) misuse("a hanging device is destroyed");
    for (const auto& [kind, count] : device.living) {
        if (count == 0) continue;
        std::fprintf(stderr, "VK_LAYER_LOCKSTEP_faults: %lld left of %.*s\n", static_cast<long long>(count),
                     static_cast<int>(kind.size()), kind.data());
        report().leaked += count;
    }
    device.next.DestroyDevice(handle, allocator);
    ++report().destroyed;
    const std::lock_guard lock(layer().mutex);
    layer().devices.erase(key);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL getDeviceProcAddr(VkDevice device, const char* name);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL getInstanceProcAddr(VkInstance instance, const char* name);

PFN_vkVoidFunction ownFunction(std::string_view name) {
    const NamedFunction doors[] = {named("vkGetInstanceProcAddr", getInstanceProcAddr),
                                   named("vkGetDeviceProcAddr", getDeviceProcAddr),
                                   named("vkCreateInstance", createInstance),
                                   named("vkDestroyInstance", destroyInstance),
                                   named("vkCreateDevice", createDevice),
                                   named("vkDestroyDevice", destroyDevice)};
    if (const auto function = findFunction(doors, name)) return function;
    if (const auto function = physicalFunction(name)) return function;
    if (const auto function = deviceFunction(name)) return function;
    if (const auto function = drawFunction(name)) return function;
    if (const auto function = queueFunction(name)) return function;
    if (const auto function = cardFunction(name)) return function;
    if (const auto function = commandFunction(name)) return function;
    return memoryFunction(name);
}

PFN_vkVoidFunction VKAPI_CALL getDeviceProcAddr(VkDevice device, const char* name) {
    if (const auto own = ownFunction(name)) return own;
    if (std::string_view(name).starts_with("vkQueue")) return nullptr; // its queues are the layer's
    return deviceOf(device).getNext(device, name);
}

PFN_vkVoidFunction VKAPI_CALL getInstanceProcAddr(VkInstance instance, const char* name) {
    if (const auto own = ownFunction(name)) return own;
    return instance == VK_NULL_HANDLE ? nullptr : instanceOf(instance).getNext(instance, name);
}

} // namespace

const Plan& plan() { return layer().plan; }
Report& report() { return layer().report; }

void failNext(std::string_view function) {
    const std::lock_guard lock(layer().mutex);
    const auto calls = layer().calls.find(function);
    layer().plan.setNumber(function, (calls == layer().calls.end() ? 0 : calls->second) + 1);
}

bool isDue(std::string_view function) {
    const std::lock_guard lock(layer().mutex);
    const bool due = ++layer().calls[function] == layer().plan.number(function);
    if (!due || (layer().spent && layer().plan.has("once"))) return false;
    layer().spent = true;
    ++layer().report.injected;
    return true;
}

bool creationIsDue(std::string_view function) {
    ++report().creations;
    const bool any = isDue("create");
    return isDue(function) || any;
}

void misuse(const char* what) {
    std::fprintf(stderr, "VK_LAYER_LOCKSTEP_faults: %s\n", what);
    ++report().misuses;
}

InstanceState& instanceOf(void* handle) {
    const std::lock_guard lock(layer().mutex);
    return *layer().instances.at(keyOf(handle));
}

DeviceState& deviceOf(void* handle) {
    const std::lock_guard lock(layer().mutex);
    return *layer().devices.at(keyOf(handle));
}

void noteCreated(DeviceState& device, std::string_view kind, std::int64_t change) {
    const std::lock_guard lock(device.objects);
    device.living[kind] += change;
}

} // namespace lockstep::faults

extern "C" VK_LAYER_EXPORT VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* version) {
    version->loaderLayerInterfaceVersion = 2;
    version->pfnGetInstanceProcAddr = lockstep::faults::getInstanceProcAddr;
    version->pfnGetDeviceProcAddr = lockstep::faults::getDeviceProcAddr;
    version->pfnGetPhysicalDeviceProcAddr = nullptr;
    return VK_SUCCESS;
}

extern "C" VK_LAYER_EXPORT const lockstep::faults::Report* lockstepFaultReport() {
    return &lockstep::faults::report();
}

extern "C" VK_LAYER_EXPORT void lockstepFailNext(const char* function) {
    lockstep::faults::failNext(function);
}
