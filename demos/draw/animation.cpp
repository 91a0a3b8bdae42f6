#include "demos/draw/animation.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <webp/encode.h>
#include <webp/mux.h>

#include "engine/files/atomic_file.h"
#include "engine/files/file_bytes.h"

namespace lockstep::demos {

namespace {

using Bytes = std::vector<std::byte>;

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

void requireEncoded(int done) {
    if (done == 0)
        throw std::runtime_error(
            "there is not enough memory for this recording; a smaller window needs less");
}

/// Pixels as libwebp takes them.
struct WebPBitmap {
    WebPPicture picture{};

    explicit WebPBitmap(const Pixels& pixels) {
        requireEncoded(WebPPictureInit(&picture));
        picture.use_argb = 1;
        picture.width = static_cast<int>(pixels.width);
        picture.height = static_cast<int>(pixels.height);
        requireEncoded(WebPPictureImportRGBX(&picture, pixels.rgba.data(), 4 * picture.width));
    }
    ~WebPBitmap() { WebPPictureFree(&picture); }
    WebPBitmap(const WebPBitmap&) = delete;
    WebPBitmap& operator=(const WebPBitmap&) = delete;
};

Pixels fitted(const Pixels& frame) {
    if (frame.width <= Animation::mostWidth) return frame;
    Pixels small{Animation::mostWidth, std::max(frame.height * Animation::mostWidth / frame.width, 1u), {}};
    WebPBitmap bitmap(frame);
    WebPPicture& picture = bitmap.picture;
    requireEncoded(
        WebPPictureRescale(&picture, static_cast<int>(small.width), static_cast<int>(small.height)));
    small.rgba.reserve(std::size_t{4} * small.width * small.height);
    for (int y = 0; y < picture.height; ++y)
        for (int x = 0; x < picture.width; ++x)
            for (const int shift : {16, 8, 0, 24})
                small.rgba.push_back(
                    static_cast<std::uint8_t>(picture.argb[y * picture.argb_stride + x] >> shift));
    return small;
}

void appendNumber(Bytes& bytes, std::uint32_t value, int size) {
    while (size-- > 0) bytes.push_back(static_cast<std::byte>(value >> 8 * size & 0xff));
}

void appendChunk(Bytes& bytes, std::string_view type, const Bytes& data) {
    appendNumber(bytes, static_cast<std::uint32_t>(data.size()), 4);
    const std::size_t checked = bytes.size();
    for (const char letter : type) bytes.push_back(static_cast<std::byte>(letter));
    bytes.insert(bytes.end(), data.begin(), data.end());
    appendNumber(bytes, crc32(std::span(bytes).subspan(checked)), 4);
}

} // namespace

class Animation::Encoder {
  public:
    virtual ~Encoder() = default;
    /// `shown`: all of the frame; `patch`: what differs from the one before.
    virtual void add(const Pixels& shown, const Patch& patch, int milliseconds) = 0;
    virtual Bytes finish(int milliseconds) = 0;
};

class Animation::WebPEncoder : public Encoder {
  public:
    void add(const Pixels& shown, const Patch&, int milliseconds) override {
        WebPBitmap bitmap(shown);
        if (!encoder_)
            encoder_.reset(WebPAnimEncoderNew(bitmap.picture.width, bitmap.picture.height, nullptr));
        WebPConfig config;
        requireEncoded(encoder_ ? WebPConfigInit(&config) : 0);
        config.lossless = 1; // text stays crisp
        config.method = 1;   // a higher one takes much longer and saves little
        config.quality = 50;
        requireEncoded(WebPAnimEncoderAdd(encoder_.get(), &bitmap.picture, milliseconds, &config));
    }

    Bytes finish(int milliseconds) override {
        requireEncoded(WebPAnimEncoderAdd(encoder_.get(), nullptr, milliseconds, nullptr));
        WebPData data;
        WebPDataInit(&data);
        requireEncoded(WebPAnimEncoderAssemble(encoder_.get(), &data));
        const std::unique_ptr<WebPData, void (*)(WebPData*)> owned(&data, WebPDataClear);
        const auto* first = reinterpret_cast<const std::byte*>(data.bytes);
        return {first, first + data.size};
    }

  private:
    std::unique_ptr<WebPAnimEncoder, void (*)(WebPAnimEncoder*)> encoder_{nullptr, WebPAnimEncoderDelete};
};

/// The data of one PNG per frame, each after a chunk that says where and how long it is shown.
/// Source: https://www.w3.org/TR/png-3, acTL, fcTL and fdAT.
class Animation::PngEncoder : public Encoder {
  public:
    void add(const Pixels&, const Patch& patch, int milliseconds) override {
        endFrame(milliseconds);
        // The program's encoder writes three chunks: IHDR, IDAT and IEND.
        const Bytes png = encodedPng(patch.pixels, true);
        constexpr std::ptrdiff_t head = 8 + 25; // signature and IHDR
        if (frames_ == 0) head_.assign(png.begin(), png.begin() + head);
        control_.clear();
        for (const std::uint32_t number :
             {sequence_++, patch.pixels.width, patch.pixels.height, patch.left, patch.top})
            appendNumber(control_, number, 4);
        data_.clear();
        if (frames_ > 0) appendNumber(data_, sequence_++, 4);
        data_.insert(data_.end(), png.begin() + head + 8, png.end() - 4 - 12);
        begun_ = milliseconds;
    }

    Bytes finish(int milliseconds) override {
        endFrame(milliseconds);
        Bytes counts;
        appendNumber(counts, frames_, 4);
        appendNumber(counts, 0, 4); // rounds: endless
        appendChunk(head_, "acTL", counts);
        head_.insert(head_.end(), body_.begin(), body_.end());
        appendChunk(head_, "IEND", {});
        return std::move(head_);
    }

  private:
    // How long a frame is shown is known once the next one begins.
    void endFrame(int milliseconds) {
        if (control_.empty()) return;
        const std::uint32_t first = frames_++ == 0 ? 1 : 0;
        const auto shown = static_cast<std::uint32_t>(milliseconds - begun_);
        const std::uint32_t unit = shown < 65536 ? 1000 : 100; // in a second: the time has two bytes
        appendNumber(control_, shown * unit / 1000, 2);
        appendNumber(control_, unit, 2);
        appendNumber(control_, 1 - first, 2); // stays below the next one; but for the first, is drawn over
        appendChunk(body_, "fcTL", control_);
        appendChunk(body_, first == 1 ? "IDAT" : "fdAT", data_);
    }

    Bytes head_;
    Bytes body_;    // all frames but the last
    Bytes control_; // of the last frame
    Bytes data_;
    int begun_ = 0;
    std::uint32_t frames_ = 0; // in the body
    std::uint32_t sequence_ = 0;
};

void requireAnimationName(const std::filesystem::path& file) {
    if (const std::string ending = endingOf(file); ending != ".webp" && ending != ".png")
        throw std::invalid_argument(
            fmt::format("a recording is an animated WebP or PNG; name the file {}, not {}",
                        std::filesystem::path(file).replace_extension(".webp").string(), file.string()));
}

Animation::Animation(std::filesystem::path file) : file_(std::move(file)) {
    requireAnimationName(file_);
    if (endingOf(file_) == ".webp")
        encoder_ = std::make_unique<WebPEncoder>();
    else
        encoder_ = std::make_unique<PngEncoder>();
}

Animation::~Animation() = default;

void Animation::add(const Pixels& frame, int milliseconds) {
    const Pixels next = fitted(frame);
    const bool first = shown_.rgba.empty();
    if (first) shown_ = next;
    if (next.width != shown_.width || next.height != shown_.height)
        throw std::runtime_error("all frames of an animation have one size");
    Pixels changed{next.width, next.height, std::vector<std::uint8_t>(next.rgba.size())};
    ImVec2 low{static_cast<float>(next.width), static_cast<float>(next.height)};
    ImVec2 high{};
    for (std::size_t i = 0; i < next.rgba.size(); i += 4) {
        const auto off = [&](std::size_t channel) {
            return std::abs(next.rgba[i + channel] - shown_.rgba[i + channel]);
        };
        if (!first && std::max({off(0), off(1), off(2)}) <= tolerance) continue;
        for (std::size_t channel = i; channel < i + 3 && !first; ++channel)
            shown_.rgba[channel] = static_cast<std::uint8_t>(
                std::min((next.rgba[channel] + tolerance / 2) / tolerance * tolerance, 255));
        std::copy_n(&shown_.rgba[i], 4, &changed.rgba[i]);
        const auto x = static_cast<float>(i / 4 % next.width);
        const auto y = static_cast<float>(i / 4 / next.width);
        low = {std::min(low.x, x), std::min(low.y, y)};
        high = {std::max(high.x, x + 1), y + 1};
    }
    if (high.x <= low.x) return;
    encoder_->add(shown_,
                  {cropped(std::move(changed), Place{low, high}), static_cast<std::uint32_t>(low.x),
                   static_cast<std::uint32_t>(low.y)},
                  milliseconds);
}

std::size_t Animation::save(int milliseconds) {
    if (shown_.rgba.empty())
        throw std::runtime_error(file_.string() + " was not written: nothing was recorded");
    const Bytes bytes = encoder_->finish(milliseconds);
    writeFileAtomically(file_, bytes);
    return bytes.size();
}

} // namespace lockstep::demos
