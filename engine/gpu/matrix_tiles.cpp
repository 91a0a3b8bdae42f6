#include "engine/gpu/matrix_tiles.h"

#include <algorithm>

namespace lockstep::gpu {

namespace {

// Kernels process four numbers at a time.
bool usable(const MatrixTile& tile) {
    return tile.m > 0 && tile.m % 4 == 0 && tile.n % 4 == 0 && tile.k % 4 == 0;
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

// The tile of fp16 inputs with fp32 accumulation; preferably the size that all vendors support. `result` is
// the member that the extensions name differently; their constants are the same.
template <class Properties>
MatrixTile tileAmong(const std::vector<Properties>& all, VkComponentTypeNV Properties::*result) {
    std::vector<MatrixTile> tiles;
    for (const Properties& each : all)
        if (each.scope == VK_SCOPE_SUBGROUP_NV && each.AType == VK_COMPONENT_TYPE_FLOAT16_NV &&
            each.BType == VK_COMPONENT_TYPE_FLOAT16_NV && each.CType == VK_COMPONENT_TYPE_FLOAT32_NV &&
            each.*result == VK_COMPONENT_TYPE_FLOAT32_NV)
            tiles.push_back({each.MSize, each.NSize, each.KSize});
    const MatrixTile common{16, 16, 16};
    if (std::ranges::find(tiles, common) != tiles.end()) return common;
    const auto any = std::ranges::find_if(tiles, usable);
    return any == tiles.end() ? MatrixTile{} : *any;
}

} // namespace

MatrixTiles matrixTilesOf(const InstanceApi& api, VkPhysicalDevice device, const Extensions& extensions) {
    MatrixTiles tiles;
    if (!contains(extensions, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME) || !computesInHalves(api, device))
        return tiles;
    if (contains(extensions, VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME)) {
        using Nv = VkCooperativeMatrixPropertiesNV;
        const auto list = [&](auto* count, auto* out) {
            api.GetPhysicalDeviceCooperativeMatrixPropertiesNV(device, count, out);
        };
        const auto each = structure<Nv>(VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_NV);
        tiles.nv = tileAmong(enumerate(list, each), &Nv::DType);
    }
    if (contains(extensions, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME)) {
        using Khr = VkCooperativeMatrixPropertiesKHR;
        const auto list = [&](auto* count, auto* out) {
            api.GetPhysicalDeviceCooperativeMatrixPropertiesKHR(device, count, out);
        };
        const auto each = structure<Khr>(VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR);
        tiles.khr = tileAmong(enumerate(list, each), &Khr::ResultType);
    }
    return tiles;
}

MatrixFeatures::MatrixFeatures(const MatrixTiles& tiles, VkPhysicalDeviceVulkan12Features& features12)
    : chain(&features12) {
    if (tiles.nv.m > 0) {
        extensions.push_back(VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME);
        nv = structure<VkPhysicalDeviceCooperativeMatrixFeaturesNV>(
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_NV, chain);
        nv.cooperativeMatrix = VK_TRUE;
        chain = &nv;
    }
    if (tiles.khr.m > 0) {
        extensions.push_back(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
        khr = structure<VkPhysicalDeviceCooperativeMatrixFeaturesKHR>(
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR, chain);
        khr.cooperativeMatrix = VK_TRUE;
        chain = &khr;
    }
    if (extensions.empty()) return;
    extensions.push_back(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
    subgroups = structure<VkPhysicalDeviceSubgroupSizeControlFeatures>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES, chain);
    subgroups.computeFullSubgroups = VK_TRUE;
    chain = &subgroups;
    features12.vulkanMemoryModel = VK_TRUE;
    features12.vulkanMemoryModelDeviceScope = VK_TRUE;
}

} // namespace lockstep::gpu
