// Races: lanes in turn and together, failures that leave the others running, and the check that lanes agree.
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "engine/data/data_source.h"
#include "engine/run/make_trainer.h"
#include "engine/run/race.h"

using namespace lockstep;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds patience{60000};

struct Spiral {
    Dataset data;
    TrainJob job;

    Spiral() {
        data = loadDataset("spiral");
        job.data = &data;
        job.shape.widths = {2, 16, 16, 2};
        job.settings.batch = 50;
    }

    RaceEntry entry(std::string_view lane) const { return entry(lane, job); }
    static RaceEntry entry(std::string_view lane, const TrainJob& job) {
        const LaneSpec spec = laneSpecFromText(lane);
        return {spec, [job, spec] { return makeTrainer(job, spec, {.threads = 2}, nullptr); }};
    }
    /// An entry that overflows within a few steps.
    RaceEntry exploding(std::string_view lane) const {
        TrainJob wild = job;
        wild.settings.optimizer.kind = Optimizer::sgd;
        wild.settings.optimizer.learningRate = 1e6;
        wild.shape.loss = Loss::meanSquared;
        return entry(lane, wild);
    }
};

RaceOptions stepsAndMode(std::uint64_t steps, bool together) {
    RaceOptions options;
    options.lane.finish.steps = steps;
    options.together = together;
    return options;
}

} // namespace

TEST_CASE("lanes of a race compute the same, in turn or together") {
    const Spiral spiral;
    for (const bool together : {false, true}) {
        CAPTURE(together);
        Race race(spiral.job,
                  {spiral.entry("cpu:scalar"), spiral.entry("cpu:simd"), spiral.entry("cpu:best")},
                  stepsAndMode(300, together));
        race.start();
        REQUIRE(race.waitFor(patience));
        const auto results = race.results();
        REQUIRE(results.size() == 3);
        for (const LaneResult& result : results) {
            CAPTURE(result.spec.text());
            CHECK(result.counts());
            CHECK(result.end.step == 300);
            CHECK(result.agreement.steps == 100);
            CHECK(result.agreement.largestDifference < 1e-4);
            REQUIRE(result.evaluation);
            CHECK(result.evaluation->count == 100);
            CHECK(result.gflops > 0);
            CHECK_FALSE(result.operations.empty());
        }
    }
}

TEST_CASE("in a time trial a lane starts only when the one before is over") {
    const Spiral spiral;
    Race race(spiral.job, {spiral.entry("cpu:simd"), spiral.entry("cpu:scalar")}, stepsAndMode(2000, false));
    race.start();
    bool overlapped = false;
    while (race.advance()) {
        const LaneStatus second = race.lane(1).snapshot().status;
        const bool firstOver = race.lane(0).snapshot().over(); // read last, because it may end in between
        overlapped = overlapped || (second != LaneStatus::waiting && !firstOver);
    }
    CHECK_FALSE(overlapped);
    CHECK(race.lane(1).snapshot().status == LaneStatus::finished);
}

TEST_CASE("a lane that fails leaves the others running, and is not compared") {
    const Spiral spiral;
    for (const bool together : {false, true}) {
        CAPTURE(together);
        Race race(spiral.job, {spiral.exploding("cpu:scalar"), spiral.entry("cpu:simd")},
                  stepsAndMode(500, together));
        race.start();
        REQUIRE(race.waitFor(patience));
        const auto results = race.results();
        CHECK(results[0].end.status == LaneStatus::failed);
        CHECK_FALSE(results[0].end.message.empty());
        CHECK_FALSE(results[0].counts());
        CHECK(results[1].end.status == LaneStatus::finished);
        CHECK(results[1].end.step == 500);
    }
}

TEST_CASE("a lane with other losses finishes, but does not count") {
    const Spiral spiral;
    TrainJob other = spiral.job;
    other.settings.optimizer.learningRate = 1.01e-3;
    Race race(spiral.job, {spiral.entry("cpu:simd"), Spiral::entry("cpu:simd", other)},
              stepsAndMode(100, false));
    race.start();
    REQUIRE(race.waitFor(patience));
    const auto results = race.results();
    CHECK(results[0].counts());
    CHECK(results[1].end.status == LaneStatus::finished);
    CHECK(results[1].agreement.largestDifference > 1e-4);
    CHECK_FALSE(results[1].counts());
}

TEST_CASE("stopping a race also stops lanes that have not started") {
    const Spiral spiral;
    Race race(spiral.job, {spiral.entry("cpu:simd"), spiral.entry("cpu:best")},
              stepsAndMode(1'000'000'000, false));
    race.start();
    CHECK_FALSE(race.waitFor(50ms));
    race.stop();
    REQUIRE(race.waitFor(patience));
    CHECK(race.lane(0).snapshot().status == LaneStatus::stopped);
    CHECK(race.lane(1).snapshot().status == LaneStatus::stopped);
    CHECK(race.lane(1).snapshot().step == 0);
    const LaneResult first = race.results()[0]; // an evaluation of an earlier step is not the end's
    CHECK(first.evaluation.has_value() == (first.end.evaluatedStep == first.end.step));
}

TEST_CASE("a race needs lanes") {
    const Spiral spiral;
    CHECK_THROWS_AS(Race(spiral.job, {}, stepsAndMode(1, false)), std::invalid_argument);
}

TEST_CASE("losses are compared relatively, over the steps that both have") {
    const Agreement agreement = compareLosses({1.0F, 2.0F, 3.0F}, {1.0F, 2.002F});
    CHECK(agreement.steps == 2);
    CHECK(agreement.largestDifference == doctest::Approx(0.001).epsilon(0.01));
    CHECK_FALSE(agreement.same());
    CHECK(compareLosses({0.0F}, {0.0F}).same());
    CHECK(compareLosses({1.0F}, {}).steps == 0);
}

TEST_CASE("the first ten losses decide; later rounding differences are only reported") {
    std::vector<float> reference(100, 1.0F);
    std::vector<float> other = reference;
    other[10] = 1.5F;
    const Agreement late = compareLosses(reference, other);
    CHECK(late.agreedSteps == 10);
    CHECK(late.same());
    CHECK(late.largestDifference > 0.3);
    other[1] = 1.00005F; // no wrong kernel agrees to the last digits before
    other[9] = 1.001F;
    const Agreement early = compareLosses(reference, other);
    CHECK(early.agreedSteps == 9);
    CHECK_FALSE(early.same());
}

TEST_CASE("a ReLU that is on in one lane only may separate correct lanes within the first ten steps") {
    std::vector<float> reference(100, 1.0F);
    std::vector<float> other = reference;
    for (std::size_t step = 5; step < other.size(); ++step) other[step] = 1.0002F;
    CHECK(compareLosses(reference, other).same());
    CHECK(compareLosses(reference, other).agreedSteps == 5);
    other[3] = 1.0002F; // too soon
    CHECK_FALSE(compareLosses(reference, other).same());
    other[3] = 1;
    other[5] = 1.1F; // too much
    CHECK_FALSE(compareLosses(reference, other).same());
    other[5] = std::numeric_limits<float>::quiet_NaN();
    CHECK_FALSE(compareLosses(reference, other).same());
    CHECK(std::isinf(compareLosses(reference, other).largestDifference));
    other[5] = 1.0002F; // and then too much
    other[6] = 2;
    CHECK_FALSE(compareLosses(reference, other).same());
}
