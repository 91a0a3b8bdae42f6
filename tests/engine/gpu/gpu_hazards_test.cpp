// The recorder's truth table: which pairs of accesses need a barrier between them.
#include <doctest/doctest.h>

#include <array>

#include "engine/gpu/hazards.h"

using namespace lockstep::gpu;

namespace {

constexpr Access reads(std::uint64_t buffer, std::uint64_t offset, std::uint64_t size) {
    return {buffer, offset, size, true, false};
}
constexpr Access writes(std::uint64_t buffer, std::uint64_t offset, std::uint64_t size) {
    return {buffer, offset, size, false, true};
}
constexpr Access both(std::uint64_t buffer, std::uint64_t offset, std::uint64_t size) {
    return {buffer, offset, size, true, true};
}

bool barrierBetween(const Access& earlier, const Access& now) {
    HazardTracker tracker;
    const bool first = tracker.add({&earlier, 1});
    CHECK_FALSE(first); // nothing came before
    return tracker.add({&now, 1});
}

} // namespace

TEST_CASE("pairs of accesses to the same bytes") {
    const std::array earlier{reads(1, 0, 64), writes(1, 0, 64), both(1, 0, 64)};
    const std::array now{reads(1, 0, 64), writes(1, 0, 64), both(1, 0, 64)};
    constexpr bool expected[3][3] = {
        // now:  read   write  both
        {false, true, true}, // after read
        {true, true, true},  // after write
        {true, true, true},  // after both
    };
    for (std::size_t row = 0; row < 3; ++row)
        for (std::size_t column = 0; column < 3; ++column) {
            CAPTURE(row);
            CAPTURE(column);
            CHECK(barrierBetween(earlier[row], now[column]) == expected[row][column]);
        }
}

TEST_CASE("ranges count, not whole buffers") {
    CHECK(barrierBetween(writes(1, 0, 64), reads(1, 63, 1)));
    CHECK_FALSE(barrierBetween(writes(1, 0, 64), reads(1, 64, 64)));
    CHECK_FALSE(barrierBetween(writes(1, 64, 64), reads(1, 0, 64)));
    CHECK(barrierBetween(writes(1, 64, 64), reads(1, 0, 65)));
    CHECK(barrierBetween(writes(1, 0, 256), writes(1, 128, 4)));
    CHECK_FALSE(barrierBetween(writes(1, 0, 64), writes(2, 0, 64)));
    CHECK_FALSE(barrierBetween(writes(1, 0, 64), reads(2, 0, 64)));
}

TEST_CASE("the accesses of one dispatch do not conflict with each other") {
    HazardTracker tracker;
    const std::array accesses{reads(1, 0, 64), writes(1, 0, 64), writes(1, 0, 64)};
    CHECK_FALSE(tracker.add(accesses));
}

TEST_CASE("a barrier covers everything before it, and only that") {
    HazardTracker tracker;
    const Access writeA = writes(1, 0, 64);
    const Access writeB = writes(2, 0, 64);
    const Access readA = reads(1, 0, 64);
    const Access readB = reads(2, 0, 64);
    CHECK_FALSE(tracker.add({&writeA, 1}));
    CHECK_FALSE(tracker.add({&writeB, 1})); // independent: side by side
    CHECK(tracker.add({&readA, 1}));        // the barrier for A also covers B
    CHECK_FALSE(tracker.add({&readB, 1}));
    CHECK(tracker.add({&writeB, 1})); // write after the read just above
    tracker.clear();
    CHECK_FALSE(tracker.add({&readB, 1}));
}

TEST_CASE("hazards are detected across unrelated dispatches") {
    HazardTracker tracker;
    const Access writeA = writes(1, 0, 64);
    const Access other = writes(3, 0, 64);
    const Access readA = reads(1, 32, 4);
    CHECK_FALSE(tracker.add({&writeA, 1}));
    for (int step = 0; step < 5; ++step) {
        const Access unrelated = reads(10 + static_cast<std::uint64_t>(step), 0, 64);
        CHECK_FALSE(tracker.add({&unrelated, 1}));
    }
    CHECK_FALSE(tracker.add({&other, 1}));
    CHECK(tracker.add({&readA, 1}));
}
