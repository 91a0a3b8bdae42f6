// Animated pictures as tests want them: every frame as it is shown, and for how long.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace lockstep::test {

struct ShownFrame {
    int milliseconds = 0;
    std::vector<std::uint8_t> rgba; ///< of the whole picture, row by row from the top
};

struct ReadAnimation {
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    std::vector<ShownFrame> frames;

    int milliseconds() const {
        int sum = 0;
        for (const ShownFrame& frame : frames) sum += frame.milliseconds;
        return sum;
    }
};

/// By libwebp's own decoder. Throws std::runtime_error.
ReadAnimation readWebP(const std::filesystem::path& file);
/// Checks the order of the chunks and every sum over them, turns each frame into a PNG of its own, reads
/// that, and puts it over the frames before. Throws std::runtime_error.
ReadAnimation readApng(const std::filesystem::path& file);

} // namespace lockstep::test
