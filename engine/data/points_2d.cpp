#include "engine/data/points_2d.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include "engine/net/names.h"
#include "engine/net/random.h"

namespace lockstep {

namespace {

constexpr double turn = 2 * std::numbers::pi;

// The random numbers for one point.
struct Draw {
    std::uint64_t seed;
    std::uint64_t index;
    double noise;
    shared::Random4 place;  // where the point is
    shared::Random4 wobble; // how noise moves it

    std::uint32_t wantedClass(std::uint32_t classes) const {
        return static_cast<std::uint32_t>(index % classes);
    }
};

struct Place {
    double x;
    double y;
};

double between(double low, double high, std::uint32_t word) { return low + (high - low) * uniform01(word); }

double length(Place p) { return std::sqrt(p.x * p.x + p.y * p.y); }

// Angles as in TensorFlow Playground: from the y axis, clockwise.
Place polar(double radius, double angle) { return {radius * std::sin(angle), radius * std::cos(angle)}; }

// Moves the point uniformly by up to `reach` * noise along each axis.
Place moved(Place p, double reach, const Draw& draw) {
    const double most = reach * draw.noise;
    return {p.x + between(-most, most, draw.wobble.x), p.y + between(-most, most, draw.wobble.y)};
}

Place normalAround(Place centre, double variance, const Draw& draw) {
    const double deviation = std::sqrt(variance);
    return {centre.x + deviation * normalFromWords(draw.place.x, draw.place.y),
            centre.y + deviation * normalFromWords(draw.place.z, draw.place.w)};
}

LabelledPoint ofClass(Place p, std::uint32_t label) {
    return {static_cast<float>(p.x), static_cast<float>(p.y), label, 0};
}

LabelledPoint ofValue(Place p, double target) {
    return {static_cast<float>(p.x), static_cast<float>(p.y), 0, static_cast<float>(target)};
}

LabelledPoint circlePoint(const Draw& draw) {
    constexpr double radius = 5;
    const bool inside = draw.wantedClass(2) == 1;
    const double distance =
        inside ? between(0, radius * 0.5, draw.place.x) : between(radius * 0.7, radius, draw.place.x);
    const Place p = polar(distance, turn * uniform01(draw.place.y));
    return ofClass(p, length(moved(p, radius, draw)) < radius * 0.5 ? 1 : 0);
}

LabelledPoint xorPoint(const Draw& draw) {
    constexpr double reach = 5;
    constexpr double padding = 0.3;
    const double x = between(-reach, reach, draw.place.x);
    const double size = padding + between(0, reach, draw.place.y);
    // Half of all points have x y >= 0, so choosing the sign of y to suit the class keeps the distribution.
    const bool sameSign = draw.wantedClass(2) == 1;
    const Place p{x + (x > 0 ? padding : -padding), sameSign == (x > 0) ? size : -size};
    const Place noisy = moved(p, reach, draw);
    return ofClass(p, noisy.x * noisy.y >= 0 ? 1 : 0);
}

LabelledPoint gaussPoint(const Draw& draw) {
    const std::uint32_t label = draw.wantedClass(2);
    const double centre = label == 1 ? 2 : -2;
    return ofClass(normalAround({centre, centre}, 0.5 + 7 * draw.noise, draw), label);
}

// Multiples of the golden ratio, modulo 1, fill [0, 1) evenly for any number of points.
LabelledPoint spiralPoint(const Draw& draw, std::uint32_t arms, double turns) {
    const std::uint32_t label = draw.wantedClass(arms);
    const double start = uniform01(randomWords(draw.seed, RandomStream::data, 0, 1).x);
    const double position = start + static_cast<double>(draw.index / arms) * (std::numbers::phi - 1);
    const double along = position - std::floor(position);
    // Class 1 of two arms starts upwards, as in TensorFlow Playground.
    const double armAngle = turn * static_cast<double>(arms - 1 - label) / arms;
    return ofClass(moved(polar(5 * along, turns * turn * along + armAngle), 1, draw), label);
}

Place anywhere(double reach, const Draw& draw) {
    return {between(-reach, reach, draw.place.x), between(-reach, reach, draw.place.y)};
}

LabelledPoint planePoint(const Draw& draw) {
    const Place p = anywhere(6, draw);
    const Place noisy = moved(p, 6, draw);
    return ofValue(p, (noisy.x + noisy.y) / 10);
}

double bumps(Place p) {
    double strongest = 0;
    for (int column = -1; column <= 1; ++column)
        for (int row : {-1, 1}) {
            const double distance = length({p.x - 4.0 * column, p.y - 2.5 * row});
            const double height = std::max(0.0, 1 - distance / 2);
            const int sign = column == 0 ? -row : row;
            if (height > std::abs(strongest)) strongest = sign * height;
        }
    return strongest;
}

LabelledPoint multiGaussPoint(const Draw& draw) {
    const Place p = anywhere(6, draw);
    return ofValue(p, bumps(moved(p, 6, draw)));
}

LabelledPoint moonsPoint(const Draw& draw) {
    constexpr double radius = 3.5;
    const std::uint32_t label = draw.wantedClass(2);
    const double angle = turn / 2 * uniform01(draw.place.x);
    const double side = label == 0 ? 1 : -1; // the upper half circle, and the lower one
    const Place p{side * (std::cos(angle) * radius - radius / 2), side * (std::sin(angle) - 0.25) * radius};
    return ofClass(moved(p, 1, draw), label);
}

LabelledPoint checkerboardPoint(const Draw& draw) {
    constexpr double side = 3;
    const std::uint32_t label = draw.wantedClass(2);
    const std::uint32_t row = draw.place.z % 4;
    const std::uint32_t column = 2 * (draw.place.w % 2) + (row + label) % 2;
    const Place p{side * (column + uniform01(draw.place.x) - 2), side * (row + uniform01(draw.place.y) - 2)};
    return ofClass(moved(p, 1, draw), label);
}

LabelledPoint ringsPoint(const Draw& draw) {
    const std::uint32_t label = draw.wantedClass(3);
    const double radius = 1.25 + 1.75 * label + between(-0.25, 0.25, draw.place.x);
    return ofClass(moved(polar(radius, turn * uniform01(draw.place.y)), 1, draw), label);
}

LabelledPoint pinwheelPoint(const Draw& draw) {
    const std::uint32_t label = draw.wantedClass(5);
    const Place arm{3 + 0.9 * normalFromWords(draw.place.x, draw.place.y),
                    (0.2 + draw.noise) * normalFromWords(draw.place.z, draw.place.w)};
    const double angle = turn * label / 5 + 0.25 * std::exp(arm.x / 3);
    return ofClass({arm.x * std::cos(angle) - arm.y * std::sin(angle),
                    arm.x * std::sin(angle) + arm.y * std::cos(angle)},
                   label);
}

LabelledPoint blobsPoint(const Draw& draw) {
    const std::uint32_t label = draw.wantedClass(5);
    return ofClass(normalAround(polar(4, turn * label / 5), 0.4 + 4 * draw.noise, draw), label);
}

struct Generator {
    std::size_t classes;
    LabelledPoint (*point)(const Draw&);
};

// In the order of Points2d.
constexpr Generator generators[] = {
    {2, circlePoint},   {2, xorPoint},
    {2, gaussPoint},    {2, [](const Draw& draw) { return spiralPoint(draw, 2, 1.75); }},
    {0, planePoint},    {0, multiGaussPoint},
    {2, moonsPoint},    {2, checkerboardPoint},
    {3, ringsPoint},    {3, [](const Draw& draw) { return spiralPoint(draw, 3, 1); }},
    {5, pinwheelPoint}, {5, blobsPoint},
};
static_assert(std::size(generators) == points2dNames.size());

const Generator& generatorOf(Points2d set) { return generators[static_cast<std::size_t>(set)]; }

} // namespace

Points2d points2dFromName(std::string_view text) {
    const auto found = std::ranges::find(points2dNames, text);
    if (found == points2dNames.end()) throwUnknownName("set of points", text, points2dNames);
    return static_cast<Points2d>(found - points2dNames.begin());
}

std::size_t points2dClasses(Points2d set) { return generatorOf(set).classes; }

LabelledPoint point2d(Points2d set, std::uint64_t seed, std::uint64_t index, double noise) {
    return generatorOf(set).point({seed, index, noise, randomWords(seed, RandomStream::data, index),
                                   randomWords(seed, RandomStream::noise, index)});
}

} // namespace lockstep
