// How often the window draws beside training.
#include "demos/shell/frame_pace.h"

#include <doctest/doctest.h>

using namespace lockstep::demos;

TEST_CASE("frames are fluent while nothing is disturbed, and input is answered at once") {
    CHECK(frameInterval({}) == doctest::Approx(1.0 / 60));
    CHECK(frameInterval({.training = true}) == doctest::Approx(1.0 / 60));
    CHECK(frameInterval({.input = true, .training = true, .drawsInSoftware = true}) ==
          doctest::Approx(1.0 / 60));
}

TEST_CASE("at most 15 frames a second while the processor is timed, on any device, whatever the input") {
    for (const bool software : {false, true})
        for (const bool input : {false, true})
            for (const bool training : {false, true}) // a sweep times the processor without running
                CHECK(frameInterval({.input = input,
                                     .training = training,
                                     .timesProcessor = true,
                                     .drawsInSoftware = software}) >= 1.0 / 15);
}

TEST_CASE("a recording draws every frame twice, and costs a timed processor no more") {
    CHECK(frameInterval({.timesProcessor = true, .records = true}) == doctest::Approx(2.0 / 15));
    CHECK(frameInterval({.input = true, .timesProcessor = true, .records = true}) ==
          doctest::Approx(2.0 / 15));
    CHECK(frameInterval({.records = true}) == doctest::Approx(1.0 / 60));
    const auto inSoftware = [](bool timed) {
        return frameInterval(
            {.training = true, .timesProcessor = timed, .drawsInSoftware = true, .records = true, .cost = 1});
    };
    CHECK(inSoftware(true) == doctest::Approx(0.4));
    CHECK(inSoftware(false) == doctest::Approx(0.2));
}

TEST_CASE("in software, frames that take long come less often beside training") {
    const auto interval = [](double cost) {
        return frameInterval({.training = true, .drawsInSoftware = true, .cost = cost});
    };
    CHECK(interval(0.001) == doctest::Approx(1.0 / 15));
    CHECK(interval(0.015) == doctest::Approx(0.12));
    CHECK(interval(1) == doctest::Approx(0.2));
}
