// Inspects every device of the machine, finds out whether it can train, and chooses one.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <optional>

#include "engine/gpu/device_features.h"
#include "engine/gpu/error.h"
#include "engine/gpu/instance.h"

namespace lockstep::gpu {

namespace {

constexpr std::uint32_t requiredApi = VK_API_VERSION_1_2;

std::string versionText(std::uint32_t version) {
    return std::to_string(VK_API_VERSION_MAJOR(version)) + "." +
           std::to_string(VK_API_VERSION_MINOR(version)) + "." +
           std::to_string(VK_API_VERSION_PATCH(version));
}

struct TypeRow {
    VkPhysicalDeviceType vulkan;
    std::string_view text;
};

// In the order of DeviceType.
constexpr TypeRow typeRows[] = {
    {VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, "discrete GPU"},
    {VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU, "integrated GPU"},
    {VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU, "virtual GPU"},
    {VK_PHYSICAL_DEVICE_TYPE_OTHER, "other device"},
    {VK_PHYSICAL_DEVICE_TYPE_CPU, "software, not a GPU"},
};

DeviceType typeOf(VkPhysicalDeviceType vulkan) {
    const auto* found = std::ranges::find(typeRows, vulkan, &TypeRow::vulkan);
    return found == std::end(typeRows) ? DeviceType::other : static_cast<DeviceType>(found - typeRows);
}

std::string hexadecimal(std::span<const std::uint8_t> bytes) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : bytes) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

// Drivers that choose a subgroup size per shader report the smallest one.
std::uint32_t broadcastInvocationsOf(const VkPhysicalDeviceSubgroupProperties& subgroup,
                                     const VkPhysicalDeviceSubgroupSizeControlProperties& sizes,
                                     bool anyInvocation) {
    const bool broadcasts = (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
                            (subgroup.supportedOperations & VK_SUBGROUP_FEATURE_BALLOT_BIT) != 0 &&
                            anyInvocation;
    if (!broadcasts) return 0;
    return sizes.minSubgroupSize == 0 ? subgroup.subgroupSize : sizes.minSubgroupSize;
}

Limits limitsOf(const VkPhysicalDeviceLimits& source, std::uint32_t pushDescriptors,
                std::uint32_t timestampBits) {
    Limits limits;
    limits.groupInvocations = source.maxComputeWorkGroupInvocations;
    std::copy_n(source.maxComputeWorkGroupSize, 3, limits.groupSize);
    std::copy_n(source.maxComputeWorkGroupCount, 3, limits.groupCount);
    limits.sharedMemory = source.maxComputeSharedMemorySize;
    limits.pushConstants = source.maxPushConstantsSize;
    limits.pushDescriptors = pushDescriptors;
    limits.storageRange = source.maxStorageBufferRange;
    limits.storageAlignment = source.minStorageBufferOffsetAlignment;
    limits.texelRange = std::uint64_t{16} * source.maxTexelBufferElements;
    limits.texelAlignment = source.minTexelBufferOffsetAlignment;
    limits.storageBuffers = source.maxPerStageDescriptorStorageBuffers;
    limits.nonCoherentAtomSize = source.nonCoherentAtomSize;
    limits.timestampNanoseconds = timestampBits == 0 ? 0 : static_cast<double>(source.timestampPeriod);
    limits.timestampBits = timestampBits;
    return limits;
}

// The minimum limits that Vulkan guarantees, which are the defaults.
Limits minimumLimits(const Limits& actual) {
    Limits limits;
    limits.nonCoherentAtomSize = actual.nonCoherentAtomSize;
    limits.storageBuffers = actual.storageBuffers; // the guaranteed minimum of four is too few for training
    limits.subgroupSize = actual.subgroupSize;
    return limits;
}

// The first family with a flag, and without the other.
std::optional<std::uint32_t> familyWith(const std::vector<VkQueueFamilyProperties>& families,
                                        VkQueueFlags flag, VkQueueFlags other = 0) {
    for (std::uint32_t index = 0; index < families.size(); ++index)
        if ((families[index].queueFlags & (flag | other)) == flag && families[index].queueCount > 0)
            return index;
    return std::nullopt;
}

// Keeps training off the queue that the window draws with, where the device allows: in a compute-only family,
// or, if the drawing family has a single queue, in another of its kind (MoltenVK has four, with a queue
// each).
std::optional<std::uint32_t> trainingFamily(const std::vector<VkQueueFamilyProperties>& families,
                                            std::optional<std::uint32_t> drawFamily) {
    if (const auto family = familyWith(families, VK_QUEUE_COMPUTE_BIT, VK_QUEUE_GRAPHICS_BIT)) return family;
    if (drawFamily && families[*drawFamily].queueCount == 1)
        for (std::uint32_t index = 0; index < families.size(); ++index)
            if (index != *drawFamily && (families[index].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0 &&
                families[index].queueCount > 0)
                return index;
    return familyWith(families, VK_QUEUE_COMPUTE_BIT);
}

// Nothing where the host's number is none of the device's, or of a family that cannot compute.
std::optional<std::uint32_t> hostFamily(const std::vector<VkQueueFamilyProperties>& families,
                                        std::uint32_t family) {
    if (family >= families.size() || (families[family].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0)
        return std::nullopt;
    return family;
}

Instance::Candidate inspect(const InstanceApi& api, VkPhysicalDevice device, std::size_t index,
                            const DeviceOptions& options) {
    auto push = structure<VkPhysicalDevicePushDescriptorPropertiesKHR>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PUSH_DESCRIPTOR_PROPERTIES_KHR);
    auto sizes = structure<VkPhysicalDeviceSubgroupSizeControlProperties>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES, &push);
    auto subgroup = structure<VkPhysicalDeviceSubgroupProperties>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES, &sizes);
    auto identity =
        structure<VkPhysicalDeviceIDProperties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES, &subgroup);
    auto driver = structure<VkPhysicalDeviceDriverProperties>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES, &identity);
    auto properties =
        structure<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &driver);
    api.GetPhysicalDeviceProperties2(device, &properties);
    auto features12 =
        structure<VkPhysicalDeviceVulkan12Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
    const Extensions extensions = extensionsOf(api, device);
    auto clocks = structure<VkPhysicalDeviceShaderClockFeaturesKHR>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CLOCK_FEATURES_KHR);
    if (contains(extensions, VK_KHR_SHADER_CLOCK_EXTENSION_NAME)) features12.pNext = &clocks;
    auto features =
        structure<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &features12);
    api.GetPhysicalDeviceFeatures2(device, &features);
    const std::vector<VkQueueFamilyProperties> families = queueFamiliesOf(api, device);
    VkPhysicalDeviceMemoryProperties memory{};
    api.GetPhysicalDeviceMemoryProperties(device, &memory);

    const VkPhysicalDeviceProperties& core = properties.properties;
    const std::optional<std::uint32_t> drawFamily = familyWith(families, VK_QUEUE_GRAPHICS_BIT);
    const std::optional<std::uint32_t> family =
        options.host ? hostFamily(families, options.host->queueFamily) : trainingFamily(families, drawFamily);
    Instance::Candidate candidate;
    candidate.handle = device;
    candidate.queueFamily = family.value_or(0);
    candidate.drawFamily = drawFamily.value_or(0);
    DeviceReport& report = candidate.report;
    report.index = index;
    report.name = core.deviceName;
    report.type = typeOf(core.deviceType);
    report.driver = std::string(driver.driverName) + " " + driver.driverInfo;
    report.uuid = hexadecimal(identity.deviceUUID);
    report.apiVersion = versionText(core.apiVersion);
    report.limits =
        limitsOf(core.limits, push.maxPushDescriptors, family ? families[*family].timestampValidBits : 0);
    report.limits.subgroupSize = subgroup.subgroupSize;
    report.limits.broadcastInvocations =
        broadcastInvocationsOf(subgroup, sizes, features12.subgroupBroadcastDynamicId != VK_FALSE);
    report.limits.subgroupSums = (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
                                 (subgroup.supportedOperations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT) != 0;
    report.limits.matrixTiles = matrixTilesOf(api, device, extensions);
    report.limits.halfArithmetic = features12.shaderFloat16 != VK_FALSE;
    report.limits.doubleArithmetic = features.features.shaderFloat64 != VK_FALSE;
    report.limits.dotProducts = contains(extensions, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);
    report.limits.deviceClock = clocks.shaderDeviceClock != VK_FALSE;
    if (options.minimumLimits) report.limits = minimumLimits(report.limits);
    if (!options.pushDescriptors || !contains(extensions, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME))
        report.limits.pushDescriptors = 0;
    for (std::uint32_t heap = 0; heap < memory.memoryHeapCount; ++heap)
        if ((memory.memoryHeaps[heap].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0)
            report.memory = std::max<std::uint64_t>(report.memory, memory.memoryHeaps[heap].size);

    if (core.apiVersion < requiredApi)
        report.refused = "its driver supports only Vulkan " + report.apiVersion +
                         ", but 1.2 is needed; a newer driver may help";
    else if (!family)
        report.refused = "it has no compute queue";
    else if (features12.timelineSemaphore == VK_FALSE)
        report.refused = "its driver has no timeline semaphores";
    else if (options.drawing && !drawFamily)
        report.refused = "it has no graphics queue";
    for (const std::string& name : options.deviceExtensions)
        if (report.refused.empty() && !contains(extensions, name.c_str()))
            report.refused = "it has no " + name;
    return candidate;
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& letter : result) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return result;
}

bool matches(const DeviceReport& report, const std::string& select, std::size_t deviceCount) {
    std::size_t number = 0;
    const char* end = select.data() + select.size();
    if (const auto [stop, error] = std::from_chars(select.data(), end, number);
        error == std::errc{} && stop == end && (select.size() < 3 || number < deviceCount))
        return report.index == number; // a longer number may be part of a name: "4090"
    std::string compact = lower(select);
    if (report.uuid == compact) return true;
    std::erase(compact, '-');
    return report.uuid == compact || lower(report.name).find(lower(select)) != std::string::npos;
}

void choose(std::vector<Instance::Candidate>& all, const DeviceOptions& options) {
    Instance::Candidate* best = nullptr;
    for (Instance::Candidate& candidate : all) {
        DeviceReport& report = candidate.report;
        if (!report.refused.empty()) continue;
        if (!options.select.empty() && !matches(report, options.select, all.size())) {
            report.reason = "another device was asked for";
            continue;
        }
        if (best == nullptr || report.type < best->report.type) best = &candidate;
    }
    if (best == nullptr) return;
    best->report.chosen = true;
    best->report.reason = options.select.empty() ? "the best device for training" : "asked for";
    for (Instance::Candidate& candidate : all)
        if (&candidate != best && candidate.report.refused.empty() && candidate.report.reason.empty())
            candidate.report.reason =
                "'" + best->report.name + "' is preferred (" + std::string(describe(best->report.type)) + ")";
}

} // namespace

std::string_view describe(DeviceType type) { return typeRows[static_cast<std::size_t>(type)].text; }

std::vector<Instance::Candidate> Instance::candidates(const DeviceOptions& options) const {
    std::uint32_t count = 0;
    const VkResult counted = api_.EnumeratePhysicalDevices(handle_, &count, nullptr);
    // The loader found drivers, but none of them has a device.
    if (counted == VK_ERROR_INITIALIZATION_FAILED) return {};
    check(counted, "vkEnumeratePhysicalDevices");
    if (count == 0) return {};
    std::vector<VkPhysicalDevice> handles(count);
    check(api_.EnumeratePhysicalDevices(handle_, &count, handles.data()), "vkEnumeratePhysicalDevices");
    std::vector<Candidate> all;
    for (std::size_t index = 0; index < handles.size(); ++index)
        all.push_back(inspect(api_, handles[index], index, options));
    choose(all, options);
    return all;
}

Instance::Candidate Instance::candidate(VkPhysicalDevice physical, const DeviceOptions& options) const {
    Candidate one = inspect(api_, physical, 0, options);
    one.report.chosen = one.report.refused.empty();
    one.report.reason = "the host program's";
    return one;
}

std::vector<DeviceReport> listDevices(const DeviceOptions& options) {
    std::vector<DeviceReport> reports;
    try {
        const Instance instance(options);
        for (Instance::Candidate& candidate : instance.candidates(options))
            reports.push_back(std::move(candidate.report));
    } catch (const NoDeviceError&) {
        loadVulkan(); // throws again if the loader is missing; a missing driver means an empty list
    }
    return reports;
}

} // namespace lockstep::gpu
