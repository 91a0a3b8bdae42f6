// Decompresses gzip data (RFC 1952) piece by piece: the caller, not the file, decides how much memory to use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace lockstep {

/// True if the bytes begin like a gzip file (1F 8B).
inline bool isGzip(std::span<const std::byte> bytes) {
    return bytes.size() >= 2 && bytes[0] == std::byte{0x1F} && bytes[1] == std::byte{0x8B};
}

/// Upper bound on the decompressed size: deflate packs at most 258 bytes into two bits, 1032 : 1.
inline std::uint64_t largestGunzip(std::uint64_t compressed) { return compressed * 1032; }

/// Reads decompressed bytes in order. Concatenated members form one stream, as the format defines. The
/// checksum and length are verified at the end of each member.
class GzipReader {
  public:
    /// compressed   the whole file; must outlive the reader
    /// name         the file, for messages
    /// Throws std::runtime_error if this is not a gzip file.
    GzipReader(std::span<const std::byte> compressed, std::string_view name);
    ~GzipReader();

    /// Fills `out` and returns the number of bytes written; fewer than asked means the end of the data. Only
    /// such a call has verified the last checksum. Throws std::runtime_error "NAME: byte N: reason", N
    /// counted in the compressed file, for damaged or truncated data and for bytes that follow its end.
    std::size_t read(std::span<std::byte> out);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace lockstep
