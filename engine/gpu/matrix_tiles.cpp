#include "engine/gpu/matrix_tiles.h"

#include <algorithm>

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
    features12.shaderInt8 = tiles.int8Tile().m > 0 ? VK_TRUE : VK_FALSE;
    extensions.push_back(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
    subgroups = structure<VkPhysicalDeviceSubgroupSizeControlFeatures>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES, chain);
    subgroups.computeFullSubgroups = VK_TRUE;
    chain = &subgroups;
    features12.vulkanMemoryModel = VK_TRUE;
    features12.vulkanMemoryModelDeviceScope = VK_TRUE;
}

} // namespace lockstep::gpu
