// The colours of the window, light and dark, and what they mean.
#pragma once

#include <cstddef>

#include <imgui.h>

#include "engine/plane/plane_colours.h"

namespace lockstep::demos {

/// Okabe and Ito's colours, which people with any kind of colour vision can tell apart. Each machine has one
/// and always a second cue beside it (a label, a dash, a shape).
struct Theme {
    bool dark = true;
    ImU32 background = 0; ///< behind everything
    ImU32 panel = 0;      ///< side panels and bars
    ImU32 raised = 0;     ///< cards, fields, buttons
    ImU32 hovered = 0;    ///< the same under the mouse
    ImU32 border = 0;     ///< hairlines
    ImU32 grid = 0;       ///< lines of plots
    ImU32 text = 0;
    ImU32 muted = 0;    ///< text of second rank
    ImU32 accent = 0;   ///< what is selected or primary; no machine's colour
    ImU32 onAccent = 0; ///< text on it
    ImU32 cpu = 0;
    ImU32 gpu = 0;
    ImU32 good = 0;
    ImU32 warning = 0;
    ImU32 bad = 0;
};

Theme makeTheme(bool dark);

/// Colour of the n-th of several series that are no machines.
ImU32 seriesColour(const Theme& theme, std::size_t index);

/// Contrast of two opaque colours, from 1 to 21 (WCAG 2.1, "contrast ratio").
float contrast(ImU32 a, ImU32 b);
/// `colour` for letters: at least 4.5 : 1 on everything that text lies on, and no further from its hue than
/// that takes. Lines and areas need less.
ImU32 legible(const Theme& theme, ImU32 colour);

/// The same colour, its opacity times `share` (0 to 1).
ImU32 faded(ImU32 colour, float share);
/// Between two colours: 0 the first, 1 the second.
ImU32 mixed(ImU32 a, ImU32 b, float share);

/// Blue - white - orange for signed values in [-1, 1], clamped (white is the theme's background in the dark).
ImU32 signedColour(const Theme& theme, float value);
/// Viridis for values in [0, 1], clamped.
ImU32 viridis(float value);

/// Sets ImGui's colours, spacing and rounding; sizes times `scale`.
void applyTheme(const Theme& theme, float scale);

/// Orange, blue, ... : the class's colour on a map and of its points.
ImU32 classColour(const Theme& theme, std::size_t index);

/// The colours of a map; `discretise` shows the answer alone, not how sure it is.
PlaneColours planeColours(const Theme& theme, bool discretise = false);

} // namespace lockstep::demos
