// Animated pictures for slides and web pages: WebP, or PNG with several frames (APNG).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "demos/draw/png.h"

namespace lockstep::demos {

/// Throws std::invalid_argument unless the name ends in .webp or .png.
void requireAnimationName(const std::filesystem::path& file);

/// What encodes the frames of one format, as they come.
class FrameEncoder;

/// Encodes frames as they are added, and keeps them in memory until save(). The first frame is exact. In
/// later ones no channel of a pixel is more than `tolerance` of 255 off: a pixel that is this close to the
/// shown one stays as it is, and one that changes is rounded, which makes smooth moving pictures half as
/// large.
class Animation {
  public:
    static constexpr std::uint32_t mostWidth = 1280; ///< wider frames are scaled down
    static constexpr int tolerance = 4;

    /// Throws as requireAnimationName().
    explicit Animation(std::filesystem::path file);
    ~Animation();
    Animation(const Animation&) = delete;
    Animation& operator=(const Animation&) = delete;

    /// Shows `frame` from that time on; the first one is at 0, and all have one size. A frame that shows
    /// nothing new only makes the last one longer. Throws std::runtime_error.
    void add(const Pixels& frame, int milliseconds);
    /// Ends the last frame and writes the file atomically. Returns its size in bytes. Throws
    /// std::runtime_error with the file and the reason, also when there is no frame.
    std::size_t save(int milliseconds);

    /// Pixels that have changed in all frames so far: an upper bound on memory and the file, at 4 bytes each.
    std::uint64_t changedPixels() const { return changedPixels_; }

  private:
    std::filesystem::path file_;
    std::unique_ptr<FrameEncoder> encoder_;
    Pixels shown_;
    std::uint64_t changedPixels_ = 0;
};

} // namespace lockstep::demos
