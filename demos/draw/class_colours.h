// The colours of classes and values, on maps of the plane and of points on them.
#pragma once

#include <cstddef>

#include "demos/draw/theme.h"
#include "engine/plane/plane_colours.h"

namespace lockstep::demos {

/// Orange, blue, ... : the class's colour on a map and of its points.
ImU32 classColour(const Theme& theme, std::size_t index);

/// Of a map; `discretise` shows the answer alone, not how sure it is.
PlaneColours planeColours(const Theme& theme, bool discretise = false);

} // namespace lockstep::demos
