// Which cooperative matrices a device has: tiles that a subgroup multiplies with one instruction.
#pragma once

#include <vector>

#include "engine/gpu/device.h"

namespace lockstep::gpu {

/// What VK_KHR_cooperative_matrix and VK_NV_cooperative_matrix offer on a device that has `extensions`, for
/// matrices of halves whose products are added up in floats. A driver that offers the extension without
/// shaders that compute in halves, follow the Vulkan memory model and have whole subgroups offers nothing.
MatrixTiles matrixTilesOf(const InstanceApi& api, VkPhysicalDevice device,
                          const std::vector<VkExtensionProperties>& extensions);

/// Extensions and features that make those tiles usable, for the making of a logical device. The features
/// point to each other: not to be copied.
class MatrixFeatures {
  public:
    /// Adds to `features12` what the tiles need.
    MatrixFeatures(const MatrixTiles& tiles, VkPhysicalDeviceVulkan12Features& features12);
    MatrixFeatures(const MatrixFeatures&) = delete;
    MatrixFeatures& operator=(const MatrixFeatures&) = delete;

    const std::vector<const char*>& extensions() const { return extensions_; }
    void* chain() { return chain_; } ///< ends with `features12`

  private:
    std::vector<const char*> extensions_;
    void* chain_;
    VkPhysicalDeviceSubgroupSizeControlFeatures subgroups_{};
    VkPhysicalDeviceCooperativeMatrixFeaturesNV nv_{};
#ifdef VK_KHR_cooperative_matrix
    VkPhysicalDeviceCooperativeMatrixFeaturesKHR khr_{};
#endif
};

} // namespace lockstep::gpu
