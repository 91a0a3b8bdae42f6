#include "tests/read_animation.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include <webp/demux.h>
#include <zlib.h>

#include "engine/files/file_bytes.h"
#include "tests/picture_compare.h"

namespace lockstep::test {

namespace {

constexpr std::size_t signatureBytes = 8;

struct Chunk {
    std::string type;
    std::string data;
};

std::uint32_t numberAt(const std::string& bytes, std::size_t at, std::size_t size = 4) {
    if (at + size > bytes.size()) throw std::runtime_error("a chunk is too short");
    std::uint32_t value = 0;
    for (std::size_t i = at; i < at + size; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
    return value;
}

std::string numberText(std::uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
    return bytes;
}

std::uint32_t sumOver(const std::string& bytes) {
    return static_cast<std::uint32_t>(
        ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

std::string fileText(const std::filesystem::path& file) {
    const std::vector<std::byte> bytes = readFileBytes(file);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<Chunk> chunksOf(const std::string& bytes) {
    std::vector<Chunk> chunks;
    for (std::size_t at = signatureBytes; at < bytes.size();) {
        const std::size_t length = numberAt(bytes, at);
        if (at + 12 + length > bytes.size()) throw std::runtime_error("the last chunk is cut off");
        const std::string checked = bytes.substr(at + 4, 4 + length);
        if (numberAt(bytes, at + 8 + length) != sumOver(checked))
            throw std::runtime_error("the sum over a chunk is wrong");
        chunks.push_back({checked.substr(0, 4), checked.substr(4)});
        at += 12 + length;
    }
    return chunks;
}

std::string chunkText(const std::string& type, const std::string& data) {
    return numberText(static_cast<std::uint32_t>(data.size())) + type + data +
           numberText(sumOver(type + data));
}

struct Control {
    std::uint32_t width, height, left, top;
    int milliseconds;
    bool over;
};

Control controlOf(const std::string& data) {
    const auto per = static_cast<int>(numberAt(data, 22, 2));
    if (data.size() != 26 || per == 0 || data[24] != 0)
        throw std::runtime_error("a frame's control is wrong");
    return {numberAt(data, 4),
            numberAt(data, 8),
            numberAt(data, 12),
            numberAt(data, 16),
            static_cast<int>(numberAt(data, 20, 2)) * 1000 / per,
            data[25] == 1};
}

// `head`: signature and IHDR of the whole file; a frame differs in its size only.
void drawOver(std::vector<std::uint8_t>& canvas, std::uint32_t width, const Control& control,
              std::string head, const std::string& data) {
    std::string header = head.substr(signatureBytes + 8, 13);
    header.replace(0, 8, numberText(control.width) + numberText(control.height));
    const std::string png = head.substr(0, signatureBytes) + chunkText("IHDR", header) +
                            chunkText("IDAT", data) + chunkText("IEND", "");
    const std::vector<std::uint8_t> pixels = readRgba(png, control.width, control.height);
    for (std::uint32_t y = 0; y < control.height; ++y)
        for (std::uint32_t x = 0; x < control.width; ++x) {
            const std::uint8_t* from = &pixels[(std::size_t{y} * control.width + x) * 4];
            if (control.over && from[3] == 0) continue;
            if (from[3] != 255) throw std::runtime_error("a pixel is half transparent");
            std::copy_n(from, 4, &canvas.at((std::size_t{y + control.top} * width + x + control.left) * 4));
        }
}

} // namespace

ReadAnimation readWebP(const std::filesystem::path& file) {
    const std::string bytes = fileText(file);
    const WebPData data{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
    const std::unique_ptr<WebPAnimDecoder, void (*)(WebPAnimDecoder*)> decoder(
        WebPAnimDecoderNew(&data, nullptr), WebPAnimDecoderDelete);
    WebPAnimInfo info;
    if (!decoder || WebPAnimDecoderGetInfo(decoder.get(), &info) == 0)
        throw std::runtime_error(file.string() + " is no WebP");
    ReadAnimation animation{info.canvas_width, info.canvas_height, {}};
    for (int begun = 0; WebPAnimDecoderHasMoreFrames(decoder.get()) != 0;) {
        std::uint8_t* pixels = nullptr;
        int end = 0;
        if (WebPAnimDecoderGetNext(decoder.get(), &pixels, &end) == 0)
            throw std::runtime_error("a frame cannot be read");
        const std::size_t size = std::size_t{4} * animation.width * animation.height;
        animation.frames.push_back({end - begun, {pixels, pixels + size}});
        begun = end;
    }
    if (animation.frames.size() != info.frame_count) throw std::runtime_error("frames are missing");
    return animation;
}

ReadAnimation readApng(const std::filesystem::path& file) {
    const std::string bytes = fileText(file);
    const std::vector<Chunk> chunks = chunksOf(bytes);
    if (chunks.size() < 5 || chunks[0].type != "IHDR" || chunks[1].type != "acTL" ||
        chunks[2].type != "fcTL" || chunks[3].type != "IDAT" || chunks.back().type != "IEND")
        throw std::runtime_error("the chunks are not those of an APNG");
    ReadAnimation animation{numberAt(chunks[0].data, 0), numberAt(chunks[0].data, 4), {}};
    std::vector<std::uint8_t> canvas(std::size_t{4} * animation.width * animation.height);
    std::uint32_t sequence = 0;
    const auto inSequence = [&](const Chunk& chunk) {
        if (numberAt(chunk.data, 0) != sequence++) throw std::runtime_error("a chunk is out of its sequence");
    };
    for (std::size_t i = 2; i + 1 < chunks.size(); i += 2) {
        inSequence(chunks[i]);
        if (chunks[i].type != "fcTL") throw std::runtime_error("a frame has no control");
        const Control control = controlOf(chunks[i].data);
        const Chunk& content = chunks[i + 1];
        if (content.type != (i == 2 ? "IDAT" : "fdAT")) throw std::runtime_error("a frame has no data");
        if (i > 2) inSequence(content);
        drawOver(canvas, animation.width, control, bytes.substr(0, signatureBytes + 25),
                 content.data.substr(i == 2 ? 0 : 4));
        animation.frames.push_back({control.milliseconds, canvas});
    }
    if (animation.frames.size() != numberAt(chunks[1].data, 0))
        throw std::runtime_error("frames are missing");
    return animation;
}

} // namespace lockstep::test
