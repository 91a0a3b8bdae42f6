// Queries the cooperative matrices of a device: tiles that a subgroup multiplies with one instruction.
#pragma once

#include <vector>

#include "engine/gpu/device.h"

namespace lockstep::gpu {

/// Tile sizes for fp16 inputs with fp32 accumulation from VK_KHR_cooperative_matrix and
/// VK_NV_cooperative_matrix, on a device with these `extensions`. Empty if the driver lacks fp16 arithmetic,
/// the Vulkan memory model or full subgroups, which the kernels also need.
MatrixTiles matrixTilesOf(const InstanceApi& api, VkPhysicalDevice device, const Extensions& extensions);

/// The extensions and features that a device needs for these tiles. Not copied: they point to each other.
struct MatrixFeatures {
    /// Enables in `features12` what the tiles need.
    MatrixFeatures(const MatrixTiles& tiles, VkPhysicalDeviceVulkan12Features& features12);
    MatrixFeatures(const MatrixFeatures&) = delete;
    MatrixFeatures& operator=(const MatrixFeatures&) = delete;

    std::vector<const char*> extensions;
    void* chain; ///< ends with `features12`
    VkPhysicalDeviceSubgroupSizeControlFeatures subgroups{};
    VkPhysicalDeviceCooperativeMatrixFeaturesNV nv{};
    VkPhysicalDeviceCooperativeMatrixFeaturesKHR khr{};
};

} // namespace lockstep::gpu
