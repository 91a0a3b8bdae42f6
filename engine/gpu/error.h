// What can go wrong on a Vulkan device, as exceptions that name the call, the reason and what to try.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include <vulkan/vulkan.h>

namespace lockstep::gpu {

/// A Vulkan call failed: "vkCreateBuffer failed: VK_ERROR_... . <hint>".
class GpuError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// No loader, no driver, or no device that can be used; the message says which and what to install.
class NoDeviceError : public GpuError {
  public:
    using GpuError::GpuError;
};

/// The device was reset or unplugged. Everything on it is gone; a new Device has to be made.
class DeviceLostError : public GpuError {
  public:
    using GpuError::GpuError;
};

/// The device did not finish within the time that every wait is given.
class TimeoutError : public GpuError {
  public:
    using GpuError::GpuError;
};

class OutOfMemoryError : public GpuError {
  public:
    OutOfMemoryError(const std::string& message, std::uint64_t neededBytes, std::uint64_t availableBytes)
        : GpuError(message), needed(neededBytes), available(availableBytes) {}
    std::uint64_t needed;    ///< bytes asked for
    std::uint64_t available; ///< bytes of the heap that this program has not taken yet
};

/// "VK_ERROR_DEVICE_LOST" for the value of that name; the number for values the engine does not know.
std::string resultName(VkResult result);

/// Which package brings a Vulkan driver on this system.
std::string installHint();

/// Throws the fitting exception unless `result` is VK_SUCCESS. `call` is the function's full name.
void check(VkResult result, const char* call);

} // namespace lockstep::gpu
