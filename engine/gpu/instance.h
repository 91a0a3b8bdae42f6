// The Vulkan instance: validation messages, and the list of the machine's devices.
#pragma once

#include <vector>

#include "engine/gpu/device.h"

namespace lockstep::gpu {

class Instance {
  public:
    /// Throws NoDeviceError without a loader, GpuError if `options.validation` needs a missing layer.
    explicit Instance(const DeviceOptions& options);
    /// The host's own, which stays the host's. Throws std::invalid_argument for an instance of Vulkan 1.0.
    Instance(PFN_vkGetInstanceProcAddr getInstanceProcAddr, VkInstance handle);
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
    /// Inspects every device. Marks exactly one as chosen, unless none matches `options.select`.
    std::vector<Candidate> candidates(const DeviceOptions& options) const;
    /// Inspects one device, chosen already.
    Candidate candidate(VkPhysicalDevice physical, const DeviceOptions& options) const;

  private:
    std::function<void(const ValidationMessage&)> messages_;
    VkInstance handle_ = VK_NULL_HANDLE;
    bool own_ = true;
    InstanceApi api_;
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
};

} // namespace lockstep::gpu
