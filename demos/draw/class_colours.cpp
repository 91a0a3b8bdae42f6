#include "demos/draw/class_colours.h"

#include <iterator>

namespace lockstep::demos {

ImU32 classColour(const Theme& theme, std::size_t index) {
    if (index == 0) return signedColour(theme, -1);
    if (index == 1) return signedColour(theme, 1);
    constexpr std::size_t own = 6; // that the theme has
    if (index < own) return seriesColour(theme, index);
    return mixed(seriesColour(theme, index - own), theme.dark ? theme.text : theme.muted, 0.55f);
}

PlaneColours planeColours(const Theme& theme, bool discretise) {
    PlaneColours colours{};
    colours.negative = signedColour(theme, -1);
    colours.zero = signedColour(theme, 0);
    colours.positive = signedColour(theme, 1);
    colours.background = theme.panel;
    for (std::size_t i = 0; i < std::size(colours.classes); ++i) colours.classes[i] = classColour(theme, i);
    colours.discretise = discretise;
    return colours;
}

} // namespace lockstep::demos
