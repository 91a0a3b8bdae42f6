// Small data files, right and wrong, for the tests of their readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeinfo>

#include <zlib.h>

#include "tests/environment.h"

namespace lockstep::test {

inline std::span<const std::byte> asBytes(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

/// A new folder that is removed at the end of the scope.
class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::random_device random;
        do path_ = std::filesystem::temp_directory_path() / ("lockstep-" + std::to_string(random()));
        while (!std::filesystem::create_directory(path_));
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

    std::filesystem::path write(const std::string& name, std::string_view content) const {
        const std::filesystem::path path = path_ / name;
        std::ofstream(path, std::ios::binary)
            .write(content.data(), static_cast<std::streamsize>(content.size()));
        return path;
    }

  private:
    std::filesystem::path path_;
};

/// LOCKSTEP_CACHE_DIR for as long as it lives.
class CacheFolder : public TemporaryFolder {
    const Environment variable_{"LOCKSTEP_CACHE_DIR", path().string()};
};

/// Big-endian 32-bit numbers one after the other, as in the header of an IDX file.
inline std::string bigEndian(std::initializer_list<std::uint32_t> numbers) {
    std::string bytes;
    for (std::uint32_t number : numbers)
        for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xFF);
    return bytes;
}

/// `count` images of height x width pixels: pixel p of the file has the value p % 251.
inline std::string idxImages(std::uint32_t count, std::uint32_t height, std::uint32_t width) {
    std::string bytes = bigEndian({0x803, count, height, width});
    for (std::uint32_t p = 0; p < count * height * width; ++p) bytes += static_cast<char>(p % 251);
    return bytes;
}

inline std::string idxLabels(std::initializer_list<int> labels) {
    std::string bytes = bigEndian({0x801, static_cast<std::uint32_t>(labels.size())});
    for (int label : labels) bytes += static_cast<char>(label);
    return bytes;
}

/// Labels as QMNIST has them: rows of `columns` integers of 4 bytes, the first of which is the label.
inline std::string idxIntegerRows(std::initializer_list<std::uint32_t> labels, std::uint32_t columns) {
    std::string bytes = bigEndian({0xC02, static_cast<std::uint32_t>(labels.size()), columns});
    for (const std::uint32_t label : labels) {
        bytes += bigEndian({label});
        for (std::uint32_t column = 1; column < columns; ++column) bytes += bigEndian({100 + column});
    }
    return bytes;
}

/// `content` as one member of a gzip file.
inline std::string gzipped(std::string_view content) {
    z_stream stream{};
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::runtime_error("zlib failed to start");
    std::string compressed(deflateBound(&stream, static_cast<uLong>(content.size())) + 64, '\0');
    std::string input(content);
    stream.next_in = reinterpret_cast<Bytef*>(input.data());
    stream.avail_in = static_cast<uInt>(input.size());
    stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
    stream.avail_out = static_cast<uInt>(compressed.size());
    const int result = deflate(&stream, Z_FINISH);
    compressed.resize(stream.total_out);
    deflateEnd(&stream);
    if (result != Z_STREAM_END) throw std::runtime_error("zlib did not finish");
    return compressed;
}

inline std::string bigEndian(std::uint32_t number) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 255);
    return bytes;
}

/// A PNG file of that size, RGBA. Its packed data unfold to `bytes` zeros: height * (1 + 4 * width) are
/// right.
inline std::string pngFile(std::uint32_t width, std::uint32_t height, std::size_t bytes) {
    const auto chunk = [](const std::string& name, const std::string& data) {
        const std::string body = name + data;
        const auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size());
        return bigEndian(static_cast<std::uint32_t>(data.size())) + body +
               bigEndian(static_cast<std::uint32_t>(sum));
    };
    const std::string plain(bytes, '\0');
    std::string packed(compressBound(static_cast<uLong>(bytes)), '\0');
    auto size = static_cast<uLongf>(packed.size());
    if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                  reinterpret_cast<const Bytef*>(plain.data()), static_cast<uLong>(bytes), 9) != Z_OK)
        throw std::runtime_error("zlib did not finish");
    packed.resize(size);
    return "\x89PNG\r\n\x1a\n" +
           chunk("IHDR", bigEndian(width) + bigEndian(height) + std::string("\x08\x06\0\0\0", 5)) +
           chunk("IDAT", packed) + chunk("IEND", "");
}

/// What `action` complains about: the message of the std::runtime_error that it throws. Another type of
/// exception is reported with its type, and no exception as "nothing was thrown", so that a comparison fails.
template <class Action> std::string complaint(const Action& action) {
    try {
        action();
    } catch (const std::exception& error) {
        if (typeid(error) == typeid(std::runtime_error)) return error.what();
        return std::string(typeid(error).name()) + ": " + error.what();
    }
    return "nothing was thrown";
}

/// The same for a std::invalid_argument: wrong arguments, not wrong files.
template <class Action> std::string refusal(const Action& action) {
    try {
        action();
    } catch (const std::invalid_argument& error) {
        return error.what();
    } catch (const std::exception& error) {
        return std::string(typeid(error).name()) + ": " + error.what();
    }
    return "nothing was thrown";
}

} // namespace lockstep::test
