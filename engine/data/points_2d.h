// Generated 2-D points, each with a class or a value: the sets of TensorFlow Playground
// (github.com/tensorflow/playground, src/dataset.ts) with the same geometry, and some more. A point is a pure
// function of (set, seed, index, noise), so a set of 1,000 points begins with the points of a set of 100.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lockstep {

/// In the order of `points2dNames`. Coordinates lie roughly in [-6, 6] x [-6, 6]; `noise` ranges from 0 to
/// 0.8. Point k has class k % classes, so classes are interleaved, unless noise changes it (circle, xor).
enum class Points2d : std::uint32_t {
    // From TensorFlow Playground; its class -1 is class 0 here.

    /// A disc of radius 2.5 (class 1) inside a ring from 3.5 to 5 (class 0).
    /// Noise: the class is that of the point moved by at most 5 noise along each axis.
    circle,
    /// Class 1 where x y >= 0, in [-5.3, 5.3] without a gap of 0.3 on both sides of the axes.
    /// Noise: as circle.
    exclusiveOr,
    /// Normal around (2, 2) (class 1) and (-2, -2) (class 0), variance 0.5 + 7 noise.
    gauss,
    /// Two arms, radius 0 to 5 over 1.75 turns, class 0 rotated by half a turn. The golden ratio spreads
    /// points evenly along an arm; the seed chooses where they start.
    /// Noise: the point is moved by at most `noise` along each axis.
    spiral,
    /// Value (x + y) / 10 of points in [-6, 6].
    /// Noise: the value is that of the point moved by at most 6 noise along each axis.
    plane,
    /// Six bumps, at (-4, 0 or 4, +-2.5), with alternating signs: value +-(1 - distance / 2), and 0
    /// farther than 2 from all of them. Noise: as plane.
    multiGauss,

    // Further sets. Noise as for spiral unless stated otherwise.

    /// Two interlocking half circles of radius 3.5.
    moons,
    /// 4 x 4 squares of side 3 with alternating classes.
    checkerboard,
    /// Three classes on circles of radius 1.25, 3 and 4.75, each 0.5 wide.
    rings,
    /// As spiral, with three arms of one turn each.
    spiral3,
    /// Five normally distributed arms that bend more with distance. Noise: widens them.
    pinwheel,
    /// Five normal blobs on a circle of radius 4, variance 0.4 + 4 noise.
    blobs,
};

struct LabelledPoint {
    float x = 0;
    float y = 0;
    std::uint32_t label = 0; ///< class; 0 in regression
    float target = 0;        ///< value in [-1.2, 1.2] without noise; 0 for classes

    bool operator==(const LabelledPoint&) const = default;
};

inline constexpr std::array<std::string_view, 12> points2dNames = {
    "circle", "xor",          "gauss", "spiral",  "plane",    "multi-gauss",
    "moons",  "checkerboard", "rings", "spiral3", "pinwheel", "blobs"};

/// Throws std::invalid_argument for an unknown name; the message suggests the nearest one.
Points2d points2dFromName(std::string_view text);

/// 2, 3 or 5; 0 for regression sets.
std::size_t points2dClasses(Points2d set);

/// Generates point `index` of the set. Draws from the streams `data` (the position) and `noise`.
LabelledPoint point2d(Points2d set, std::uint64_t seed, std::uint64_t index, double noise);

} // namespace lockstep
