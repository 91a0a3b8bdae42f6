#include "engine/files/gzip.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include <zlib.h>

#include "engine/files/file_bytes.h"

namespace lockstep {

namespace {

// zlib counts in 32 bits.
uInt clampToZlib(std::size_t size) {
    return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

} // namespace

struct GzipReader::State {
    z_stream stream{};
    std::span<const std::byte> compressed;
    std::string name;
    std::size_t consumed = 0; // of `compressed`
    bool ended = false;       // after the last member's checksum

    State(std::span<const std::byte> file, std::string_view fileName) : compressed(file), name(fileName) {
        // 16 + MAX_WBITS: gzip only, with the largest window.
        if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) throw std::runtime_error("zlib failed to start");
    }
    ~State() { inflateEnd(&stream); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    [[noreturn]] void fail(const std::string& reason) const { throwAtByte(name, consumed, reason); }

    // Calls zlib once and returns the number of bytes written. Makes progress or throws.
    std::size_t inflateInto(std::span<std::byte> out) {
        const uInt available = clampToZlib(compressed.size() - consumed);
        const uInt wanted = clampToZlib(out.size());
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(compressed.data() + consumed));
        stream.avail_in = available;
        stream.next_out = reinterpret_cast<Bytef*>(out.data());
        stream.avail_out = wanted;
        const int result = inflate(&stream, Z_NO_FLUSH);
        consumed += available - stream.avail_in;
        switch (result) {
        case Z_OK: break;
        case Z_STREAM_END: endMember(); break;
        case Z_BUF_ERROR: fail("the gzip data is truncated; copy or download the file again");
        default:
            fail("the gzip data is corrupt (" + std::string(stream.msg ? stream.msg : "no details") +
                 "); copy or download the file again");
        }
        return wanted - stream.avail_out;
    }

    void endMember() {
        ended = consumed == compressed.size();
        if (ended) return;
        if (!isGzip(compressed.subspan(consumed)))
            fail(std::to_string(compressed.size() - consumed) + " bytes follow the end of the gzip data");
        inflateReset(&stream);
    }
};

GzipReader::GzipReader(std::span<const std::byte> compressed, std::string_view name) {
    if (compressed.empty()) throwAtByte(name, 0, "the file is empty");
    if (!isGzip(compressed)) throwAtByte(name, 0, "not a gzip file: it does not begin with 1F 8B");
    state_ = std::make_unique<State>(compressed, name);
}

GzipReader::~GzipReader() = default;

std::size_t GzipReader::read(std::span<std::byte> out) {
    std::size_t written = 0;
    while (written < out.size() && !state_->ended) written += state_->inflateInto(out.subspan(written));
    return written;
}

} // namespace lockstep
