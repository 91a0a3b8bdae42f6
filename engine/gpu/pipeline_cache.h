// The driver's pipeline cache as bytes that can be stored: wrapped with what it belongs to and a checksum,
// because drivers may crash on a cache that is damaged or another driver's.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/gpu/device.h"

namespace lockstep::gpu {

/// Device, driver and version in one line: a cache fits only the same.
std::string cacheIdentity(const DeviceReport& report);

/// magic, identity with its closing zero, length of the data, FNV-1a of the data, data.
std::vector<std::byte> wrapPipelineCache(std::span<const std::byte> data, const std::string& identity);

/// The data inside, or nothing when anything differs: never an error.
std::span<const std::byte> unwrapPipelineCache(std::span<const std::byte> stored,
                                               const std::string& identity);

} // namespace lockstep::gpu
