#include "engine/files/utf8.h"

namespace lockstep {

namespace {

// Length of the well-formed character at the beginning of `text`, which is not empty; 0 when there is none.
std::size_t characterLength(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto continues = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0) == 0x80; };
    const unsigned char first = byte(0);
    if (first < 0x80) return 1;
    if (first < 0xC2 || first > 0xF4 || !continues(1)) return 0;
    if (first < 0xE0) return 2;
    if (first == 0xE0 && byte(1) < 0xA0) return 0; // overlong
    if (first == 0xED && byte(1) > 0x9F) return 0; // surrogate
    if (!continues(2)) return 0;
    if (first < 0xF0) return 3;
    if (first == 0xF0 && byte(1) < 0x90) return 0; // overlong
    if (first == 0xF4 && byte(1) > 0x8F) return 0; // above 10FFFF
    return continues(3) ? 4 : 0;
}

} // namespace

std::size_t findInvalidUtf8(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t length = characterLength(text.substr(at));
        if (length == 0) return at;
        at += length;
    }
    return std::string_view::npos;
}

} // namespace lockstep
