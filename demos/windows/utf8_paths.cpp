// MinGW's C library, by which its std::filesystem reads a path of narrow characters, takes each byte for a
// character of Latin-1, whatever the manifest says of UTF-8. In this program, these functions stand in the
// place of the library's.
#include <climits>
#include <cstdint>
#include <cstring>
#include <cwchar>

namespace {

/// What a state holds between two calls: the second half of a pair, or nothing.
static_assert(sizeof(std::mbstate_t) >= sizeof(std::uint16_t));

std::uint16_t heldBy(const std::mbstate_t* state) {
    std::uint16_t half = 0;
    std::memcpy(&half, state, sizeof half);
    return half;
}

void hold(std::mbstate_t* state, std::uint16_t half) {
    std::memset(state, 0, sizeof *state);
    std::memcpy(state, &half, sizeof half);
}

constexpr std::size_t wrong = static_cast<std::size_t>(-1), incomplete = static_cast<std::size_t>(-2);

} // namespace

// A character of four bytes is a pair of UTF-16: three bytes count for its first half, the fourth for its
// second.
extern "C" std::size_t mbrtowc(wchar_t* to, const char* from, std::size_t size, std::mbstate_t* state) {
    static thread_local std::mbstate_t own;
    if (state == nullptr) state = &own;
    if (from == nullptr) return hold(state, 0), 0;
    if (size == 0) return incomplete;
    const auto put = [to](std::uint32_t unit) {
        if (to != nullptr) *to = static_cast<wchar_t>(unit);
    };
    if (const std::uint16_t half = heldBy(state); half != 0) {
        put(half);
        hold(state, 0);
        return 1;
    }
    const auto byte = [from](std::size_t i) {
        return static_cast<std::uint32_t>(static_cast<unsigned char>(from[i]));
    };
    const std::uint32_t first = byte(0);
    if (first < 0x80) return put(first), first == 0 ? 0 : 1;
    const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4) return wrong;
    std::uint32_t code = first & (0x7Fu >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if (i == size) return incomplete;
        if ((byte(i) & 0xC0) != 0x80) return wrong;
        code = code << 6 | (byte(i) & 0x3F);
    }
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < least[bytes] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return wrong;
    if (bytes < 4) return put(code), bytes;
    put(0xD800 + ((code - 0x10000) >> 10));
    hold(state, static_cast<std::uint16_t>(0xDC00 + (code & 0x3FF)));
    return 3;
}

extern "C" std::size_t mbrlen(const char* from, std::size_t size, std::mbstate_t* state) {
    static thread_local std::mbstate_t own;
    return mbrtowc(nullptr, from, size, state == nullptr ? &own : state);
}

extern "C" std::size_t mbsrtowcs(wchar_t* to, const char** from, std::size_t size, std::mbstate_t* state) {
    static thread_local std::mbstate_t own;
    if (state == nullptr) state = &own;
    const char* at = *from;
    for (std::size_t count = 0;; ++count) {
        if (to != nullptr && count == size) return *from = at, count;
        const std::size_t taken = mbrtowc(to == nullptr ? nullptr : to + count, at, MB_LEN_MAX, state);
        if (taken == wrong || taken == incomplete) return wrong;
        if (taken == 0) {
            if (to != nullptr) *from = nullptr;
            return count;
        }
        at += taken;
    }
}
