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

/// Encodes frames as they are added, and keeps them in memory until save(). The first frame is exact. In
/// later ones no channel is more than `tolerance` of 255 off: a pixel that is this close to the shown one
/// stays, and one that changes is rounded. Smooth moving pictures become half as large by that.
class Animation {
  public:
    static constexpr std::uint32_t mostWidth = 1280; ///< wider frames are scaled down
    static constexpr int tolerance = 4;

    /// Throws as requireAnimationName().
    explicit Animation(std::filesystem::path file);
    ~Animation();

    /// Shows `frame` from that time on; the first one is at 0, and all have one size. A frame that shows
    /// nothing new only makes the last one longer. Throws std::runtime_error.
    void add(const Pixels& frame, int milliseconds);
    /// Ends the last frame and writes the file atomically. Returns its size in bytes. Throws
    /// std::runtime_error with the file and the reason, also when there is no frame.
    std::size_t save(int milliseconds);

  private:
    class Encoder; // of one format
    class WebPEncoder;
    class PngEncoder;

    std::filesystem::path file_;
    std::unique_ptr<Encoder> encoder_;
    Pixels shown_;
};

} // namespace lockstep::demos
