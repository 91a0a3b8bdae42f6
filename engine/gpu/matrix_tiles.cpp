#include "engine/gpu/matrix_tiles.h"

#include <algorithm>
#include <cstring>

namespace lockstep::gpu {

namespace {

bool has(const std::vector<VkExtensionProperties>& extensions, const char* name) {
    return std::ranges::any_of(extensions, [&](const VkExtensionProperties& extension) {
        return std::strcmp(extension.extensionName, name) == 0;
    });
}

// Kernels process four numbers at a time.
bool usable(const MatrixTile& tile) {
    return tile.m > 0 && tile.m % 4 == 0 && tile.n % 4 == 0 && tile.k % 4 == 0;
}

// Prefer the size that all vendors support.
MatrixTile preferred(const std::vector<MatrixTile>& tiles) {
    const auto common = std::ranges::find(tiles, MatrixTile{16, 16, 16});
    if (common != tiles.end()) return *common;
    const auto any = std::ranges::find_if(tiles, usable);
    return any == tiles.end() ? MatrixTile{} : *any;
}

// Under that memory model, the atomic additions of other kernels need the device's scope.
bool computesInHalves(const InstanceApi& api, VkPhysicalDevice device) {
    auto subgroups = structure<VkPhysicalDeviceSubgroupSizeControlFeatures>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES);
    auto features12 = structure<VkPhysicalDeviceVulkan12Features>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, &subgroups);
    auto features =
        structure<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &features12);
    api.GetPhysicalDeviceFeatures2(device, &features);
    return features12.shaderFloat16 != VK_FALSE && features12.vulkanMemoryModel != VK_FALSE &&
           features12.vulkanMemoryModelDeviceScope != VK_FALSE && subgroups.computeFullSubgroups != VK_FALSE;
}

MatrixTile nvTile(const InstanceApi& api, VkPhysicalDevice device) {
    std::uint32_t count = 0;
    api.GetPhysicalDeviceCooperativeMatrixPropertiesNV(device, &count, nullptr);
    std::vector<VkCooperativeMatrixPropertiesNV> all(
        count,
        structure<VkCooperativeMatrixPropertiesNV>(VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_NV));
    api.GetPhysicalDeviceCooperativeMatrixPropertiesNV(device, &count, all.data());
    std::vector<MatrixTile> tiles;
    for (const VkCooperativeMatrixPropertiesNV& each : all)
        if (each.scope == VK_SCOPE_SUBGROUP_NV && each.AType == VK_COMPONENT_TYPE_FLOAT16_NV &&
            each.BType == VK_COMPONENT_TYPE_FLOAT16_NV && each.CType == VK_COMPONENT_TYPE_FLOAT32_NV &&
            each.DType == VK_COMPONENT_TYPE_FLOAT32_NV)
            tiles.push_back({each.MSize, each.NSize, each.KSize});
    return preferred(tiles);
}

#ifdef VK_KHR_cooperative_matrix
MatrixTile khrTile(const InstanceApi& api, VkPhysicalDevice device) {
    std::uint32_t count = 0;
    api.GetPhysicalDeviceCooperativeMatrixPropertiesKHR(device, &count, nullptr);
    std::vector<VkCooperativeMatrixPropertiesKHR> all(
        count,
        structure<VkCooperativeMatrixPropertiesKHR>(VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR));
    api.GetPhysicalDeviceCooperativeMatrixPropertiesKHR(device, &count, all.data());
    std::vector<MatrixTile> tiles;
    for (const VkCooperativeMatrixPropertiesKHR& each : all)
        if (each.scope == VK_SCOPE_SUBGROUP_KHR && each.AType == VK_COMPONENT_TYPE_FLOAT16_KHR &&
            each.BType == VK_COMPONENT_TYPE_FLOAT16_KHR && each.CType == VK_COMPONENT_TYPE_FLOAT32_KHR &&
            each.ResultType == VK_COMPONENT_TYPE_FLOAT32_KHR)
            tiles.push_back({each.MSize, each.NSize, each.KSize});
    return preferred(tiles);
}
#endif

} // namespace

MatrixTiles matrixTilesOf(const InstanceApi& api, VkPhysicalDevice device,
                          const std::vector<VkExtensionProperties>& extensions) {
    MatrixTiles tiles;
    if (!has(extensions, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME) || !computesInHalves(api, device))
        return tiles;
    if (has(extensions, VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME)) tiles.nv = nvTile(api, device);
#ifdef VK_KHR_cooperative_matrix
    if (has(extensions, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME)) tiles.khr = khrTile(api, device);
#endif
    return tiles;
}

MatrixFeatures::MatrixFeatures(const MatrixTiles& tiles, VkPhysicalDeviceVulkan12Features& features12)
    : chain_(&features12) {
    if (tiles.nv.m > 0) {
        extensions_.push_back(VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME);
        nv_ = structure<VkPhysicalDeviceCooperativeMatrixFeaturesNV>(
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_NV, chain_);
        nv_.cooperativeMatrix = VK_TRUE;
        chain_ = &nv_;
    }
#ifdef VK_KHR_cooperative_matrix
    if (tiles.khr.m > 0) {
        extensions_.push_back(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
        khr_ = structure<VkPhysicalDeviceCooperativeMatrixFeaturesKHR>(
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR, chain_);
        khr_.cooperativeMatrix = VK_TRUE;
        chain_ = &khr_;
    }
#endif
    if (extensions_.empty()) return;
    extensions_.push_back(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
    subgroups_ = structure<VkPhysicalDeviceSubgroupSizeControlFeatures>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES, chain_);
    subgroups_.computeFullSubgroups = VK_TRUE;
    chain_ = &subgroups_;
    features12.shaderFloat16 = VK_TRUE;
    features12.vulkanMemoryModel = VK_TRUE;
    features12.vulkanMemoryModelDeviceScope = VK_TRUE;
}

} // namespace lockstep::gpu
