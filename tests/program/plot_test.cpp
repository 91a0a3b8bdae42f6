// The arithmetic of the plots.
#include <algorithm>
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "demos/draw/plot_math.h"

using namespace lockstep::demos;

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<std::string> labels(PlotRange range, bool log, std::size_t most) {
    std::vector<std::string> result;
    for (const PlotTick& tick : plotTicks(range, log, most))
        if (!tick.label.empty()) result.push_back(tick.label);
    return result;
}

using Labels = std::vector<std::string>;

} // namespace

TEST_CASE("positions: the value or its logarithm, and NaN for what cannot be shown") {
    CHECK(axisPosition(-3, false) == -3);
    CHECK(axisPosition(1000, true) == doctest::Approx(3));
    CHECK(axisValue(axisPosition(0.025, true), true) == doctest::Approx(0.025));
    for (const double value : {0.0, -1.0, missing, infinity}) CHECK(std::isnan(axisPosition(value, true)));
    for (const double value : {missing, infinity, -infinity}) CHECK(std::isnan(axisPosition(value, false)));
}

TEST_CASE("ticks are round, within the range, and written alike") {
    CHECK(labels({0, 1}, false, 5) == Labels{"0", "0.2", "0.4", "0.6", "0.8", "1.0"});
    CHECK(plotTicks({0, 1}, false, 5, true).size() == 2); // whole numbers
    CHECK(labels({0, 469}, false, 5) == Labels{"0", "100", "200", "300", "400"});
    CHECK(labels({-1, 1}, false, 4) == Labels{"-1.0", "-0.5", "0", "0.5", "1.0"});
    CHECK(labels({0, 30000}, false, 3) == Labels{"0", "10k", "20k", "30k"});
    CHECK(labels({0, 2.5e6}, false, 5) == Labels{"0", "0.5M", "1.0M", "1.5M", "2.0M", "2.5M"});
    CHECK(labels({0.4142, 0.4151}, false, 10).front() == "0.4142");
    CHECK(labels({0, 4e-5}, false, 4) == Labels{"0", "10⁻⁵", "2·10⁻⁵", "3·10⁻⁵", "4·10⁻⁵"});
    CHECK(labels({0, 3e13}, false, 3) == Labels{"0", "10¹³", "2·10¹³", "3·10¹³"});
}

TEST_CASE("ticks of a logarithmic axis: powers of ten, more between them where there is room") {
    CHECK(labels({-2, 3}, true, 8) == Labels{"0.01", "0.1", "1", "10", "100", "1000"});
    CHECK(labels({0, 1}, true, 6) == Labels{"1", "2", "5", "10"});
    CHECK(labels({-6, 6}, true, 5) == Labels{"10⁻⁶", "0.001", "1", "1000", "1M"});
    CHECK(plotTicks({0, 1}, true, 6).size() == 10); // 1 to 9 and 10, not all of them labelled
    // Half a decade is labelled as a linear axis, at logarithmic places.
    const auto narrow = plotTicks({std::log10(2.0), std::log10(3.0)}, true, 5);
    REQUIRE(narrow.size() >= 5);
    CHECK(narrow.front().position == doctest::Approx(std::log10(2.0)));
    CHECK(narrow.front().label == "2.0");
}

TEST_CASE("ticks never run away") {
    CHECK(plotTicks({0, 0}, false, 5).empty());
    CHECK(plotTicks({1, 0}, false, 5).empty());
    CHECK(plotTicks({0, infinity}, false, 5).empty());
    CHECK(plotTicks({missing, 1}, true, 5).empty());
    CHECK(plotTicks({-300, 300}, true, 5).size() < 700);
    for (const double size : {1e-300, 1e-9, 1.0, 1e9, 1e300})
        for (const std::size_t most : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{30}}) {
            const auto ticks = plotTicks({-size / 3, size}, false, most);
            CHECK(ticks.size() <= 2 * most + 3);
            for (const PlotTick& tick : ticks) CHECK(tick.position <= size * 1.0001);
        }
}

TEST_CASE("numbers for people have four digits at most") {
    CHECK(plotNumber(0) == "0");
    CHECK(plotNumber(469) == "469");
    CHECK(plotNumber(12345) == "12345");
    CHECK(plotNumber(0.412349) == "0.4123");
    CHECK(plotNumber(0.362) == "0.3620"); // in a column with others
    CHECK(plotNumber(999.97) == "1000");
    CHECK(plotNumber(123456) == "123.5k");
    CHECK(plotNumber(2.5e6) == "2.5M");
    CHECK(plotNumber(-3.14159e-7) == "-3.14·10⁻⁷");
    CHECK(plotNumber(missing) == "-");
    CHECK(plotNumber(83, true) == "83.00"); // below 82.33
}

TEST_CASE("what fits: all that can be drawn, with a margin, never empty") {
    const double values[] = {missing, -1, 0, 10, 1000, infinity};
    CHECK(plotExtent(values, false)->low == -1);
    CHECK(plotExtent(values, false)->high == 1000);
    CHECK(plotExtent(values, true)->low == doctest::Approx(1));
    const double none[] = {missing, -1, 0};
    CHECK_FALSE(plotExtent(none, true).has_value());
    CHECK_FALSE(united(std::nullopt, std::nullopt).has_value());
    CHECK(united(PlotRange{0, 1}, std::nullopt)->high == 1);
    CHECK(united(PlotRange{0, 1}, PlotRange{-5, 0.5})->low == -5);
    CHECK(withMargin({0.1, 2}, false).low == 0);
    CHECK(withMargin({1.9, 2}, false).low < 1.9);
    CHECK(withMargin({1.9, 2}, false).low > 1.8);
    for (const double same : {0.0, 7.0, -1e-9, 1e20}) CHECK(withMargin({same, same}, false).span() > 0);
    CHECK(withMargin({0, 0}, false).low == 0);
    CHECK(withMargin({2, 2}, true).span() == doctest::Approx(1));
}

TEST_CASE("zooming keeps the place under the mouse and stops before doubles do") {
    const PlotRange closer = zoomed({0, 10}, 2.5, 0.5);
    CHECK(closer.low == doctest::Approx(1.25));
    CHECK(closer.high == doctest::Approx(6.25));
    PlotRange range{1, 2};
    for (int i = 0; i < 1000; ++i) range = zoomed(range, 1.3, 0.5);
    CHECK(range.span() > 0);
    for (int i = 0; i < 10000; ++i) range = zoomed(range, 1.3, 2);
    CHECK(std::isfinite(range.span()));
}

TEST_CASE("smoothing: no bias at the start, gaps stay gaps") {
    const double values[] = {2, 2, missing, 2, 4};
    const auto same = smoothed(values, 0);
    CHECK(same[4] == 4);
    const auto mean = smoothed(values, 0.9);
    CHECK(mean[0] == doctest::Approx(2));
    CHECK(mean[1] == doctest::Approx(2));
    CHECK(std::isnan(mean[2]));
    CHECK(mean[3] == doctest::Approx(2));
    CHECK(mean[4] > 2);
    CHECK(mean[4] < 4);
    // The second value counts 8/9 at least, later ones as the weight says.
    const double steps[] = {0, 3};
    CHECK(smoothed(steps, 0.5)[1] == doctest::Approx(3 * 8.0 / 9));
    CHECK(smoothed(steps, 0.05)[1] == doctest::Approx(3 * 0.95));
    // A steep fall is followed from the start.
    std::vector<double> fall;
    for (int i = 1; i <= 100; ++i) fall.push_back(1.0 / i);
    const auto followed = smoothed(fall, 0.99);
    for (std::size_t i = 0; i < fall.size(); ++i) CHECK(followed[i] < 1.2 * fall[i]);
}

TEST_CASE("decimation: at most one pair per pixel column, and no peak is lost") {
    std::vector<double> x;
    std::vector<double> y;
    for (int i = 0; i < 100000; ++i) {
        x.push_back(i);
        y.push_back(i == 54321 ? 99.0 : std::sin(i * 0.7));
    }
    const auto points = decimated(x, y, false, false, {0, 99999}, 500);
    CHECK(points.size() <= 2 * 502);
    CHECK(points.size() >= 500);
    CHECK(std::ranges::any_of(points, [](const PlotPoint& point) { return point.y == 99; }));
    CHECK(points.front().begins);
    for (std::size_t i = 1; i < points.size(); ++i) {
        CHECK(points[i].x > points[i - 1].x);
        CHECK_FALSE(points[i].begins);
    }
}

TEST_CASE("decimation: few samples stay as they are, lines lead beyond the edges") {
    const double x[] = {0, 1, 2, 3, 4, 5};
    const double y[] = {5, 4, 3, 2, 1, 0};
    CHECK(decimated(x, y, false, false, {0, 5}, 600).size() == 6);
    const auto middle = decimated(x, y, false, false, {2.2, 2.8}, 600);
    REQUIRE(middle.size() == 2);
    CHECK(middle[0].x == 2);
    CHECK(middle[1].x == 3);
    CHECK(decimated(x, y, false, false, {0, 0}, 600).empty());
    CHECK(decimated({}, {}, false, false, {0, 1}, 600).empty());
    CHECK(decimated(x, y, false, false, {6, 7}, 10).size() == 1); // the one before
}

TEST_CASE("decimation: gaps break the line; a logarithm skips what it cannot show") {
    const double x[] = {0, 1, 2, 3, 4};
    const double y[] = {1, 2, missing, 4, -1};
    const auto points = decimated(x, y, false, true, {0, 4}, 100);
    REQUIRE(points.size() == 3);
    CHECK(points[0].begins);
    CHECK_FALSE(points[1].begins);
    CHECK(points[2].begins);
    CHECK(points[2].y == doctest::Approx(std::log10(4.0)));
    const auto logX = decimated(x, y, true, false, {0, 1}, 100);
    REQUIRE(logX.size() == 3);
    CHECK(logX[0].x == 0);
}

TEST_CASE("the nearest sample that can be drawn") {
    const double x[] = {1, 10, 100, 1000};
    const double y[] = {1, missing, 3, 4};
    CHECK(nearestSample(x, y, false, false, 11) == 0);
    CHECK(nearestSample(x, y, false, false, 80) == 2);
    CHECK(nearestSample(x, y, false, false, -5) == 0);
    CHECK(nearestSample(x, y, false, false, 5000) == 3);
    CHECK(nearestSample(x, y, true, false, 1.4) == 2); // 25 on a logarithmic axis
    CHECK_FALSE(nearestSample({}, {}, false, false, 1).has_value());
}

TEST_CASE("labels are moved apart, and stay within their room") {
    PlotLabel labels[] = {{0, 10, 50}, {0, 10, 52}, {20, 30, 51}, {0, 10, 99}};
    moveApart(labels, 10, 0, 100);
    CHECK(labels[1].centre - labels[0].centre >= 10);
    CHECK(labels[2].centre == 51); // beside the others
    CHECK(labels[3].centre == 95);
    PlotLabel crowded[] = {{0, 10, 95}, {0, 10, 96}, {0, 10, 97}};
    moveApart(crowded, 10, 0, 100);
    CHECK(crowded[0].centre == doctest::Approx(75));
    CHECK(crowded[1].centre == doctest::Approx(85));
    CHECK(crowded[2].centre == doctest::Approx(95));
}

TEST_CASE("CSV: one row per x, exact numbers, empty cells for what is missing") {
    const double x1[] = {1, 2, 4};
    const double y1[] = {0.1, missing, 1.0 / 3};
    const double x2[] = {2, 3};
    const double y2[] = {20, 30};
    const PlotLine lines[] = {{.name = "cpu:best", .x = x1, .y = y1},
                              {.name = "a \"b\", c", .x = x2, .y = y2}};
    CHECK(plotCsv("step", lines) == "step,cpu:best,\"a \"\"b\"\", c\"\n"
                                    "1,0.1,\n"
                                    "2,,20\n"
                                    "3,,30\n"
                                    "4,0.3333333333333333,\n");
    CHECK(plotCsv("step", {}) == "step\n");
}
