// Points in the plane with a class or a value each, made by formulas: the sets of TensorFlow Playground
// (github.com/tensorflow/playground, src/dataset.ts) with the same geometry, and some more. A point is a pure
// function of (set, seed, index, noise): the first hundred points of a thousand are the same as those of a
// hundred.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lockstep {

/// In the order of their names in `points2dNames`. `noise` is in [0, 0.8]; the plane is about [-6, 6] x [-6,
/// 6]. Class of point k: k % classes (so the classes are interleaved), unless noise changes it (circle, xor).
enum class Points2d : std::uint32_t {
    // Of TensorFlow Playground, its class -1 being class 0 here and +1 class 1.
    circle, ///< a disc of radius 2.5 (class 1) inside a ring from 3.5 to 5 (class 0). Noise: the class is
            ///< that
            ///< of the point moved by +-5 noise
    exclusiveOr, ///< class 1 where x y >= 0, in [-5, 5] with a gap of 0.3 along both axes. Noise: as circle
    gauss,       ///< normal around (2, 2) (class 1) and (-2, -2) (class 0), variance 0.5 + 7 noise
    spiral,      ///< two arms, radius 0 to 5 over 1.75 turns, class 0 turned by half a turn. Noise: moved by
                 ///< +-noise.
    ///< Points are spread evenly along the arm by the golden ratio, from a place that the seed chooses
    plane, ///< value (x + y) / 10 of points in [-6, 6]. Noise: the value is that of the point moved by +-6
           ///< noise
    multiGauss, ///< six bumps at (+-4, +-2.5), (0, +-2.5), signs alternating: value +-(1 - distance / 2) of
                ///< the
                ///< strongest, 0 farther than 2 away. Noise: as plane
    // More. Noise: moved by +-noise, unless said otherwise.
    moons,        ///< two half circles of radius 3.5 that reach into each other
    checkerboard, ///< 4 x 4 squares of side 3
    rings,        ///< three classes on circles of radius 1.25, 3 and 4.75, each 0.5 wide
    spiral3,      ///< as spiral, with three arms of one turn
    pinwheel,     ///< five normal arms, sheared by their distance from the centre; noise adds to their width
    blobs,        ///< five normal blobs on a circle of radius 4, variance 0.4 + 4 noise
};

struct LabelledPoint {
    float x = 0;
    float y = 0;
    std::uint32_t label = 0; ///< class; 0 in regression
    float target = 0;        ///< value in [-1.2, 1.2] without noise; 0 for classes
};

/// "circle", "xor", "gauss", "spiral", "plane", "multi-gauss", "moons", "checkerboard", "rings", "spiral3",
/// "pinwheel", "blobs".
inline constexpr std::array<std::string_view, 12> points2dNames = {
    "circle", "xor",          "gauss", "spiral",  "plane",    "multi-gauss",
    "moons",  "checkerboard", "rings", "spiral3", "pinwheel", "blobs"};

/// Throws std::invalid_argument with the nearest right name.
Points2d points2dFromName(std::string_view text);

/// 2, 3 or 5; 0 for the sets with values.
std::size_t points2dClasses(Points2d set);

/// Point `index` of the set. Draws from the streams `data` (where the point is) and `noise`.
LabelledPoint point2d(Points2d set, std::uint64_t seed, std::uint64_t index, double noise);

} // namespace lockstep
