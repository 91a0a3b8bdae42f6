// Any bytes as a gzip file: what comes out never exceeds the bound, and does not depend on how it is read.
#include <algorithm>
#include <string>

#include "engine/files/file_bytes.h"
#include "engine/files/gzip.h"
#include "tests/fuzz/fuzz_target.h"

using namespace lockstep;

namespace {

std::string gunzip(std::span<const std::byte> file, std::size_t pieceSize) {
    GzipReader reader(file, "fuzz.gz");
    std::string all;
    std::string piece(pieceSize, '\0');
    while (true) {
        const std::size_t count = reader.read(std::as_writable_bytes(std::span(piece.data(), piece.size())));
        all.append(piece, 0, count);
        if (count < piece.size()) return all;
    }
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto file = std::as_bytes(std::span(data, size));
    fuzz::expectDocumented("fuzz.gz", [&] {
        const std::string content = gunzip(file, 4096);
        fuzz::require(content.size() <= largestGunzip(size), "content within the bound");
        fuzz::require(gunzip(file, 61) == content, "the same content in other pieces");
    });
    return 0;
}
