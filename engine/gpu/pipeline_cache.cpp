#include "engine/gpu/pipeline_cache.h"

#include <cstring>

namespace lockstep::gpu {

namespace {

// Fowler, Noll, Vo: FNV-1a, 64 bits.
std::uint64_t fnv1a(std::span<const std::byte> bytes) {
    std::uint64_t hash = 0xCBF29CE484222325u;
    for (const std::byte byte : bytes) hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3u;
    return hash;
}

std::string header(std::span<const std::byte> data, const std::string& identity) {
    const std::uint64_t numbers[] = {data.size(), fnv1a(data)};
    return "LOCKPC01" + identity + '\0' + std::string(reinterpret_cast<const char*>(numbers), sizeof numbers);
}

} // namespace

std::string cacheIdentity(const DeviceReport& report) {
    return report.name + "|" + report.driver + "|" + report.uuid + "|" + report.apiVersion;
}

std::vector<std::byte> wrapPipelineCache(std::span<const std::byte> data, const std::string& identity) {
    const std::string text = header(data, identity);
    const auto begin = std::as_bytes(std::span(text));
    std::vector<std::byte> bytes(begin.begin(), begin.end());
    bytes.insert(bytes.end(), data.begin(), data.end());
    return bytes;
}

std::span<const std::byte> unwrapPipelineCache(std::span<const std::byte> stored,
                                               const std::string& identity) {
    const std::size_t headerSize = header({}, identity).size();
    if (stored.size() < headerSize) return {};
    const std::span<const std::byte> data = stored.subspan(headerSize);
    // The header must equal the one that this data and identity would produce.
    const bool same = std::memcmp(stored.data(), header(data, identity).data(), headerSize) == 0;
    return same ? data : std::span<const std::byte>{};
}

} // namespace lockstep::gpu
