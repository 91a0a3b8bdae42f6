#include "engine/gpu/device_features.h"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string_view>

#include "engine/gpu/instance.h"

namespace lockstep::gpu {

namespace {

// Kernels process four numbers at a time.
bool usable(const MatrixTile& tile) {
    return tile.m > 0 && tile.m % 4 == 0 && tile.n % 4 == 0 && tile.k % 4 == 0;
}

struct MatrixNeeds {
    bool halves = false; // everything that kernels with fp16 tiles need
    bool int8 = false;   // and those with int8 tiles
};

// Under that memory model, the atomic additions of other kernels need the device's scope.
MatrixNeeds needsOf(const InstanceApi& api, VkPhysicalDevice device) {
    auto subgroups = structure<VkPhysicalDeviceSubgroupSizeControlFeatures>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES);
    auto features12 = structure<VkPhysicalDeviceVulkan12Features>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, &subgroups);
    auto features =
        structure<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &features12);
    api.GetPhysicalDeviceFeatures2(device, &features);
    const bool halves = features12.shaderFloat16 != VK_FALSE && features12.vulkanMemoryModel != VK_FALSE &&
                        features12.vulkanMemoryModelDeviceScope != VK_FALSE &&
                        subgroups.computeFullSubgroups != VK_FALSE;
    return {halves, halves && features12.shaderInt8 != VK_FALSE};
}

// The tile of inputs and sums of these types; preferably the size that all vendors support. `result` is the
// member that the extensions name differently; their constants are the same.
template <class Properties>
MatrixTile tileAmong(const std::vector<Properties>& all, VkComponentTypeNV Properties::*result,
                     VkComponentTypeNV input, VkComponentTypeNV sum) {
    std::vector<MatrixTile> tiles;
    for (const Properties& each : all)
        if (each.scope == VK_SCOPE_SUBGROUP_NV && each.AType == input && each.BType == input &&
            each.CType == sum && each.*result == sum)
            tiles.push_back({each.MSize, each.NSize, each.KSize});
    const MatrixTile common{16, 16, 16};
    if (std::ranges::find(tiles, common) != tiles.end()) return common;
    const auto any = std::ranges::find_if(tiles, usable);
    return any == tiles.end() ? MatrixTile{} : *any;
}

template <class Properties>
void findTiles(const std::vector<Properties>& all, VkComponentTypeNV Properties::*result, MatrixTile& halves,
               MatrixTile& int8) {
    halves = tileAmong(all, result, VK_COMPONENT_TYPE_FLOAT16_NV, VK_COMPONENT_TYPE_FLOAT32_NV);
    int8 = tileAmong(all, result, VK_COMPONENT_TYPE_SINT8_NV, VK_COMPONENT_TYPE_SINT32_NV);
}

} // namespace

MatrixTiles matrixTilesOf(const InstanceApi& api, VkPhysicalDevice device, const Extensions& extensions) {
    MatrixTiles tiles;
    const MatrixNeeds needs = needsOf(api, device);
    if (!contains(extensions, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME) || !needs.halves) return tiles;
    if (contains(extensions, VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME)) {
        using Nv = VkCooperativeMatrixPropertiesNV;
        const auto list = [&](auto* count, auto* out) {
            api.GetPhysicalDeviceCooperativeMatrixPropertiesNV(device, count, out);
        };
        const auto each = structure<Nv>(VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_NV);
        findTiles(enumerate(list, each), &Nv::DType, tiles.nv, tiles.nvInt8);
    }
    if (contains(extensions, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME)) {
        using Khr = VkCooperativeMatrixPropertiesKHR;
        const auto list = [&](auto* count, auto* out) {
            api.GetPhysicalDeviceCooperativeMatrixPropertiesKHR(device, count, out);
        };
        const auto each = structure<Khr>(VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR);
        std::vector<Khr> all = enumerate(list, each);
        std::erase_if(all, [](const Khr& tile) { return tile.saturatingAccumulation != VK_FALSE; });
        findTiles(all, &Khr::ResultType, tiles.khr, tiles.khrInt8);
    }
    if (!needs.int8) tiles.nvInt8 = tiles.khrInt8 = {};
    return tiles;
}

DeviceFeatures::DeviceFeatures(PFN_vkGetInstanceProcAddr getInstanceProcAddr, VkInstance instance,
                               VkPhysicalDevice physical) {
    const Instance own(getInstanceProcAddr, instance);
    enable(own.candidate(physical, {}).report.limits, extensionsOf(own.api(), physical));
}

DeviceFeatures::DeviceFeatures(const Limits& limits, const Extensions& available) {
    enable(limits, available);
}

template <class Structure>
void DeviceFeatures::add(const char* extension, VkStructureType type, Structure& next,
                         VkBool32 Structure::*feature) {
    extensions.push_back(extension);
    next = structure<Structure>(type, vulkan12.pNext);
    next.*feature = VK_TRUE;
    vulkan12.pNext = &next;
}

void DeviceFeatures::enable(const Limits& limits, const Extensions& available) {
    vulkan12 =
        structure<VkPhysicalDeviceVulkan12Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
    features = structure<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &vulkan12);
    features.features.shaderFloat64 = limits.doubleArithmetic ? VK_TRUE : VK_FALSE;
    vulkan12.timelineSemaphore = VK_TRUE;
    vulkan12.shaderFloat16 = limits.halfArithmetic ? VK_TRUE : VK_FALSE;
    vulkan12.subgroupBroadcastDynamicId = limits.broadcastInvocations > 0 ? VK_TRUE : VK_FALSE;
    if (limits.pushDescriptors > 0) extensions.push_back(VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME);
    constexpr const char* subset = "VK_KHR_portability_subset";
    // Vulkan requires enabling it where it is present (MoltenVK).
    if (contains(available, subset)) extensions.push_back(subset);
    enableMatrices(limits.matrixTiles);
    if (limits.dotProducts)
        add(VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME,
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES, dotProducts_,
            &VkPhysicalDeviceShaderIntegerDotProductFeatures::shaderIntegerDotProduct);
    if (limits.deviceClock)
        add(VK_KHR_SHADER_CLOCK_EXTENSION_NAME, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CLOCK_FEATURES_KHR,
            clocks_, &VkPhysicalDeviceShaderClockFeaturesKHR::shaderDeviceClock);
}

void DeviceFeatures::enableMatrices(const MatrixTiles& tiles) {
    if (tiles.dialect() == MatrixDialect::none) return;
    if (tiles.nv.m > 0)
        add(VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME,
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_NV, matricesNv_,
            &VkPhysicalDeviceCooperativeMatrixFeaturesNV::cooperativeMatrix);
    if (tiles.khr.m > 0)
        add(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME,
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR, matricesKhr_,
            &VkPhysicalDeviceCooperativeMatrixFeaturesKHR::cooperativeMatrix);
    add(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES, subgroups_,
        &VkPhysicalDeviceSubgroupSizeControlFeatures::computeFullSubgroups);
    vulkan12.shaderInt8 = tiles.int8Tile().m > 0 ? VK_TRUE : VK_FALSE;
    vulkan12.vulkanMemoryModel = VK_TRUE;
    vulkan12.vulkanMemoryModelDeviceScope = VK_TRUE;
}

namespace {

/// Features that a device was created with, from whichever structure says so.
class Enabled {
  public:
    explicit Enabled(const VkDeviceCreateInfo& created) : created_(created) {}

    /// Whether one of the structures of this type has the member set.
    template <class Structure> bool has(VkStructureType type, VkBool32 Structure::*member) const {
        for (const auto* each = static_cast<const VkBaseInStructure*>(created_.pNext); each != nullptr;
             each = each->pNext)
            if (each->sType == type && reinterpret_cast<const Structure*>(each)->*member != VK_FALSE)
                return true;
        return false;
    }
    bool has(VkBool32 VkPhysicalDeviceVulkan12Features::*member) const {
        return has(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, member);
    }
    bool has(VkBool32 VkPhysicalDeviceVulkan13Features::*member) const {
        return has(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, member);
    }
    bool has(VkBool32 VkPhysicalDeviceFeatures::*member) const {
        if (created_.pEnabledFeatures != nullptr) return created_.pEnabledFeatures->*member != VK_FALSE;
        for (const auto* each = static_cast<const VkBaseInStructure*>(created_.pNext); each != nullptr;
             each = each->pNext)
            if (each->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2 &&
                reinterpret_cast<const VkPhysicalDeviceFeatures2*>(each)->features.*member != VK_FALSE)
                return true;
        return false;
    }
    bool hasExtension(std::string_view name) const {
        const std::span names(created_.ppEnabledExtensionNames, created_.enabledExtensionCount);
        return std::ranges::any_of(names, [&](const char* each) { return name == each; });
    }

  private:
    const VkDeviceCreateInfo& created_;
};

} // namespace

Limits limitsEnabled(Limits limits, const VkDeviceCreateInfo& created) {
    const Enabled enabled(created);
    using Twelve = VkPhysicalDeviceVulkan12Features;
    if (!enabled.has(&Twelve::timelineSemaphore) &&
        !enabled.has(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
                     &VkPhysicalDeviceTimelineSemaphoreFeatures::timelineSemaphore))
        throw std::invalid_argument("the host's device was created without timelineSemaphore, which training "
                                    "needs");
    if (!enabled.hasExtension(VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME)) limits.pushDescriptors = 0;
    if (!enabled.has(&Twelve::subgroupBroadcastDynamicId)) limits.broadcastInvocations = 0;
    if (!enabled.has(&VkPhysicalDeviceFeatures::shaderFloat64)) limits.doubleArithmetic = false;
    if (!enabled.has(&Twelve::shaderFloat16) &&
        !enabled.has(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES,
                     &VkPhysicalDeviceShaderFloat16Int8Features::shaderFloat16))
        limits.halfArithmetic = false;
    if (!enabled.has(&VkPhysicalDeviceVulkan13Features::shaderIntegerDotProduct) &&
        !enabled.has(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES,
                     &VkPhysicalDeviceShaderIntegerDotProductFeatures::shaderIntegerDotProduct))
        limits.dotProducts = false;
    if (!enabled.has(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CLOCK_FEATURES_KHR,
                     &VkPhysicalDeviceShaderClockFeaturesKHR::shaderDeviceClock))
        limits.deviceClock = false;

    MatrixTiles& tiles = limits.matrixTiles;
    if (!enabled.has(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_NV,
                     &VkPhysicalDeviceCooperativeMatrixFeaturesNV::cooperativeMatrix))
        tiles.nv = tiles.nvInt8 = {};
    if (!enabled.has(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR,
                     &VkPhysicalDeviceCooperativeMatrixFeaturesKHR::cooperativeMatrix))
        tiles.khr = tiles.khrInt8 = {};
    const bool fullSubgroups =
        enabled.has(&VkPhysicalDeviceVulkan13Features::computeFullSubgroups) ||
        enabled.has(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
                    &VkPhysicalDeviceSubgroupSizeControlFeatures::computeFullSubgroups);
    using MemoryModel = VkPhysicalDeviceVulkanMemoryModelFeatures;
    constexpr auto model = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES;
    const bool memoryModel =
        (enabled.has(&Twelve::vulkanMemoryModel) && enabled.has(&Twelve::vulkanMemoryModelDeviceScope)) ||
        (enabled.has(model, &MemoryModel::vulkanMemoryModel) &&
         enabled.has(model, &MemoryModel::vulkanMemoryModelDeviceScope));
    if (!limits.halfArithmetic || !fullSubgroups || !memoryModel) tiles = {};
    if (!enabled.has(&Twelve::shaderInt8) &&
        !enabled.has(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES,
                     &VkPhysicalDeviceShaderFloat16Int8Features::shaderInt8))
        tiles.nvInt8 = tiles.khrInt8 = {};
    return limits;
}

} // namespace lockstep::gpu
