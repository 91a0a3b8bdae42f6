// How many steps go into one submission: it grows carefully, keeps to its aim, and a window is never kept
// waiting long.
#include <doctest/doctest.h>

#include "engine/run/submission_size.h"

using lockstep::SubmissionSize;

namespace {

/// As many submissions as asked for, of steps that take `milliseconds` each. Returns the longest.
double submit(SubmissionSize& size, int submissions, double milliseconds) {
    double longest = 0;
    for (int i = 0; i < submissions; ++i) {
        const std::uint64_t steps = size.steps();
        const double took = static_cast<double>(steps) * milliseconds;
        longest = std::max(longest, took);
        size.add(took);
        size.endOfSteps(steps, false);
    }
    return longest;
}

} // namespace

TEST_CASE("submissions begin with one step, at most double, and aim at a few milliseconds") {
    for (const bool software : {false, true}) {
        SubmissionSize size(software);
        CHECK(size.steps() == 1);
        CHECK(size.splitsSteps()); // not measured yet
        submit(size, 1, 0.1);
        CHECK(size.steps() == 2);
        CHECK_FALSE(size.splitsSteps());
        const double longest = submit(size, 50, 0.1);
        CHECK(longest <= (software ? 8.0 : 4.0) + 1e-9);
        CHECK(size.steps() == (software ? 80 : 40));
    }
}

TEST_CASE("steps that became slower make the next submissions short again") {
    SubmissionSize size(true);
    submit(size, 20, 0.01);
    const std::uint64_t before = size.steps();
    submit(size, 6, 1.0);
    CHECK(size.steps() < before / 50);
    CHECK(static_cast<double>(size.steps()) * 1.0 <= 9);
}

TEST_CASE("a step that is too long is split, and never are there more steps than losses have room for") {
    SubmissionSize slow(true);
    submit(slow, 3, 10);
    CHECK_FALSE(slow.splitsSteps());
    submit(slow, 5, 20);
    CHECK(slow.steps() == 1);
    CHECK(slow.splitsSteps());
    SubmissionSize fast(false);
    submit(fast, 50, 1e-6);
    CHECK(fast.steps() == 1024);
}

TEST_CASE("profiled steps, which are slower, do not count once others were measured") {
    SubmissionSize size(true);
    size.add(5);
    size.endOfSteps(1, true);
    CHECK(size.millisecondsPerStep() == 5); // better than nothing
    submit(size, 20, 1);
    const double known = size.millisecondsPerStep();
    size.add(50);
    size.endOfSteps(1, true);
    CHECK(size.millisecondsPerStep() == known);
}

TEST_CASE("rows of an evaluation take as long as a submission is to") {
    SubmissionSize size(true);
    CHECK(size.forwardRows(128, 4096) == 128); // a batch, while nothing is known
    CHECK(size.forwardRows(128, 50) == 50);
    submit(size, 20, 6.0); // a third of a step of 128 rows takes 2 ms: 512 rows take 8
    CHECK(size.forwardRows(128, 4096) == 512);
    CHECK(size.forwardRows(128, 300) == 300);
    SubmissionSize slow(true);
    submit(slow, 20, 1e6);
    CHECK(slow.forwardRows(128, 4096) == 1); // never none
}
