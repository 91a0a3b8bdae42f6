// Markdown in the window.
#pragma once

#include <filesystem>
#include <span>

#include "demos/draw/ui.h"
#include "demos/lesson/lesson_pictures.h"
#include "demos/telling/markdown.h"

namespace lockstep::demos {

/// Draws the blocks below each other, wrapped at the panel's edge. A link that is pressed becomes the Ui's
/// linkWish.
///   pictures, folder   those that are shown, and where their files are
void drawBlocks(Ui& ui, std::span<const TextBlock> blocks, LessonPictures& pictures,
                const std::filesystem::path& folder);

} // namespace lockstep::demos
