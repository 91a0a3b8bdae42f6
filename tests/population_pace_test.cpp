// How much of a population is trained at a time: small at first, never more than there is room for, never
// nothing.
#include <doctest/doctest.h>

#include "engine/train/population_pace.h"

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

TEST_CASE("a thread that meets many short blocks goes on with steps to make") {
    BlockPace pace;
    for (int block = 0; block < 200; ++block) pace.took(0.01);
    CHECK(pace.steps() > 1000);
    CHECK(pace.steps() <= 1 << 20);
    for (int block = 0; block < 200; ++block) pace.took(50);
    CHECK(pace.steps() == 1);
}
