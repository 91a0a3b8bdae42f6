#include "engine/data/points_2d.h"

#include <cmath>
#include <numbers>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "tests/data_files.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

constexpr std::uint64_t count = 2000;

std::vector<LabelledPoint> make(Points2d set, double noise, std::uint64_t seed = 1) {
    std::vector<LabelledPoint> points;
    for (std::uint64_t k = 0; k < count; ++k) points.push_back(point2d(set, seed, k, noise));
    return points;
}

double radius(const LabelledPoint& p) { return std::hypot(double{p.x}, double{p.y}); }

// Mean and variance of one coordinate over the points of a class.
struct Moments {
    double mean = 0;
    double variance = 0;
};

Moments momentsOfX(const std::vector<LabelledPoint>& points, std::uint32_t label) {
    double sum = 0;
    double squares = 0;
    double n = 0;
    for (const LabelledPoint& p : points)
        if (p.label == label) {
            sum += p.x;
            squares += double{p.x} * p.x;
            n += 1;
        }
    return {sum / n, squares / n - sum / n * (sum / n)};
}

double shareChanged(Points2d set, double noise) {
    double changed = 0;
    for (std::uint64_t k = 0; k < count; ++k)
        if (point2d(set, 1, k, noise).label != k % points2dClasses(set)) changed += 1;
    return changed / count;
}

} // namespace

TEST_CASE("every name has a set, and a wrong name the nearest right one") {
    for (std::size_t i = 0; i < points2dNames.size(); ++i)
        CHECK(static_cast<std::size_t>(points2dFromName(points2dNames[i])) == i);
    CHECK(refusal([] {
              points2dFromName("spirall");
          }).starts_with("unknown set of points 'spirall'; did you mean 'spiral'?"));
}

TEST_CASE("a point is a pure function of seed and index, and seeds differ") {
    for (std::string_view name : points2dNames) {
        CAPTURE(name);
        const Points2d set = points2dFromName(name);
        const LabelledPoint once = point2d(set, 7, 123, 0.3);
        point2d(set, 7, 5, 0.3);
        const LabelledPoint again = point2d(set, 7, 123, 0.3);
        CHECK(once.x == again.x);
        CHECK(once.y == again.y);
        CHECK(once.target == again.target);
        const LabelledPoint other = point2d(set, 8, 123, 0.3);
        CHECK((once.x != other.x && once.y != other.y));
        CHECK(point2d(set, 7, 123, 0).x != point2d(set, 8, 123, 0).x);
    }
}

TEST_CASE("classes are interleaved, and points stay in the plane that is shown") {
    for (std::string_view name : points2dNames) {
        CAPTURE(name);
        const Points2d set = points2dFromName(name);
        const std::size_t classes = points2dClasses(set);
        const std::vector<LabelledPoint> points = make(set, 0);
        for (std::size_t k = 0; k < count; ++k) {
            CHECK(points[k].label == (classes == 0 ? 0 : k % classes));
            CHECK(std::abs(points[k].x) < 8);
            CHECK(std::abs(points[k].y) < 8);
        }
    }
}

TEST_CASE("circle: a disc and a ring around it; noise changes classes, not places") {
    for (const LabelledPoint& p : make(Points2d::circle, 0)) {
        const double r = radius(p);
        CHECK((p.label == 1 ? r < 2.5001 : r > 3.4999 && r < 5.0001));
    }
    CHECK(point2d(Points2d::circle, 1, 9, 0.5).x == point2d(Points2d::circle, 1, 9, 0).x);
    CHECK(shareChanged(Points2d::circle, 0.5) > 0.1);
    CHECK(shareChanged(Points2d::circle, 0.05) < 0.1);
}

TEST_CASE("xor: the class is the sign of the product, with a gap along the axes") {
    for (const LabelledPoint& p : make(Points2d::exclusiveOr, 0)) {
        CHECK(p.label == (p.x * p.y >= 0 ? 1 : 0));
        for (float coordinate : {p.x, p.y}) {
            CHECK(std::abs(coordinate) >= 0.2999F);
            CHECK(std::abs(coordinate) <= 5.3001F);
        }
    }
    CHECK(shareChanged(Points2d::exclusiveOr, 0.5) > 0.1);
}

TEST_CASE("gauss: means at 2 and -2, variance from 0.5 up to 4 at half noise") {
    for (double noise : {0.0, 0.5}) {
        const std::vector<LabelledPoint> points = make(Points2d::gauss, noise);
        const double variance = noise == 0 ? 0.5 : 4;
        for (std::uint32_t label : {0U, 1U}) {
            const Moments moments = momentsOfX(points, label);
            CHECK(moments.mean == doctest::Approx(label == 1 ? 2 : -2).epsilon(0.1));
            CHECK(moments.variance == doctest::Approx(variance).epsilon(0.15));
        }
    }
}

TEST_CASE("spiral: the angle grows with the radius, 1.75 turns over 5") {
    for (const auto& [set, arms, turns] :
         {std::tuple{Points2d::spiral, 2, 1.75}, std::tuple{Points2d::spiral3, 3, 1.0}})
        for (const LabelledPoint& p : make(set, 0)) {
            const double angle =
                2 * std::numbers::pi * (turns * radius(p) / 5 + (arms - 1.0 - p.label) / arms);
            CHECK(p.x == doctest::Approx(radius(p) * std::sin(angle)).scale(5).epsilon(1e-5));
            CHECK(p.y == doctest::Approx(radius(p) * std::cos(angle)).scale(5).epsilon(1e-5));
        }
}

TEST_CASE("spiral: points are spread evenly, and noise moves them by at most its size") {
    std::vector<int> tenths(10, 0);
    for (const LabelledPoint& p : make(Points2d::spiral, 0))
        ++tenths[static_cast<std::size_t>(radius(p) * 1.99999)];
    for (int inTenth : tenths) CHECK(std::abs(inTenth - 200) <= 6);
    for (std::uint64_t k = 0; k < count; ++k) {
        const LabelledPoint still = point2d(Points2d::spiral, 1, k, 0);
        const LabelledPoint noisy = point2d(Points2d::spiral, 1, k, 0.8);
        CHECK(std::abs(still.x - noisy.x) <= 0.8001F);
        CHECK(std::abs(still.y - noisy.y) <= 0.8001F);
    }
}

TEST_CASE("plane: a tenth of the sum; noise moves the value by at most 1.2 times itself") {
    for (const LabelledPoint& p : make(Points2d::plane, 0))
        CHECK(p.target == doctest::Approx((double{p.x} + p.y) / 10).epsilon(1e-5));
    for (const LabelledPoint& p : make(Points2d::plane, 0.5))
        CHECK(std::abs(p.target - (p.x + p.y) / 10) <= 0.6001F);
}

TEST_CASE("multi-gauss: 1 at the bumps' centres, with alternating signs, and 0 far from them") {
    std::set<int> seen;
    for (const LabelledPoint& p : make(Points2d::multiGauss, 0)) {
        const double column = std::round(p.x / 4);
        const double row = p.y > 0 ? 1 : -1;
        const double distance = std::hypot(p.x - 4 * column, p.y - 2.5 * row);
        const double sign = (column == 0 ? -1 : 1) * row;
        const double expected = distance < 2 ? sign * (1 - distance / 2) : 0;
        CHECK(p.target == doctest::Approx(expected).scale(1).epsilon(1e-5));
        if (distance < 1) seen.insert(static_cast<int>(column * 3 + row));
    }
    CHECK(seen.size() == 6);
}

TEST_CASE("moons, rings and checkerboard lie where they are said to lie") {
    for (const LabelledPoint& p : make(Points2d::moons, 0)) {
        const double side = p.label == 0 ? 1 : -1;
        CHECK(std::hypot(p.x + side * 1.75, p.y + side * 0.875) == doctest::Approx(3.5).epsilon(1e-5));
        CHECK(side * (p.y + side * 0.875) >= -1e-5);
    }
    for (const LabelledPoint& p : make(Points2d::rings, 0))
        CHECK(std::abs(radius(p) - (1.25 + 1.75 * p.label)) <= 0.2501);
    std::set<int> squares;
    for (const LabelledPoint& p : make(Points2d::checkerboard, 0)) {
        const int column = static_cast<int>(std::floor(p.x / 3)) + 2;
        const int row = static_cast<int>(std::floor(p.y / 3)) + 2;
        CHECK((column + row) % 2 == static_cast<int>(p.label));
        squares.insert(4 * row + column);
    }
    CHECK(squares.size() == 16);
}

TEST_CASE("blobs and pinwheel: five groups, each nearest to its own centre") {
    for (const LabelledPoint& p : make(Points2d::blobs, 0)) {
        const double angle = 2 * std::numbers::pi * p.label / 5;
        CHECK(std::hypot(p.x - 4 * std::sin(angle), p.y - 4 * std::cos(angle)) < 0.64 * 5);
    }
    for (const LabelledPoint& p : make(Points2d::pinwheel, 0)) {
        // Undo the bend: the arms are straight again.
        const double back = -2 * std::numbers::pi * p.label / 5 - 0.25 * std::exp(radius(p) / 3);
        const double y = p.x * std::sin(back) + p.y * std::cos(back);
        CHECK(std::abs(y) < 1.5);
    }
}
