#include "engine/data/idx.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "engine/files/file_bytes.h"
#include "engine/files/gzip.h"

namespace lockstep {

namespace {

// The uncompressed bytes of a file, in order.
class Source {
  public:
    Source(std::span<const std::byte> file, std::string_view name) : name_(name), file_(file) {
        if (file.empty()) throwAtByte(name, 0, "the file is empty");
        if (isGzip(file)) gzip_.emplace(file, name);
    }

    /// Upper bound on the bytes it yields.
    std::uint64_t most() const { return gzip_ ? largestGunzip(file_.size()) : file_.size(); }
    std::uint64_t offset() const { return offset_; }

    std::size_t read(std::span<std::byte> out) {
        const std::size_t count = gzip_ ? gzip_->read(out) : std::min(out.size(), file_.size() - offset_);
        if (!gzip_) std::ranges::copy(file_.subspan(offset_, count), out.begin());
        offset_ += count;
        return count;
    }

    template <class... Reason> [[noreturn]] void fail(std::uint64_t offset, const Reason&... reason) const {
        throwAtByte(name_, offset, reason...);
    }

  private:
    std::string_view name_;
    std::span<const std::byte> file_;
    std::optional<GzipReader> gzip_;
    std::size_t offset_ = 0;
};

std::uint32_t readBigEndian(Source& source, const std::string& what) {
    std::array<std::byte, 4> bytes{};
    if (source.read(bytes) != bytes.size())
        source.fail(source.offset(), "the file ends inside its header (", what, " is incomplete)");
    std::uint32_t value = 0;
    for (std::byte byte : bytes) value = value << 8 | std::to_integer<std::uint32_t>(byte);
    return value;
}

std::string hexadecimal(std::uint32_t value) {
    std::string text;
    for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789ABCDEF"[value >> shift & 0xF];
    return text;
}

constexpr std::uint32_t imagesMagic = 0x00000803;
constexpr std::uint32_t labelsMagic = 0x00000801;
constexpr std::uint32_t integerLabelsMagic = 0x00000C01;
constexpr std::uint32_t integerRowsMagic = 0x00000C02;
constexpr std::uint32_t mostColumns = 256; // of integer labels; QMNIST has 8

bool isLabelsMagic(std::uint32_t magic) {
    return magic == labelsMagic || magic == integerLabelsMagic || magic == integerRowsMagic;
}

// `expected` is the magic number that `content` usually begins with.
[[noreturn]] void refuseMagic(const Source& source, std::uint32_t magic, std::uint32_t expected,
                              const char* content) {
    const char* hint = "";
    if (isLabelsMagic(magic))
        hint = "; this is a file of labels";
    else if (magic == imagesMagic)
        hint = "; this is a file of images";
    else if (magic >> 16 == 0 && magic >> 8 >= 0x09)
        hint = expected == imagesMagic
                   ? "; only unsigned bytes (type 08) are supported"
                   : "; only unsigned bytes (type 08) and integers (type 0C) are supported";
    source.fail(0, "magic number ", hexadecimal(magic), ", but ", content, " begin with ",
                hexadecimal(expected), hint);
}

// All bytes after the header. The buffer grows with what the file actually yields, to at most twice that.
std::vector<std::uint8_t> readExactly(Source& source, std::uint64_t count, const std::string& claim) {
    const std::uint64_t header = source.offset();
    const auto failShort = [&](const char* found, std::uint64_t bytes) {
        source.fail(source.offset(), "the header claims ", claim, " = ", count, " bytes, but ", found, bytes);
    };
    if (count > source.most() - std::min(header, source.most()))
        failShort("the file holds at most ", source.most() - header);
    std::vector<std::uint8_t> data;
    constexpr std::uint64_t firstPiece = std::uint64_t{1} << 16;
    while (data.size() < count) {
        const std::size_t done = data.size();
        const auto next =
            static_cast<std::size_t>(std::min(count, std::max<std::uint64_t>(firstPiece, 2 * done)));
        data.reserve(next); // exactly: resize alone would round up
        data.resize(next);
        const std::size_t wanted = data.size() - done;
        if (source.read(std::as_writable_bytes(std::span(data).subspan(done))) != wanted)
            failShort("it holds only ", source.offset() - header);
    }
    std::byte extra{};
    const std::uint64_t end = source.offset();
    if (source.read(std::span(&extra, 1)) != 0)
        source.fail(end, "bytes follow the data that its header announces (", claim, ")");
    return data;
}

} // namespace

IdxImages parseIdxImages(std::span<const std::byte> file, std::string_view name) {
    Source source(file, name);
    if (const std::uint32_t magic = readBigEndian(source, "the magic number"); magic != imagesMagic)
        refuseMagic(source, magic, imagesMagic, "images");
    IdxImages images;
    images.count = readBigEndian(source, "the number of images");
    images.height = readBigEndian(source, "the height");
    images.width = readBigEndian(source, "the width");
    if (images.count == 0) source.fail(4, "the file has no images");
    const std::string size = concat(images.height, " x ", images.width);
    // Both sides are below 2^32, so their product fits 64 bits; after the next check, so does the total.
    const std::uint64_t pixels = std::uint64_t{images.height} * images.width;
    if (pixels == 0) source.fail(8, "images of ", size, " pixels are empty");
    if (pixels > largestImage)
        source.fail(8, "images of ", size, " pixels exceed the ", largestImage,
                    " inputs that a network can have");
    images.pixels =
        readExactly(source, images.count * pixels, concat(images.count, " images of ", size, " pixels"));
    return images;
}

IdxLabels parseIdxLabels(std::span<const std::byte> file, std::string_view name) {
    Source source(file, name);
    const std::uint32_t magic = readBigEndian(source, "the magic number");
    if (!isLabelsMagic(magic)) refuseMagic(source, magic, labelsMagic, "labels");
    const std::uint32_t count = readBigEndian(source, "the number of labels");
    if (count == 0) source.fail(4, "the file has no labels");
    if (magic == labelsMagic) {
        const std::vector<std::uint8_t> bytes = readExactly(source, count, concat(count, " labels"));
        return {{bytes.begin(), bytes.end()}, 1};
    }
    const std::uint32_t columns =
        magic == integerRowsMagic ? readBigEndian(source, "the number of columns") : 1;
    if (columns == 0 || columns > mostColumns)
        source.fail(8, columns, " columns of labels; between 1 and ", mostColumns, " are supported");
    const std::uint64_t header = source.offset();
    const std::size_t rowBytes = std::size_t{4} * columns;
    const std::vector<std::uint8_t> bytes =
        readExactly(source, count * rowBytes,
                    concat(count, " labels of ", columns, columns == 1 ? " integer" : " integers"));
    IdxLabels labels{{}, columns};
    labels.values.reserve(count);
    for (std::size_t at = 0; at < bytes.size(); at += rowBytes) {
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < 4; ++i) value = value << 8 | bytes[at + i];
        if (value > 0x7FFFFFFF) source.fail(header + at, "a label is negative");
        labels.values.push_back(value);
    }
    return labels;
}

} // namespace lockstep
