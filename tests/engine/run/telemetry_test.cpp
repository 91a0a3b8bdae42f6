// What a run leaves behind: thinned losses, epochs, running means.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "engine/run/telemetry.h"

using namespace lockstep;

namespace {

/// Losses of steps [first, first + count): the step's own number.
std::vector<LossPoint> numbered(std::uint64_t first, std::uint64_t count) {
    std::vector<LossPoint> points;
    for (std::uint64_t step = first; step < first + count; ++step)
        points.push_back({step, static_cast<float>(step), static_cast<double>(step) * 0.5});
    return points;
}

} // namespace

TEST_CASE("losses are thinned to a stride that doubles, and stay evenly spread") {
    Telemetry telemetry(BatchOrder(100, 10, 1, true), 0, 16);
    for (std::uint64_t step = 0; step < 1000; ++step) telemetry.addLosses(numbered(step, 1));
    CHECK(telemetry.steps() == 1000);
    CHECK(telemetry.losses().size() <= 16);
    CHECK(telemetry.losses().size() >= 8);
    for (std::size_t i = 0; i < telemetry.losses().size(); ++i) {
        CHECK(telemetry.losses()[i].step == i * telemetry.stride());
        CHECK(telemetry.losses()[i].loss == static_cast<float>(i * telemetry.stride()));
    }
}

TEST_CASE("with a fixed stride nothing is thinned") {
    Telemetry telemetry(BatchOrder(100, 10, 1, true), 3, 4);
    telemetry.addLosses(numbered(0, 100));
    REQUIRE(telemetry.losses().size() == 34);
    CHECK(telemetry.losses().back().step == 99);
    CHECK(telemetry.stride() == 3);
}

TEST_CASE("the opening keeps every one of the first steps") {
    Telemetry telemetry(BatchOrder(100, 10, 1, true), 50);
    telemetry.addLosses(numbered(0, 250));
    REQUIRE(telemetry.opening().size() == Telemetry::openingSteps);
    CHECK(telemetry.opening()[37] == 37.0F);
}

TEST_CASE("an epoch's training loss is the mean over its examples, the smaller last batch weighted") {
    Telemetry telemetry(BatchOrder(25, 10, 1, true)); // batches of 10, 10 and 5
    const std::vector<LossPoint> points = {{0, 1.0F, 0.1}, {1, 2.0F, 0.2}, {2, 6.0F, 0.3}, {3, 9.0F, 0.4}};
    telemetry.addLosses(points);
    REQUIRE(telemetry.epochs().size() == 1);
    CHECK(telemetry.epochs()[0].epoch == 1);
    CHECK(telemetry.epochs()[0].trainLoss == doctest::Approx((10 * 1 + 10 * 2 + 5 * 6) / 25.0));
    CHECK(telemetry.epochs()[0].seconds == 0.3);
    CHECK(std::isnan(telemetry.epochs()[0].testLoss));
    telemetry.addEvaluation(0.5, 0.75);
    CHECK(telemetry.epochs()[0].testLoss == 0.5);
    CHECK(telemetry.epochs()[0].testAccuracy == 0.75);
    CHECK(telemetry.examples() == 35);
}

TEST_CASE("a run resumed in mid-epoch does not claim to know that epoch's training loss") {
    Telemetry telemetry(BatchOrder(30, 10, 1, true), 0, 100, 4);
    telemetry.addLosses(numbered(4, 5)); // steps 4 to 8: the rest of epoch 2, and epoch 3
    REQUIRE(telemetry.epochs().size() == 2);
    CHECK(telemetry.epochs()[0].epoch == 2);
    CHECK(std::isnan(telemetry.epochs()[0].trainLoss));
    CHECK(telemetry.epochs()[1].epoch == 3);
    CHECK(telemetry.epochs()[1].trainLoss == doctest::Approx(7.0));
}

TEST_CASE("the running loss starts without bias and follows") {
    Telemetry telemetry(BatchOrder(100, 10, 1, true));
    CHECK(std::isnan(telemetry.runningLoss()));
    std::vector<LossPoint> points = {{0, 4.0F, 0}};
    telemetry.addLosses(points);
    CHECK(telemetry.runningLoss() == doctest::Approx(4.0));
    points.clear();
    for (std::uint64_t step = 1; step < 1000; ++step) points.push_back({step, 1.0F, 0});
    telemetry.addLosses(points);
    CHECK(telemetry.runningLoss() == doctest::Approx(1.0).epsilon(1e-3));
}
