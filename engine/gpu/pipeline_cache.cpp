#include "engine/gpu/pipeline_cache.h"

#include <cstring>

namespace lockstep::gpu {

namespace {

constexpr char magic[8] = {'L', 'O', 'C', 'K', 'P', 'C', '0', '1'};

// Fowler, Noll, Vo: FNV-1a, 64 bits.
std::uint64_t fnv1a(std::span<const std::byte> bytes) {
    std::uint64_t hash = 0xCBF29CE484222325u;
    for (const std::byte byte : bytes) hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3u;
    return hash;
}

std::vector<std::byte> header(std::span<const std::byte> data, const std::string& identity) {
    std::vector<std::byte> bytes(sizeof magic + identity.size() + 1 + 2 * sizeof(std::uint64_t));
    std::byte* at = bytes.data();
    const std::uint64_t size = data.size();
    const std::uint64_t checksum = fnv1a(data);
    std::memcpy(at, magic, sizeof magic);
    std::memcpy(at + sizeof magic, identity.c_str(), identity.size() + 1);
    std::memcpy(at + sizeof magic + identity.size() + 1, &size, sizeof size);
    std::memcpy(at + sizeof magic + identity.size() + 1 + sizeof size, &checksum, sizeof checksum);
    return bytes;
}

} // namespace

std::string cacheIdentity(const DeviceReport& report) {
    return report.name + "|" + report.driver + "|" + report.uuid + "|" + report.apiVersion;
}

std::vector<std::byte> wrapPipelineCache(std::span<const std::byte> data, const std::string& identity) {
    std::vector<std::byte> bytes = header(data, identity);
    bytes.insert(bytes.end(), data.begin(), data.end());
    return bytes;
}

std::span<const std::byte> unwrapPipelineCache(std::span<const std::byte> stored,
                                               const std::string& identity) {
    const std::size_t headerSize = header({}, identity).size();
    if (stored.size() < headerSize) return {};
    const std::span<const std::byte> data = stored.subspan(headerSize);
    // The header must equal the one that this data and identity would produce.
    const std::vector<std::byte> expected = header(data, identity);
    return std::memcmp(stored.data(), expected.data(), headerSize) == 0 ? data : std::span<const std::byte>{};
}

} // namespace lockstep::gpu
