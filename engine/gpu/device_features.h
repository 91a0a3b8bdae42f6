// What a device can do beyond the core of Vulkan 1.2, and how it is enabled: cooperative matrices (tiles that
// a subgroup multiplies with one instruction), half and double precision, clocks, dot products.
#pragma once

#include <vector>

#include "engine/gpu/device.h"

namespace lockstep::gpu {

/// Tile sizes for fp16 inputs with fp32 accumulation from VK_KHR_cooperative_matrix and
/// VK_NV_cooperative_matrix, on a device with these `extensions`. Empty if the driver lacks fp16 arithmetic,
/// the Vulkan memory model or full subgroups, which the kernels also need.
MatrixTiles matrixTilesOf(const InstanceApi& api, VkPhysicalDevice device, const Extensions& extensions);

/// The extensions and features that training makes use of, for a VkDeviceCreateInfo. A host that opens a
/// device itself creates it with these:
///
///     const gpu::DeviceFeatures wanted(getInstanceProcAddr, instance, physical);
///     info.pNext = wanted.chain();
///     info.enabledExtensionCount = ...; info.ppEnabledExtensionNames = wanted.extensions.data();
///
/// or sets the same members of structures of its own, of which a chain may have one of each kind. What is
/// left out is not used; timeline semaphores are needed. Not copied: the structures point to each other.
class DeviceFeatures {
  public:
    /// What a physical device has. The function is the loader's, as for HostDevice. Throws
    /// std::invalid_argument for an instance of Vulkan 1.0. A device without timeline semaphores cannot be
    /// created with these.
    DeviceFeatures(PFN_vkGetInstanceProcAddr getInstanceProcAddr, VkInstance instance,
                   VkPhysicalDevice physical);
    /// What `limits` say, of a device with the extensions `available`.
    DeviceFeatures(const Limits& limits, const Extensions& available);
    DeviceFeatures(const DeviceFeatures&) = delete;
    DeviceFeatures& operator=(const DeviceFeatures&) = delete;

    /// Begins with a VkPhysicalDeviceFeatures2, so VkDeviceCreateInfo::pEnabledFeatures is null.
    const void* chain() const { return &features; }

    std::vector<const char*> extensions;
    VkPhysicalDeviceFeatures2 features{};
    VkPhysicalDeviceVulkan12Features vulkan12{};

  private:
    void enable(const Limits& limits, const Extensions& available);
    void enableMatrices(const MatrixTiles& tiles);
    /// Adds an extension, and its structure with one feature to the chain.
    template <class Structure>
    void add(const char* extension, VkStructureType type, Structure& next, VkBool32 Structure::*feature);

    VkPhysicalDeviceSubgroupSizeControlFeatures subgroups_{};
    VkPhysicalDeviceCooperativeMatrixFeaturesNV matricesNv_{};
    VkPhysicalDeviceCooperativeMatrixFeaturesKHR matricesKhr_{};
    VkPhysicalDeviceShaderIntegerDotProductFeatures dotProducts_{};
    VkPhysicalDeviceShaderClockFeaturesKHR clocks_{};
};

/// `limits` without what a device that was created so does not have. Throws std::invalid_argument without
/// timeline semaphores.
Limits limitsEnabled(Limits limits, const VkDeviceCreateInfo& created);

} // namespace lockstep::gpu
