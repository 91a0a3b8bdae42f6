#include "engine/data/table_text.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "engine/files/file_bytes.h"
#include "engine/files/gzip.h"
#include "engine/net/names.h"

namespace lockstep {

namespace {

// The line, counted from 1, that holds the byte at `offset`.
std::size_t lineOf(std::string_view text, std::size_t offset) {
    std::size_t line = 1;
    for (std::size_t i = 0; i < offset; ++i)
        if (text[i] == '\n' || (text[i] == '\r' && text[i + 1] != '\n')) ++line;
    return line;
}

void appendUtf8(std::string& text, std::uint32_t point) {
    const auto add = [&text](std::uint32_t byte) { text += static_cast<char>(byte); };
    if (point < 0x80) return add(point);
    if (point < 0x800) {
        add(0xC0 | point >> 6);
    } else if (point < 0x10000) {
        add(0xE0 | point >> 12);
        add(0x80 | (point >> 6 & 0x3F));
    } else {
        add(0xF0 | point >> 18);
        add(0x80 | (point >> 12 & 0x3F));
        add(0x80 | (point >> 6 & 0x3F));
    }
    add(0x80 | (point & 0x3F));
}

// UTF-16 behind its byte-order mark.
std::string fromUtf16(std::string_view bytes, std::string_view name) {
    const bool bigEndian = bytes.starts_with("\xFE\xFF");
    if (bytes.size() % 2 != 0)
        throw std::runtime_error(concat(name, ": UTF-16 text with an odd number of bytes"));
    std::string text;
    text.reserve(bytes.size() / 2);
    std::uint32_t high = 0; // the first half of a pair
    for (std::size_t i = 2; i < bytes.size(); i += 2) {
        const auto first = static_cast<std::uint8_t>(bytes[i]);
        const auto second = static_cast<std::uint8_t>(bytes[i + 1]);
        const std::uint32_t unit = bigEndian ? first << 8 | second : second << 8 | first;
        const bool low = unit >= 0xDC00 && unit < 0xE000;
        if (low != (high != 0))
            throw std::runtime_error(concat(name, ": byte ", i, ": half a character of UTF-16"));
        if (unit >= 0xD800 && unit < 0xDC00)
            high = unit;
        else if (low)
            appendUtf8(text, 0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00)), high = 0;
        else
            appendUtf8(text, unit);
    }
    if (high != 0) throw std::runtime_error(concat(name, ": the text ends inside a character of UTF-16"));
    return text;
}

// Where Windows-1252 differs from Unicode: 0x80 to 0x9F; 0 for the five that mean nothing.
constexpr std::uint16_t windows1252[32] = {0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                           0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017D, 0,
                                           0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                           0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

// The offset of the first byte that no text in Windows-1252 has; npos if there is none.
std::size_t findNoWindows1252(std::string_view text) {
    const auto strange = [](char letter) {
        const auto byte = static_cast<std::uint8_t>(letter);
        if (byte < 0x20) return byte != '\n' && byte != '\r' && byte != '\t';
        return byte == 0x7F || (byte >= 0x80 && byte < 0xA0 && windows1252[byte - 0x80] == 0);
    };
    const auto found = std::ranges::find_if(text, strange);
    return found == text.end() ? std::string_view::npos : static_cast<std::size_t>(found - text.begin());
}

std::string fromWindows1252(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size() + bytes.size() / 8);
    for (const char letter : bytes) {
        const auto byte = static_cast<std::uint8_t>(letter);
        appendUtf8(text, byte >= 0x80 && byte < 0xA0 ? windows1252[byte - 0x80] : byte);
    }
    return text;
}

std::string gunzipped(std::span<const std::byte> file, std::string_view name) {
    GzipReader reader(file, name);
    std::string text;
    while (true) {
        const std::size_t before = text.size();
        text.resize(std::max<std::size_t>(2 * before, std::size_t{1} << 16));
        const std::span<char> free = std::span(text).subspan(before);
        const std::size_t count = reader.read(std::as_writable_bytes(free));
        text.resize(before + count);
        if (text.size() > largestFile)
            throw std::runtime_error(
                concat(name, ": unpacked, it has more than ", largestFile, " bytes, which is the limit"));
        if (count < free.size()) return text;
    }
}

} // namespace

TableText::TableText(std::span<const std::byte> file, std::string_view name) : given_(asText(file)) {
    if (isGzip(file)) convert(gunzipped(file, name), "it was unpacked (gzip)");
    if (text().empty()) throw std::runtime_error(concat(name, ": the file is empty"));
    if (text().starts_with("\xFF\xFE") || text().starts_with("\xFE\xFF"))
        convert(fromUtf16(text(), name), "it was read as UTF-16 text");
    if (const std::size_t zero = text().find('\0'); zero != std::string_view::npos)
        throw std::runtime_error(
            concat(name, ":", lineOf(text(), zero), ": a zero byte; save the table as UTF-8 text"));
    if (const std::size_t wrong = findInvalidUtf8(text()); wrong != std::string_view::npos) {
        if (const std::size_t strange = findNoWindows1252(text()); strange != std::string_view::npos)
            throw std::runtime_error(concat(name, ":", lineOf(text(), wrong),
                                            ": bytes that are not UTF-8; save the table as UTF-8 text"));
        convert(fromWindows1252(text()), "it is not UTF-8 and was read as Windows-1252 text");
    }
    if (text().starts_with("\xEF\xBB\xBF")) skip_ = 3;
    // Excel's line: sep= and one character.
    const std::string_view whole = text();
    if (whole.size() > 4 && (whole.starts_with("sep=") || whole.starts_with("SEP="))) {
        const std::size_t end = std::min(whole.find_first_of("\r\n"), whole.size());
        if (end != 5) return;
        separator_ = whole[4];
        skip_ += end + (whole.substr(end).starts_with("\r\n") ? 2 : end < whole.size() ? 1 : 0);
        ++firstLine_;
    }
}

void TableText::convert(std::string text, const char* note) {
    own_ = std::move(text);
    converted_ = true;
    notes_.emplace_back(note);
}

} // namespace lockstep
