#include "engine/files/file_bytes.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

#include <zlib.h>

namespace lockstep {

namespace {

template <class... Reason>
[[noreturn]] void throwUnreadable(const std::filesystem::path& path, const Reason&... reason) {
    throw std::runtime_error(concat("cannot read ", path.string(), ": ", reason...));
}

void requireRegularFile(const std::filesystem::path& path) {
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (status.type() == std::filesystem::file_type::not_found) throwUnreadable(path, "no such file");
    if (error) throwUnreadable(path, error.message());
    if (std::filesystem::is_directory(status)) throwUnreadable(path, "it is a folder");
    if (!std::filesystem::is_regular_file(status)) throwUnreadable(path, "it is a device or a pipe");
}

// Length of the well-formed character at the start of `text` (not empty); 0 if it is malformed.
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

std::vector<std::byte> readFileBytes(const std::filesystem::path& path, std::uint64_t maximum) {
    requireRegularFile(path);
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throwUnreadable(path, errno != 0 ? std::generic_category().message(errno) : "it cannot be opened");
    std::error_code error;
    const std::uint64_t size = std::filesystem::file_size(path, error);
    if (error) throwUnreadable(path, error.message());
    if (size == 0) throwUnreadable(path, "the file is empty");
    if (size > maximum) throwUnreadable(path, "it has ", size, " bytes; the limit is ", maximum);
    std::vector<std::byte> bytes(static_cast<std::size_t>(size));
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
    if (static_cast<std::uint64_t>(file.gcount()) != size)
        throwUnreadable(path, "only ", file.gcount(), " of its ", size, " bytes could be read");
    return bytes;
}

std::string quotedForMessage(std::string_view text, std::size_t longest) {
    std::size_t end = std::min(text.size(), longest);
    const auto continuesCharacter = [&](std::size_t at) { return (text[at] & 0xC0) == 0x80; };
    while (end < text.size() && end > 0 && continuesCharacter(end)) --end;
    std::string result = "'";
    for (char c : text.substr(0, end)) result += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
    return result + (end < text.size() ? "...'" : "'");
}

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before) {
    return static_cast<std::uint32_t>(
        ::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

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
