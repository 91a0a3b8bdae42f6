// Stores the driver's pipeline cache with a checksum and the identity of its device, because drivers may
// crash on a damaged cache or one from another driver.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/gpu/device.h"

namespace lockstep::gpu {

/// Device, driver and version in one line; a cache is valid only for the same ones.
std::string cacheIdentity(const DeviceReport& report);

/// magic, identity with its closing zero, length of the data, FNV-1a of the data, data.
std::vector<std::byte> wrapPipelineCache(std::span<const std::byte> data, const std::string& identity);

/// The data inside, or nothing if anything differs. Never throws.
std::span<const std::byte> unwrapPipelineCache(std::span<const std::byte> stored,
                                               const std::string& identity);

} // namespace lockstep::gpu
