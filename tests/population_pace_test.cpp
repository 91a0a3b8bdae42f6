// How much of a population is trained at a time: small at first, never more than there is room for, never
// nothing.
#include <doctest/doctest.h>

#include "engine/grid/population_pace.h"

using namespace lockstep;

TEST_CASE("a GPU begins with one step of a few networks, and comes to its aim by doubling") {
    PopulationPace pace(false, 4096, 100, 1e12);
    CHECK(pace.next().steps == 1);
    CHECK(pace.next().networks == 100);
    std::uint32_t last = 100;
    for (int submission = 0; submission < 40; ++submission) {
        const PopulationSlice slice = pace.next();
        CHECK(slice.networks * slice.steps <= 2 * last);
        last = slice.networks * slice.steps;
        pace.add(slice, 1e-5 * slice.networks * slice.steps); // 4 ms are 400,000 network-steps
    }
    CHECK(pace.next().networks == 4096);
    CHECK(pace.next().steps >= 50);
    CHECK(pace.next().steps <= 100);
}

TEST_CASE("where a step of all takes too long, networks take turns") {
    PopulationPace pace(true, 1000, 1000, 1e12);
    for (int submission = 0; submission < 20; ++submission) {
        const PopulationSlice slice = pace.next();
        pace.add(slice, 0.1 * slice.networks * slice.steps); // all together: 100 ms
    }
    CHECK(pace.next().steps == 1);
    CHECK(pace.next().networks <= 80);
    CHECK(pace.next().networks >= 40);
}

TEST_CASE("what there is no room for is never asked for") {
    PopulationPace pace(false, 4096, 3000, 3200);
    for (int submission = 0; submission < 40; ++submission) {
        const PopulationSlice slice = pace.next();
        CHECK(slice.networks * slice.steps <= 3200);
        CHECK(slice.networks * slice.steps >= 1);
        pace.add(slice, 1e-6);
    }
}

TEST_CASE("where a step takes as long for few networks as for all, all go together") {
    for (const double step : {6.0, 10.0, 20.0}) {
        CAPTURE(step);
        PopulationPace pace(false, 4096, 231, 1e12);
        for (int submission = 0; submission < 40; ++submission) {
            pace.add(pace.next(), step * pace.next().steps);
            CHECK(pace.next().networks >= 231);
        }
        CHECK(pace.next().networks == 4096);
        CHECK(pace.next().steps == 1);
    }
}

TEST_CASE("where a step of all takes too long on a GPU, as many go together as take milliseconds") {
    PopulationPace pace(false, 65536, 1000, 1e12);
    for (int submission = 0; submission < 40; ++submission)
        pace.add(pace.next(), 1 + 0.001 * pace.next().networks * pace.next().steps); // all: 66 ms
    CHECK(pace.next().steps == 1);
    CHECK(pace.next().networks >= 4000);
    CHECK(pace.next().networks <= 8000);
}

TEST_CASE("a GPU that was busy with something else is given its networks back") {
    PopulationPace pace(false, 4096, 231, 1e12);
    const auto submissions = [&pace](int count, double perNetworkStep) {
        for (int submission = 0; submission < count; ++submission)
            pace.add(pace.next(), 1 + perNetworkStep * pace.next().networks * pace.next().steps);
    };
    submissions(20, 5); // a second for the first networks
    CHECK(pace.next().networks <= 10);
    submissions(20, 0.04);
    CHECK(pace.next().networks >= 231);
    submissions(30, 0.0005);
    CHECK(pace.next().networks == 4096);
}

TEST_CASE("a thread that meets blocks which are done at once goes on with few steps") {
    BlockPace pace;
    for (int block = 0; block < 10; ++block) pace.took(0.01, true);
    CHECK(pace.steps() == 1024);
    for (int block = 0; block < 1000; ++block) pace.took(0.001, false); // diverged
    CHECK(pace.steps() == 1024);
    for (int block = 0; block < 200; ++block) pace.took(0.01, true);
    CHECK(pace.steps() == 1 << 20);
    for (int block = 0; block < 200; ++block) pace.took(50, false);
    CHECK(pace.steps() == 1);
}
