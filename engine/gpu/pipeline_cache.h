// Stores the driver's pipeline cache with a checksum and the identity of its device, because drivers may
// crash on a damaged cache or one from another driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "engine/gpu/device.h"

namespace lockstep::gpu {

/// Device, driver and version in one line; a cache is valid only for the same ones.
inline std::string cacheIdentity(const DeviceReport& report) {
    return report.name + "|" + report.driver + "|" + report.uuid + "|" + report.apiVersion;
}

/// 64-bit FNV-1a.
inline std::uint64_t hashOf(std::span<const std::byte> data) {
    std::uint64_t hash = 0xCBF29CE484222325u;
    for (const std::byte byte : data) hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3u;
    return hash;
}

/// Name of the file for a device's cache. Without versions, so that a new driver's cache replaces the old
/// one's.
inline std::string cacheFileName(const DeviceReport& report) {
    const std::string driver = report.driver.substr(0, report.driver.find(' '));
    const std::string device = report.name + "|" + driver + "|" + report.uuid;
    return "pipelines-" + std::to_string(hashOf(std::as_bytes(std::span(device)))) + ".bin";
}

/// What precedes stored data: magic, identity, a zero, the data's length and its hash, 64 bits each.
inline std::string cacheHeader(std::span<const std::byte> data, const std::string& identity) {
    const std::uint64_t numbers[] = {data.size(), hashOf(data)};
    return "LOCKPC01" + identity + '\0' + std::string(reinterpret_cast<const char*>(numbers), sizeof numbers);
}

inline std::vector<std::byte> wrapPipelineCache(std::span<const std::byte> data,
                                                const std::string& identity) {
    const std::string header = cacheHeader(data, identity);
    const auto begin = std::as_bytes(std::span(header));
    std::vector<std::byte> bytes(begin.begin(), begin.end());
    bytes.insert(bytes.end(), data.begin(), data.end());
    return bytes;
}

/// The data inside, or nothing if anything differs. Never throws.
inline std::span<const std::byte> unwrapPipelineCache(std::span<const std::byte> stored,
                                                      const std::string& identity) {
    const std::size_t headerSize = cacheHeader({}, identity).size();
    if (stored.size() < headerSize) return {};
    const std::span<const std::byte> data = stored.subspan(headerSize);
    // The header must equal the one that this data and identity would produce.
    const bool same = std::memcmp(stored.data(), cacheHeader(data, identity).data(), headerSize) == 0;
    return same ? data : std::span<const std::byte>{};
}

} // namespace lockstep::gpu
