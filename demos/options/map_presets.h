// Named maps worth looking at.
#pragma once

#include <span>
#include <string_view>

#include "engine/grid/map.h"

namespace lockstep::demos {

struct MapPreset {
    std::string_view name;
    std::string_view summary; ///< a sentence without its full stop
    MapJob job;
    MapWindow window;
};

/// The first is what is shown without a choice.
std::span<const MapPreset> mapPresets();

/// Throws std::invalid_argument with the nearest right name.
const MapPreset& mapPresetFromName(std::string_view text);

} // namespace lockstep::demos
