// What the terminal says of a race: the spread of repeated runs, and a machine that others use.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "demos/report/other_load.h"
#include "demos/report/race_report.h"
#include "demos/report/repeats.h"

using namespace lockstep;
using namespace lockstep::demos;

namespace {

/// A lane that trained 1,000 examples in `seconds`.
LaneResult laneOf(const char* spec, double seconds) {
    LaneResult lane{.spec = laneSpecFromText(spec),
                    .machine = {},
                    .end = {},
                    .telemetry = Telemetry(BatchOrder{1000, 10, 1, true}),
                    .evaluation = {},
                    .operations = {},
                    .agreement = {}};
    lane.machine.device = "Device";
    lane.end.status = LaneStatus::finished;
    lane.end.examples = 1000;
    lane.end.trainingSeconds = seconds;
    return lane;
}

using Run = std::vector<LaneResult>;

RepeatedRace raceOf(const std::vector<std::pair<double, double>>& seconds) {
    std::vector<Run> runs;
    for (const auto& [cpu, gpu] : seconds) runs.push_back({laneOf("cpu:best", cpu), laneOf("gpu:best", gpu)});
    return repeatedRace(std::move(runs));
}

Headline headlineOf(const RepeatedRace& race) {
    return headlineFor(race.lanes, FinishLine{.steps = 1}, false);
}

} // namespace

TEST_CASE("a repeated race shows each lane's median run and the range of all") {
    const RepeatedRace race = raceOf({{2, 10}, {1, 8}, {4, 9}});
    CHECK(race.lanes[0].end.trainingSeconds == 2);
    CHECK(race.lanes[1].end.trainingSeconds == 9); // of another run
    REQUIRE(race.spreads[0]);
    CHECK(race.spreads[0]->seconds.least == 1);
    CHECK(race.spreads[0]->seconds.most == 4);
    CHECK(race.spreads[0]->rate.median == 500);
    CHECK(race.spreads[0]->rate.least == 250);
    CHECK(race.spreads[0]->rate.most == 1000);
    const Headline headline = headlineOf(race);
    CHECK(headline.ratio == doctest::Approx(4.5));
    const auto ratio = ratioSpread(race, headline);
    REQUIRE(ratio);
    CHECK(ratio->least == doctest::Approx(2.25)); // of one run each: 10 / 2, 8 / 1, 9 / 4
    CHECK(ratio->most == doctest::Approx(8));
    CHECK(ratioText(race, headline) == " Over 3 runs, the ratio of their speeds ranged from 2.25 to 8.");
    CHECK(spreadText(race) == "3 runs of each lane; the table above shows its median run\n"
                              "lane      seconds: median (range)  samples/s: median (range)\n"
                              "cpu:best   2.000 (1.000 to 4.000)         500 (250 to 1,000)\n"
                              "gpu:best  9.000 (8.000 to 10.000)           111 (100 to 125)\n");
}

TEST_CASE("of an even number of runs, the slower of the middle two is the median") {
    CHECK(raceOf({{1, 1}, {2, 1}, {3, 1}, {4, 1}}).lanes[0].end.trainingSeconds == 3);
}

TEST_CASE("if another lane is faster in some runs, the sentence says so") {
    const RepeatedRace race = raceOf({{1, 2}, {1, 2}, {3, 2}});
    CHECK(
        ratioText(race, headlineOf(race)).ends_with("from 0.667 to 2, so neither was faster in every run."));
}

TEST_CASE("one run has no spread, and a run that failed is the one shown") {
    const RepeatedRace one = raceOf({{1, 2}});
    CHECK_FALSE(one.spreads[0]);
    CHECK(spreadText(one).empty());
    CHECK(ratioText(one, headlineOf(one)).empty());

    std::vector<Run> runs = raceOf({{1, 2}, {1, 2}, {1, 2}}).runs;
    runs[1][0].end.status = LaneStatus::failed;
    const RepeatedRace failed = repeatedRace(runs);
    CHECK(failed.lanes[0].end.status == LaneStatus::failed);
    CHECK_FALSE(failed.spreads[0]);
    CHECK(failed.spreads[1]);
    CHECK(ratioText(failed, headlineOf(failed)).empty());
}

TEST_CASE("short times have enough decimals for their rate") {
    CHECK(secondsDecimals({laneOf("cpu:best", 12)}) == 3);
    CHECK(secondsDecimals({laneOf("cpu:best", 12), laneOf("gpu:best", 0.083)}) == 4);
    CHECK(secondsDecimals({laneOf("cpu:best", 0.00083)}) == 6);
    CHECK(secondsDecimals({laneOf("cpu:best", 0)}) == 3); // it did not run
}

TEST_CASE("the system's CPU times are read from the first line of /proc/stat") {
    const auto ticks =
        cpuTicksFromText("cpu  5213426 1172332 737968 1290163 11789 100 2589 18983 70 30\ncpu0 1 2 3 4\n");
    REQUIRE(ticks);
    CHECK(ticks->busy ==
          5213426.0 + 1172332 + 737968 + 100 + 2589 + 18983); // guests are part of user and nice
    CHECK(ticks->all == ticks->busy + 1290163 + 11789);
    CHECK(cpuTicksFromText("cpu 1 2 3 4")->busy == 6); // an old kernel
    for (const char* text : {"", "cpu", "cpu 1 2 3", "cpu0 1 2 3 4", "intr 1 2 3 4"}) {
        CAPTURE(text);
        CHECK_FALSE(cpuTicksFromText(text));
    }
}

TEST_CASE("what others used is all busy time but this program's") {
    // Two cores for 10 s at 100 ticks per second; 15 s of 20 s busy, 9 s of them by this program.
    const auto load = otherLoad({1000, 5000}, {2500, 7000}, 900, 2, 100);
    REQUIRE(load);
    CHECK(load->share == doctest::Approx(0.3));
    CHECK(load->cores == doctest::Approx(0.6));
    CHECK(load->seconds == doctest::Approx(6));
    CHECK(otherLoadText(load) ==
          "warning: the machine was busy: other processes used 0.6 of 2 cores during the "
          "run, so its times may be too long\n");
    CHECK(otherLoadJson(load)["measured_by"] == "cpu_time");
    // The two clocks differ a little: not less than nothing.
    CHECK(otherLoad({1000, 5000}, {1890, 7000}, 900, 2, 100)->share == 0);
    CHECK_FALSE(otherLoad({1000, 5000}, {1000, 5000}, 0, 2, 100)); // a /proc/stat that stands still
}

TEST_CASE("little load is no warning, and neither are single ticks of a short run") {
    const auto idle = otherLoad({0, 0}, {1040, 2000}, 960, 2, 100); // 4 %
    CHECK_FALSE(idle->busy());
    CHECK(otherLoadText(idle).empty());
    const auto brief = otherLoad({0, 0}, {12, 20}, 6, 2, 100); // 30 % of 0.1 s
    CHECK_FALSE(brief->busy());
    CHECK(otherLoadText(std::nullopt).empty());
    CHECK(otherLoadJson(std::nullopt).is_null());
}

TEST_CASE("without CPU times the load average counts, above a quarter of the cores") {
    CHECK_FALSE(otherLoad(0.4, 2).busy());
    const OtherLoad busy = otherLoad(1.5, 2);
    CHECK(busy.busy());
    CHECK(otherLoadText(busy).starts_with(
        "warning: before the run, other processes used about 1.5 of 2 cores"));
    CHECK(otherLoadJson(busy)["measured_by"] == "load_average");
    CHECK(otherLoad(9, 2).share == 1);
}
