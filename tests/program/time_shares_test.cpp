// Where a lane's time goes: parts of a step add up to the step, whatever the window takes.
#include <doctest/doctest.h>

#include "demos/exhibits/race/race_words.h"

using namespace lockstep;
using namespace lockstep::demos;

namespace {

LaneResult lane(double training, double device) {
    LaneResult result{.spec = laneSpecFromText("gpu:best"),
                      .machine = {},
                      .end = {},
                      .telemetry = Telemetry(BatchOrder()),
                      .evaluation = {},
                      .operations = {},
                      .agreement = {}};
    result.end.runSteps = 10;
    result.end.examples = 100;
    result.end.trainingSeconds = training;
    result.end.deviceSeconds = device;
    return result;
}

const std::vector<OperationTiming> operations{
    {.name = "update", .milliseconds = 1, .calls = 2, .flops = 0, .bytes = 0},
    {.name = "dense_backward_weights", .milliseconds = 3, .calls = 2, .flops = 0, .bytes = 0},
    {.name = "dense", .milliseconds = 4, .calls = 4, .flops = 0, .bytes = 0},
};

double secondsOf(const std::vector<TimeShare>& shares, std::string_view name) {
    for (const TimeShare& share : shares)
        if (share.name == name) return share.seconds;
    return 0;
}

double total(const std::vector<TimeShare>& shares) {
    double sum = 0;
    for (const TimeShare& share : shares) sum += share.seconds;
    return sum;
}

} // namespace

TEST_CASE("operations come in the order of a step, and share the device's time") {
    const std::vector<TimeShare> shares = timeShares(lane(10, 8), operations, 0);
    REQUIRE(shares.size() == 4);
    CHECK(shares[0].name == "dense");
    CHECK(shares[1].name == "dense_backward_weights");
    CHECK(shares[2].name == "update");
    CHECK(shares[3].name == waitingPart);
    CHECK(shares[0].seconds == doctest::Approx(0.4));
    CHECK(shares[3].seconds == doctest::Approx(0.2));
}

TEST_CASE("what the window takes is taken from waiting, and is never more than that") {
    for (const double window : {0.0, 0.5, 1.5, 2.0, 7.0}) {
        CAPTURE(window);
        const std::vector<TimeShare> shares = timeShares(lane(10, 8), operations, window);
        CHECK(total(shares) == doctest::Approx(1));
        CHECK(secondsOf(shares, windowPart) == doctest::Approx(std::min(window, 2.0) / 10));
        CHECK(secondsOf(shares, waitingPart) == doctest::Approx((2 - std::min(window, 2.0)) / 10));
    }
    // Clocks of host and device may disagree a little.
    CHECK(secondsOf(timeShares(lane(7.9, 8), operations, 1), windowPart) == 0);
}

TEST_CASE("without timings there are no shares") {
    CHECK(timeShares(lane(10, 8), {}, 1).empty());
    // Timed beyond the finish line: a step takes as long as the rate says, as in the headline.
    LaneResult beyond = lane(10, 5);
    beyond.end.extraSeconds = 10;
    beyond.end.extraExamples = 150; // 250 in 20 s
    CHECK(total(timeShares(beyond, operations, 0)) == doctest::Approx(0.8));
    LaneResult idle = lane(0, 0);
    idle.end.runSteps = 0;
    CHECK(timeShares(idle, operations, 0).empty());
}
