// Markdown in the window.
#pragma once

#include <span>

#include "demos/draw/ui.h"
#include "demos/lesson/markdown.h"

namespace lockstep::demos {

/// Draws the blocks below each other, wrapped at the panel's edge.
void drawBlocks(Ui& ui, std::span<const TextBlock> blocks);

} // namespace lockstep::demos
