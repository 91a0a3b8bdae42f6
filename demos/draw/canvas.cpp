#include "demos/draw/canvas.h"

#include <cmath>

#include <imgui_internal.h>

#include "demos/draw/fonts.h"

namespace lockstep::demos {

namespace {

/// Calls visit(letter) for every letter of UTF-8; damaged bytes are letters that no font has.
template <class Visit> void eachLetter(std::string_view text, Visit visit) {
    for (std::size_t at = 0; at < text.size();) {
        unsigned int letter = 0;
        at += static_cast<std::size_t>(
            ImTextCharFromUtf8(&letter, text.data() + at, text.data() + text.size()));
        visit(static_cast<ImWchar>(letter));
    }
}

} // namespace

Letters::Letters(float pixels) : font_(addBodyFont(atlas_, pixels, 1)) {
    unsigned char* coverage = nullptr;
    atlas_.GetTexDataAsAlpha8(&coverage, &coverageWidth_, &coverageHeight_);
    coverage_ = coverage;
}

float Letters::width(std::string_view text) const {
    float sum = 0;
    eachLetter(text, [&](ImWchar letter) { sum += font_->FindGlyph(letter)->AdvanceX; });
    return sum;
}

Canvas::Canvas(std::uint32_t width, std::uint32_t height, ImU32 background) {
    pixels_.width = width;
    pixels_.height = height;
    pixels_.rgba.resize(std::size_t{width} * height * 4);
    fill(0, 0, width, height, background);
}

void Canvas::fill(std::uint32_t x, std::uint32_t y, std::uint32_t width, std::uint32_t height, ImU32 colour) {
    for (std::uint32_t row = y; row < y + height; ++row)
        for (std::uint32_t column = x; column < x + width; ++column) set(column, row, colour, 1);
}

void Canvas::picture(std::uint32_t x, std::uint32_t y, std::uint32_t width,
                     std::span<const std::uint32_t> words) {
    for (std::size_t i = 0; i < words.size(); ++i)
        set(static_cast<std::int64_t>(x + i % width), static_cast<std::int64_t>(y + i / width), words[i], 1);
}

void Canvas::text(const Letters& letters, float x, float y, std::string_view text, ImU32 colour) {
    eachLetter(text, [&](ImWchar letter) {
        const ImFontGlyph& glyph = *letters.font_->FindGlyph(letter);
        const auto left = static_cast<std::int64_t>(std::lround(x + glyph.X0));
        const auto top = static_cast<std::int64_t>(std::lround(y + glyph.Y0));
        const auto fromX = std::lround(glyph.U0 * static_cast<float>(letters.coverageWidth_));
        const auto toX = std::lround(glyph.U1 * static_cast<float>(letters.coverageWidth_));
        const auto fromY = std::lround(glyph.V0 * static_cast<float>(letters.coverageHeight_));
        const auto toY = std::lround(glyph.V1 * static_cast<float>(letters.coverageHeight_));
        for (auto row = fromY; row < toY; ++row)
            for (auto column = fromX; column < toX; ++column)
                set(left + column - fromX, top + row - fromY, colour,
                    static_cast<float>(letters.coverage_[row * letters.coverageWidth_ + column]) / 255.0f);
        x += glyph.AdvanceX;
    });
}

void Canvas::set(std::int64_t x, std::int64_t y, ImU32 colour, float cover) {
    if (x < 0 || y < 0 || x >= pixels_.width || y >= pixels_.height) return;
    std::uint8_t* pixel = &pixels_.rgba[static_cast<std::size_t>((y * pixels_.width + x) * 4)];
    for (int channel = 0; channel < 3; ++channel) {
        const auto wanted = static_cast<float>(colour >> (8 * channel) & 0xFF);
        const auto there = static_cast<float>(pixel[channel]);
        pixel[channel] = static_cast<std::uint8_t>(std::lround(there + (wanted - there) * cover));
    }
    pixel[3] = 0xFF;
}

} // namespace lockstep::demos
