// Drawing on pixels without a window or a device: areas, pictures and letters.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <imgui.h>

#include "demos/draw/png.h"

namespace lockstep::demos {

/// Letters of one size, as coverage.
class Letters {
  public:
    explicit Letters(float pixels);
    Letters(const Letters&) = delete;
    Letters& operator=(const Letters&) = delete;
    float height() const { return font_->FontSize; }
    float width(std::string_view text) const;

  private:
    friend class Canvas;
    ImFontAtlas atlas_;
    ImFont* font_ = nullptr;
    const std::uint8_t* coverage_ = nullptr; // of all letters, in one picture, as the atlas owns it
    int coverageWidth_ = 0;
    int coverageHeight_ = 0;
};

/// Coordinates are pixels from the upper left; anything outside is clipped. Colours are ImGui's, without
/// their opacity.
class Canvas {
  public:
    Canvas(std::uint32_t width, std::uint32_t height, ImU32 background);
    void fill(std::uint32_t x, std::uint32_t y, std::uint32_t width, std::uint32_t height, ImU32 colour);
    /// words   0xAABBGGRR, row by row from the top
    void picture(std::uint32_t x, std::uint32_t y, std::uint32_t width, std::span<const std::uint32_t> words);
    /// `y` is the top of the line.
    void text(const Letters& letters, float x, float y, std::string_view text, ImU32 colour);
    Pixels take() { return std::move(pixels_); }

  private:
    void set(std::int64_t x, std::int64_t y, ImU32 colour, float cover);

    Pixels pixels_;
};

} // namespace lockstep::demos
