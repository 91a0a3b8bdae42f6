// The panels beside an exhibit: which of them a window has room for.
#pragma once

#include "demos/draw/ui.h"

namespace lockstep::demos {

/// Widths in pixels, 0 where there is none.
struct SidePanels {
    float list = 0;    ///< of exhibits, on the left
    float details = 0; ///< on the right
};

/// What an exhibit needs comes first; the details go, then the list (menus and keys have both).
inline SidePanels sidePanels(const Ui& ui) {
    const float room = ImGui::GetIO().DisplaySize.x - ui.px(420);
    SidePanels panels;
    if (!ui.presenter && room >= ui.px(212)) panels.list = ui.px(212);
    if (!ui.presenter && room >= ui.px(212 + 286)) panels.details = ui.px(286);
    return panels;
}

} // namespace lockstep::demos
