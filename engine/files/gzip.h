// Decompresses gzip data (RFC 1952) piece by piece, so that the caller, not the file, decides how much memory
// is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace lockstep {

/// Whether the bytes begin like a gzip file (1F 8B).
bool isGzip(std::span<const std::byte> bytes);

/// The most bytes that `compressed` bytes can become: deflate codes 258 bytes in two bits at best, 1032 : 1.
std::uint64_t largestGunzip(std::uint64_t compressed);

/// Reads the decompressed bytes in order. Several members one after the other count as one stream, as the
/// format says. Checksums and lengths are verified where each member ends.
class GzipReader {
  public:
    /// compressed   the whole file, which has to live as long as the reader
    /// name         the file, for messages
    /// Throws std::runtime_error when this is no gzip file.
    GzipReader(std::span<const std::byte> compressed, std::string_view name);
    ~GzipReader();
    GzipReader(GzipReader&&) noexcept;
    GzipReader& operator=(GzipReader&&) noexcept;

    /// Fills `out` and returns how many bytes were written: all of `out`, or fewer at the end of the data.
    /// The end (with its checksum) has been seen only once a call returned less than it was asked for. Throws
    /// std::runtime_error "NAME: byte N: reason", N counted in the compressed file, for damaged or truncated
    /// data and for bytes that follow its end.
    std::size_t read(std::span<std::byte> out);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace lockstep
