// Exceptions for Vulkan errors. Messages name the call, the reason and what to try.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>

#include <vulkan/vulkan.h>

namespace lockstep::gpu {

/// A Vulkan call failed: "vkCreateBuffer failed: VK_ERROR_... . <hint>".
class GpuError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// No loader, no driver or no usable device; the message says which, and what to install.
class NoDeviceError : public GpuError {
  public:
    using GpuError::GpuError;
};

/// The device was reset or unplugged. Everything on it is lost; create a new Device.
class DeviceLostError : public GpuError {
  public:
    using GpuError::GpuError;
};

/// The device did not finish within DeviceOptions::waitLimit.
class TimeoutError : public GpuError {
  public:
    using GpuError::GpuError;
};

/// A loop of a shader that nobody had looked at would not end: see loop_limit.h. The device goes on reporting
/// it.
class LoopError : public GpuError {
  public:
    using GpuError::GpuError;
};

class OutOfMemoryError : public GpuError {
  public:
    OutOfMemoryError(const std::string& message, std::uint64_t neededBytes, std::uint64_t availableBytes)
        : GpuError(message), needed(neededBytes), available(availableBytes) {}
    std::uint64_t needed;    ///< bytes requested
    std::uint64_t available; ///< bytes of the heap that this program has not allocated
};

/// Work ended early because a flag that it watches was set (Recorder::endWhen).
class Cancelled : public std::runtime_error {
  public:
    Cancelled() : std::runtime_error("cancelled") {}
};

/// Throws Cancelled if the flag is set. Null: it never is.
inline void throwIfSet(const std::atomic<bool>* cancelled) {
    if (cancelled != nullptr && *cancelled) throw Cancelled();
}

/// Whether the device is of no use after this error; after others, something else can be tried on it.
bool endsDevice(const std::exception& error);

/// The name of a result, such as "VK_ERROR_DEVICE_LOST", or its number if the engine does not know it.
std::string resultName(VkResult result);

/// How to install a Vulkan driver on this system.
std::string installHint();

/// Throws the matching exception unless `result` is VK_SUCCESS. `call` is the function's full name.
void check(VkResult result, const char* call);

} // namespace lockstep::gpu
