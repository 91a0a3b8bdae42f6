// Times left, over made-up work: of even and uneven pieces, that stands still, and that is followed by other
// work.
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <doctest/doctest.h>

#include "demos/report/progress.h"
#include "demos/report/time_left.h"

using namespace lockstep;
using namespace lockstep::demos;

namespace {

constexpr double frame = 0.1; // seconds

/// What is shown while work of `seconds` goes on, frame by frame. share(t): done after t seconds.
std::vector<std::optional<double>> shownFor(double seconds, const std::function<double(double)>& share) {
    TimeLeft left;
    std::vector<std::optional<double>> shown;
    for (double t = 0; t < seconds; t += frame) {
        left.add(t, share(t));
        shown.push_back(left.seconds());
    }
    return shown;
}

/// The first frame with an estimate.
std::size_t firstOf(const std::vector<std::optional<double>>& shown) {
    return static_cast<std::size_t>(
        std::ranges::find_if(shown, [](const auto& each) { return each.has_value(); }) - shown.begin());
}

} // namespace

TEST_CASE("even work: the time left is not shown at once, and is right from then on") {
    const auto shown = shownFor(20, [](double t) { return t / 20; });
    const std::size_t first = firstOf(shown);
    CHECK(static_cast<double>(first) * frame >= 1);
    CHECK(static_cast<double>(first) * frame <= 2.5);
    for (std::size_t i = first; i < shown.size(); ++i) {
        REQUIRE(shown[i]);
        CHECK(*shown[i] == doctest::Approx(std::max(20 - static_cast<double>(i) * frame, 0.5)).epsilon(0.01));
    }
}

TEST_CASE("pieces of unequal size: the time left neither jumps nor vanishes, and comes to be right") {
    // Seven quick pieces, then three slow ones: by the mean of those before, 0:06 and then ten minutes were
    // left.
    const auto share = [](double t) {
        return t < 14 ? std::floor(t / 2) / 10 : std::min(0.9, (7 + std::floor((t - 14) / 60)) / 10);
    };
    const auto shown = shownFor(194, share);
    const std::size_t first = firstOf(shown);
    REQUIRE(first < shown.size());
    CHECK(share(static_cast<double>(first) * frame) >= 0.1);
    for (std::size_t i = first + 1; i < shown.size(); ++i) {
        REQUIRE(shown[i]);
        CHECK(*shown[i] > 0);
        CHECK(std::abs(*shown[i] - *shown[i - 1]) < 3); // seconds, from frame to frame
    }
    // In the last piece, which is half over.
    CHECK(*shown[1640] > 10);
    CHECK(*shown[1640] < 60);
}

TEST_CASE("work that stands still keeps its time left; what is done has none; other work begins anew") {
    TimeLeft left;
    for (double t = 0; t < 4.65; t += frame) left.add(t, t / 10);
    REQUIRE(left.seconds());
    CHECK(left.text() == "0:06 left");
    for (int i = 0; i < 100; ++i) left.add(4.65, 0.46); // an evaluation: the clock of training stands
    CHECK(left.text() == "0:06 left");
    for (double t = 5; t <= 60; t += frame) left.add(t, 0.46); // nothing moves any more
    REQUIRE(left.seconds());
    CHECK(*left.seconds() > 30);
    left.add(60, 1);
    CHECK_FALSE(left.seconds());
    CHECK(left.text().empty());
    left.add(0.2, 0.4); // too early
    CHECK_FALSE(left.seconds());
}

TEST_CASE("a lane that compares kernels says which of how many, and how far that is") {
    TuningProgress tuning;
    tuning.comparing = "dense 128x784x256";
    tuning.at = 3;
    tuning.comparisons = 8;
    tuning.done = 2.5;
    tuning.seconds = 4;
    tuning.expected = 10;
    const LaneProgress lane = tuningProgress("gpu:best", tuning);
    CHECK(lane.status == LaneStatus::preparing);
    CHECK(lane.progress == doctest::Approx(2.5 / 8));
    CHECK(lane.numbers == "compares kernels, 3 of 8, once per network");
    CHECK(lane.expected == 10);
    tuning.at = 0;
    CHECK(tuningProgress("gpu:best", tuning).brief == "compiles the kernels to compare");
}
