// The window's letters: Inter where it is installed, and DejaVu Sans for the signs that Inter lacks.
#pragma once

#include <memory>
#include <string>

#include <imgui.h>

#include "demos/draw/picture.h"

namespace lockstep::demos {

/// The hierarchy of text: a screen has at most one headline, a panel one title.
struct Fonts {
    ImFont* headline = nullptr; ///< 1.9 times the body
    ImFont* title = nullptr;    ///< 1.4 times
    ImFont* body = nullptr;
    ImFont* strong = nullptr; ///< the body's size, semi-bold: headings
    ImFont* small = nullptr;  ///< 0.875 times: axes, legends, captions; muted
    ImFont* mono = nullptr;   ///< source code and aligned figures
};

/// The files of letters that are used, a line each: name and size in bytes.
std::string fontFiles();

/// The body's letters of `pixels` height.
/// oversample   columns of the atlas' picture per pixel: 1 for who draws letters without a window
ImFont* addBodyFont(ImFontAtlas& atlas, float pixels, int oversample);

/// Bakes all fonts for a body of `pixels` height and shows ImGui the picture of their `letters`.
Fonts bakeFonts(Graphics& graphics, float pixels, std::unique_ptr<Picture>& letters);

} // namespace lockstep::demos
