#include "engine/files/gzip.h"

#include <string>

#include <doctest/doctest.h>

#include "engine/files/file_bytes.h"
#include "tests/data_files.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

std::string gunzip(std::string_view compressed, std::size_t pieceSize = 1000) {
    GzipReader reader(asBytes(compressed), "a.gz");
    std::string all;
    std::string piece(pieceSize, '\0');
    while (true) {
        const std::size_t count = reader.read(std::as_writable_bytes(std::span(piece.data(), piece.size())));
        all.append(piece, 0, count);
        if (count < piece.size()) return all;
    }
}

} // namespace

TEST_CASE("decompresses in pieces of any size") {
    std::string content;
    for (int i = 0; i < 5000; ++i) content += std::to_string(i * i);
    const std::string compressed = gzipped(content);
    REQUIRE(compressed.size() < content.size());
    for (std::size_t pieceSize : {1, 7, 1000, 1'000'000}) CHECK(gunzip(compressed, pieceSize) == content);
}

TEST_CASE("concatenated members form one stream") {
    CHECK(gunzip(gzipped("one ") + gzipped("") + gzipped("two")) == "one two");
}

TEST_CASE("truncation at any byte is detected") {
    const std::string compressed = gzipped("the quick brown fox jumps over the lazy dog");
    for (std::size_t size = 0; size < compressed.size(); ++size) {
        CAPTURE(size);
        const std::string message = complaint([&] { gunzip(compressed.substr(0, size)); });
        if (size == 0)
            CHECK(message == "a.gz: byte 0: the file is empty");
        else if (size == 1)
            CHECK(message == "a.gz: byte 0: not a gzip file: it does not begin with 1F 8B");
        else
            CHECK(message == "a.gz: byte " + std::to_string(size) +
                                 ": the gzip data is truncated; copy or download the file again");
    }
}

TEST_CASE("a damaged byte anywhere after the header is detected") {
    const std::string content = "the quick brown fox jumps over the lazy dog, over and over and over";
    const std::string compressed = gzipped(content);
    constexpr std::size_t headerSize = 10; // includes time and system, which do not affect the content
    for (std::size_t i = headerSize; i < compressed.size(); ++i) {
        CAPTURE(i);
        std::string damaged = compressed;
        damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
        const std::string message = complaint([&] { gunzip(damaged); });
        CHECK(message.starts_with("a.gz: byte "));
        CHECK(message.find("the gzip data is ") != std::string::npos);
    }
}

TEST_CASE("bytes after the end are an error") {
    const std::string compressed = gzipped("content");
    CHECK(complaint([&] { gunzip(compressed + "more"); }) ==
          "a.gz: byte " + std::to_string(compressed.size()) + ": 4 bytes follow the end of the gzip data");
}

TEST_CASE("the bound on the decompressed size holds for deflate's best case") {
    const std::string zeros(4'000'000, '\0');
    const std::string compressed = gzipped(zeros);
    CHECK(compressed.size() * 1000 < zeros.size());
    CHECK(largestGunzip(compressed.size()) >= zeros.size());
    CHECK(gunzip(compressed, 65536) == zeros);
}
