// The inputs of a network that looks at points in the plane: coordinates, or simple functions of them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "shaders/shared/params.h"

namespace lockstep {

/// The features of the TensorFlow Playground. Sines are of the coordinate itself, in radians.
enum class PlaneFeature : std::uint32_t {
    x = shared::planeX,
    y = shared::planeY,
    xx = shared::planeXX,
    yy = shared::planeYY,
    xy = shared::planeXY,
    sinX = shared::planeSinX,
    sinY = shared::planeSinY,
};

/// All of them, in the order of the enumeration.
std::span<const PlaneFeature> allPlaneFeatures();

/// The value of one feature at a point.
float planeFeature(PlaneFeature feature, float x, float y);

/// The values of `features` at a point, in their order: a network's inputs.
std::vector<float> planeFeatures(float x, float y, std::span<const PlaneFeature> features);

/// The features as shaders read them: 4 bits each, the first in the lowest (PlaneInputsParams::kinds).
std::uint32_t packedFeatures(std::span<const PlaneFeature> features);

/// As settings write it: "x", "y", "xx", "yy", "xy", "sin-x", "sin-y".
std::string_view name(PlaneFeature feature);
/// Throws std::invalid_argument, which lists the names and suggests the nearest.
PlaneFeature planeFeatureFromName(std::string_view text);

} // namespace lockstep
