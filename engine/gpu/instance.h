// The Vulkan instance, the validation messages that come through it, and what it knows of the machine's
// devices.
#pragma once

#include <vector>

#include "engine/gpu/device.h"

namespace lockstep::gpu {

class Instance {
  public:
    /// Throws NoDeviceError without a loader, GpuError when `options.validation` is asked for and the layer
    /// is missing.
    explicit Instance(const DeviceOptions& options);
    ~Instance();
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    const InstanceApi& api() const { return api_; }
    VkInstance handle() const { return handle_; }

    struct Candidate {
        VkPhysicalDevice handle = VK_NULL_HANDLE;
        std::uint32_t queueFamily = 0;
        std::uint32_t drawFamily = 0; ///< with options.drawing
        DeviceReport report;
    };
    /// Every device, inspected; exactly one is marked chosen unless none fits `options.select`.
    std::vector<Candidate> candidates(const DeviceOptions& options) const;

  private:
    std::function<void(const ValidationMessage&)> messages_;
    VkInstance handle_ = VK_NULL_HANDLE;
    InstanceApi api_;
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
};

/// What Vulkan guarantees at least: the limits that DeviceOptions::minimumLimits pretends.
Limits minimumLimits(const Limits& actual);

} // namespace lockstep::gpu
