#include "demos/draw/animation.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <webp/encode.h>
#include <webp/mux.h>
#include <zlib.h>

#include "engine/files/atomic_file.h"

namespace lockstep::demos {

namespace {

std::string endingOf(const std::filesystem::path& file) {
    std::string ending = file.extension().string();
    std::ranges::transform(ending, ending.begin(),
                           [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return ending;
}

/// The changed pixels of a frame, all others transparent, without the empty margins.
struct Patch {
    Pixels pixels;
    std::uint32_t left = 0;
    std::uint32_t top = 0;
};

/// A picture as libwebp handles it, with RAII.
class WebPBitmap {
  public:
    explicit WebPBitmap(const Pixels& pixels) {
        const auto width = static_cast<int>(pixels.width);
        if (WebPPictureInit(&picture_) == 0)
            throw std::runtime_error("libwebp has another version's interface");
        picture_.use_argb = 1;
        picture_.width = width;
        picture_.height = static_cast<int>(pixels.height);
        require(WebPPictureImportRGBX(&picture_, pixels.rgba.data(), width * 4));
    }
    ~WebPBitmap() { WebPPictureFree(&picture_); }
    WebPBitmap(const WebPBitmap&) = delete;
    WebPBitmap& operator=(const WebPBitmap&) = delete;

    WebPPicture& picture() { return picture_; }

    Pixels scaledTo(int width, int height) {
        require(WebPPictureRescale(&picture_, width, height));
        Pixels scaled{static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height), {}};
        scaled.rgba.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 4);
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                const std::uint32_t argb = picture_.argb[y * picture_.argb_stride + x];
                for (const int shift : {16, 8, 0, 24})
                    scaled.rgba.push_back(static_cast<std::uint8_t>(argb >> shift));
            }
        return scaled;
    }

  private:
    static void require(int done) {
        if (done == 0) throw std::runtime_error("there is not enough memory for a picture of this size");
    }

    WebPPicture picture_;
};

} // namespace

class FrameEncoder {
  public:
    virtual ~FrameEncoder() = default;
    /// `shown`: all of the frame; `patch`: what differs from the one before.
    virtual void add(const Pixels& shown, const Patch& patch, int milliseconds) = 0;
    virtual std::vector<std::byte> finish(int milliseconds) = 0;
};

namespace {

class WebPFrames : public FrameEncoder {
  public:
    void add(const Pixels& shown, const Patch&, int milliseconds) override {
        if (!encoder_) begin(shown);
        WebPConfig config;
        // The text stays crisp; a higher method takes much longer and saves little.
        require(WebPConfigInit(&config) != 0);
        config.lossless = 1;
        config.method = 1;
        config.quality = 50;
        WebPBitmap bitmap(shown);
        require(WebPAnimEncoderAdd(encoder_.get(), &bitmap.picture(), milliseconds, &config) != 0);
    }

    std::vector<std::byte> finish(int milliseconds) override {
        require(WebPAnimEncoderAdd(encoder_.get(), nullptr, milliseconds, nullptr) != 0);
        WebPData data;
        WebPDataInit(&data);
        require(WebPAnimEncoderAssemble(encoder_.get(), &data) != 0);
        const auto* first = reinterpret_cast<const std::byte*>(data.bytes);
        std::vector<std::byte> bytes(first, first + data.size);
        WebPDataClear(&data);
        return bytes;
    }

  private:
    struct Delete {
        void operator()(WebPAnimEncoder* encoder) const { WebPAnimEncoderDelete(encoder); }
    };

    void begin(const Pixels& first) {
        encoder_.reset(
            WebPAnimEncoderNew(static_cast<int>(first.width), static_cast<int>(first.height), nullptr));
        require(encoder_ != nullptr);
    }
    void require(bool done) const {
        if (done) return;
        const char* reason = encoder_ ? WebPAnimEncoderGetError(encoder_.get()) : "";
        throw std::runtime_error(
            fmt::format("libwebp could not encode a frame{}{}; a smaller window needs less memory",
                        *reason == 0 ? "" : ": ", reason));
    }

    std::unique_ptr<WebPAnimEncoder, Delete> encoder_;
};

/// APNG: the chunks of one PNG per frame, with a chunk before each that says where and how long it is shown.
/// Source: https://www.w3.org/TR/png-3 (fcTL, acTL and fdAT chunks).
class PngFrames : public FrameEncoder {
  public:
    void add(const Pixels&, const Patch& patch, int milliseconds) override {
        endFrame(milliseconds);
        const std::vector<std::byte> png = encodedPng(patch.pixels, true);
        last_ = {patch.pixels.width, patch.pixels.height, patch.left, patch.top, {}, milliseconds};
        for (std::size_t at = signature; at < png.size();) {
            const std::size_t length = number(png, at);
            const auto begin = png.begin() + static_cast<std::ptrdiff_t>(at);
            const auto data = begin + 8;
            const auto end = data + static_cast<std::ptrdiff_t>(length);
            const std::string_view type(reinterpret_cast<const char*>(&png[at + 4]), 4);
            if (type == "IHDR" && head_.empty()) head_.assign(png.begin(), end + 4);
            if (type == "IDAT") last_.data.insert(last_.data.end(), data, end);
            at += length + 12;
        }
    }

    std::vector<std::byte> finish(int milliseconds) override {
        endFrame(milliseconds);
        std::vector<std::byte> bytes = std::move(head_);
        constexpr std::uint32_t endless = 0; // rounds
        appendChunk(bytes, "acTL", numbers({frames_, endless}));
        bytes.insert(bytes.end(), body_.begin(), body_.end());
        appendChunk(bytes, "IEND", {});
        return bytes;
    }

  private:
    static constexpr std::size_t signature = 8; // bytes

    struct Frame {
        std::uint32_t width = 0;
        std::uint32_t height = 0;
        std::uint32_t left = 0;
        std::uint32_t top = 0;
        std::vector<std::byte> data;
        int begin = 0; // ms
    };

    static std::size_t number(const std::vector<std::byte>& bytes, std::size_t at) {
        std::size_t value = 0;
        for (std::size_t i = at; i < at + 4; ++i) value = value << 8 | std::to_integer<std::size_t>(bytes[i]);
        return value;
    }
    static void appendNumber(std::vector<std::byte>& bytes, std::uint32_t value, int size = 4) {
        for (int shift = 8 * (size - 1); shift >= 0; shift -= 8)
            bytes.push_back(static_cast<std::byte>(value >> shift & 0xff));
    }
    static std::vector<std::byte> numbers(std::initializer_list<std::uint32_t> values) {
        std::vector<std::byte> bytes;
        for (const std::uint32_t value : values) appendNumber(bytes, value);
        return bytes;
    }
    static void appendChunk(std::vector<std::byte>& bytes, std::string_view type,
                            const std::vector<std::byte>& data) {
        appendNumber(bytes, static_cast<std::uint32_t>(data.size()));
        const std::size_t checked = bytes.size();
        for (const char letter : type) bytes.push_back(static_cast<std::byte>(letter));
        bytes.insert(bytes.end(), data.begin(), data.end());
        const auto* from = reinterpret_cast<const Bytef*>(&bytes[checked]);
        appendNumber(bytes,
                     static_cast<std::uint32_t>(crc32(0, from, static_cast<uInt>(bytes.size() - checked))));
    }

    // How long a frame is shown is known once the next one begins.
    void endFrame(int milliseconds) {
        if (last_.data.empty()) return;
        constexpr int longest = 65535; // that the chunk can say
        const int shown = milliseconds - last_.begin;
        const bool inHundredths = shown > longest;
        std::vector<std::byte> control =
            numbers({sequence_++, last_.width, last_.height, last_.left, last_.top});
        appendNumber(control, static_cast<std::uint32_t>(inHundredths ? shown / 10 : shown), 2);
        appendNumber(control, inHundredths ? 100 : 1000, 2);
        const std::byte keepBelow{0};
        const std::byte drawOver{static_cast<unsigned char>(frames_ == 0 ? 0 : 1)};
        control.insert(control.end(), {keepBelow, drawOver});
        appendChunk(body_, "fcTL", control);
        if (frames_ == 0) { // also the picture of programs that know no animations
            appendChunk(body_, "IDAT", last_.data);
        } else {
            std::vector<std::byte> data = numbers({sequence_++});
            data.insert(data.end(), last_.data.begin(), last_.data.end());
            appendChunk(body_, "fdAT", data);
        }
        last_.data.clear();
        ++frames_;
    }

    std::vector<std::byte> head_; // signature and IHDR
    std::vector<std::byte> body_; // all frames but the last
    Frame last_;
    std::uint32_t frames_ = 0;
    std::uint32_t sequence_ = 0;
};

Pixels fitted(const Pixels& frame) {
    if (frame.width <= Animation::mostWidth) return frame;
    const std::uint32_t height =
        std::max((frame.height * Animation::mostWidth + frame.width / 2) / frame.width, 1u);
    return WebPBitmap(frame).scaledTo(Animation::mostWidth, static_cast<int>(height));
}

// Off by at most half of the tolerance.
std::uint8_t rounded(int value) {
    constexpr int step = Animation::tolerance;
    return static_cast<std::uint8_t>(std::min((value + step / 2) / step * step, 255));
}

} // namespace

void requireAnimationName(const std::filesystem::path& file) {
    const std::string ending = endingOf(file);
    if (ending != ".webp" && ending != ".png")
        throw std::invalid_argument(
            fmt::format("a recording is an animated WebP or PNG; name the file {}, not {}",
                        std::filesystem::path(file).replace_extension(".webp").string(), file.string()));
}

Animation::Animation(std::filesystem::path file) : file_(std::move(file)) {
    requireAnimationName(file_);
    if (endingOf(file_) == ".webp")
        encoder_ = std::make_unique<WebPFrames>();
    else
        encoder_ = std::make_unique<PngFrames>();
}

Animation::~Animation() = default;

void Animation::add(const Pixels& frame, int milliseconds) {
    const Pixels next = fitted(frame);
    const bool first = shown_.rgba.empty();
    if (first) shown_ = {next.width, next.height, std::vector<std::uint8_t>(next.rgba.size())};
    if (next.rgba.size() != shown_.rgba.size() || next.width != shown_.width)
        throw std::invalid_argument("all frames of an animation have one size");
    Pixels changed{next.width, next.height, std::vector<std::uint8_t>(next.rgba.size())};
    std::uint32_t left = next.width, right = 0, top = next.height, bottom = 0;
    for (std::size_t pixel = 0; pixel < next.rgba.size() / 4; ++pixel) {
        const std::uint8_t* wanted = &next.rgba[pixel * 4];
        std::uint8_t* shown = &shown_.rgba[pixel * 4];
        int off = first ? 256 : 0;
        for (int channel = 0; channel < 3; ++channel)
            off = std::max(off, std::abs(wanted[channel] - shown[channel]));
        if (off <= tolerance) continue;
        for (int channel = 0; channel < 3; ++channel)
            shown[channel] = first ? wanted[channel] : rounded(wanted[channel]);
        shown[3] = 255;
        std::copy_n(shown, 4, &changed.rgba[pixel * 4]);
        const auto x = static_cast<std::uint32_t>(pixel % next.width);
        const auto y = static_cast<std::uint32_t>(pixel / next.width);
        left = std::min(left, x), right = std::max(right, x);
        top = std::min(top, y), bottom = y;
        ++changedPixels_;
    }
    if (left > right) return;
    const Place area{{static_cast<float>(left), static_cast<float>(top)},
                     {static_cast<float>(right + 1), static_cast<float>(bottom + 1)}};
    encoder_->add(shown_, {cropped(std::move(changed), area), left, top}, milliseconds);
}

std::size_t Animation::save(int milliseconds) {
    if (shown_.rgba.empty())
        throw std::runtime_error(file_.string() + " was not written: nothing was recorded");
    const std::vector<std::byte> bytes = encoder_->finish(milliseconds);
    writeFileAtomically(file_, bytes);
    return bytes.size();
}

} // namespace lockstep::demos
