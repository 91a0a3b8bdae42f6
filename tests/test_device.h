// The Vulkan device that tests run on. $LOCKSTEP_TEST_DEVICE names another than the best one. A machine
// without any fails these tests, with the hint which driver to install: nothing is skipped.
#pragma once

#include <cstdlib>
#include <string>

#include "engine/gpu/device.h"
#include "engine/tune/kernel_cache.h"

namespace lockstep {

inline gpu::DeviceOptions testDeviceOptions() {
    gpu::DeviceOptions options;
    options.cacheFolder = cacheFolder();
    if (const char* select = std::getenv("LOCKSTEP_TEST_DEVICE")) options.select = select;
    return options;
}

/// One device for the whole test program.
inline gpu::Device& testDevice() {
    static gpu::Device device(testDeviceOptions());
    return device;
}

} // namespace lockstep
