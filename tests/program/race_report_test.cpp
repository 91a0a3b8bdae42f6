// What the terminal says of a race: the spread of repeated runs, and a machine that others use.
#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "demos/report/other_load.h"
#include "demos/report/race_report.h"
#include "demos/report/repeats.h"
#include "demos/words/median.h"

using namespace lockstep;
using namespace lockstep::demos;

namespace {

/// A lane that trained 1,000 examples in 100 steps and `seconds`.
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
    lane.end.runSteps = 100;
    lane.end.trainingSeconds = seconds;
    return lane;
}

using Run = std::vector<LaneResult>;

RepeatedRace raceOf(const std::vector<std::pair<double, double>>& seconds) {
    std::vector<Run> runs;
    for (const auto& [cpu, gpu] : seconds) runs.push_back({laneOf("cpu:best", cpu), laneOf("gpu:best", gpu)});
    return repeatedRace(std::move(runs));
}

Headline headlineOf(const RepeatedRace& race) { return headlineFor(race, FinishLine{.steps = 1}, false); }

/// "6.92k" as it is printed; 0 where it is no number.
double numberOf(std::string text) {
    std::erase(text, ',');
    const double scale = text.ends_with("k") ? 1e3 : text.ends_with("M") ? 1e6 : 1;
    return std::strtod(text.c_str(), nullptr) * scale;
}

/// The factor that a sentence says, over the quotient of the two numbers that it shows.
double factorOverShown(const std::string& text) {
    const std::regex form("trained ([0-9.,]+) times as fast as[^:]*(?::[^:]*)*: ([0-9.]+[kM]?) "
                          "(?:samples/s|s of training) against ([0-9.]+[kM]?) ");
    std::smatch found;
    CAPTURE(text);
    REQUIRE(std::regex_search(text, found, form));
    const double first = numberOf(found[2]), second = numberOf(found[3]);
    return numberOf(found[1]) / (std::max(first, second) / std::min(first, second));
}

const TrainJob& anyJob() {
    static const Dataset data;
    static TrainJob job;
    job.data = &data;
    job.shape.widths = {2, 2};
    return job;
}

nlohmann::ordered_json jsonOf(const RepeatedRace& race, const Headline& headline) {
    return raceJson(anyJob(), FinishLine{.steps = 1}, false, race, headline, std::nullopt);
}

} // namespace

TEST_CASE("medians") {
    CHECK(median({3}) == 3);
    CHECK(median({9, 1, 2}) == 2);
    CHECK(median({9, 1, 2, 4}) == 3);
    CHECK(std::isnan(median({})));
    CHECK(std::isnan(median({1, std::numeric_limits<double>::quiet_NaN(), 2})));
}

TEST_CASE("each number of a repeated race is its own median, with the range of all runs") {
    RepeatedRace race = raceOf({{2, 10}, {1, 8}, {4, 9}});
    // The device's times have another order than the rates.
    const double device[] = {0.5, 0.9, 0.1};
    for (std::size_t run = 0; run < 3; ++run) race.runs[run][0].end.deviceSeconds = device[run];
    race = repeatedRace(race.runs);
    CHECK(race.figures[0].seconds == 2);
    CHECK(race.figures[0].deviceSeconds == 0.5);
    CHECK(race.figures[1].seconds == 9); // of another run
    CHECK(race.lanes[1].end.trainingSeconds == 9);
    const auto seconds = spreadOf(race, 0, &LaneFigures::seconds);
    const auto rate = spreadOf(race, 0, &LaneFigures::rate);
    REQUIRE(seconds);
    REQUIRE(rate);
    CHECK(seconds->least == 1);
    CHECK(seconds->most == 4);
    CHECK(rate->median == 500);
    CHECK(rate->least == 250);
    CHECK(rate->most == 1000);
    CHECK_FALSE(spreadOf(race, 0, &LaneFigures::watts)); // not measured
    const Headline headline = headlineOf(race);
    CHECK(headline.ratio == doctest::Approx(4.5));
    const auto ratio = ratioSpread(race, headline);
    REQUIRE(ratio);
    CHECK(ratio->least == doctest::Approx(2.25)); // of one run each: 10 / 2, 8 / 1, 9 / 4
    CHECK(ratio->most == doctest::Approx(8));
    CHECK(ratioText(race, headline) == " Over 3 runs, the ratio of their speeds ranged from 2.25 to 8.");
    CHECK(spreadText(race) == "3 runs of each lane; the numbers above are medians\n"
                              "lane      seconds: median (range)  samples/s: median (range)\n"
                              "cpu:best   2.000 (1.000 to 4.000)         500 (250 to 1,000)\n"
                              "gpu:best  9.000 (8.000 to 10.000)           111 (100 to 125)\n");
}

TEST_CASE("of an even number of runs, the median is the mean of the middle two") {
    const RepeatedRace race = raceOf({{1, 1}, {2, 1}, {5, 1}, {10, 1}});
    CHECK(race.figures[0].seconds == 3.5);
    CHECK(race.figures[0].rate == 350);            // of 500 and 200, and not 1000 / 3.5
    CHECK(race.lanes[0].end.trainingSeconds == 5); // whose curves are shown: the slower of the two
    CHECK(raceOf({{1, 1}, {2, 1}}).figures[0].seconds == 1.5); // neither the least nor the most
}

TEST_CASE("the single runs, and which one's curves are shown, are in the JSON") {
    const RepeatedRace race = raceOf({{2, 10}, {1, 8}, {4, 9}});
    const auto json = jsonOf(race, headlineOf(race));
    const auto& lane = json["lanes"][0];
    REQUIRE(lane["runs"].size() == 3);
    CHECK(lane["runs"][0]["seconds"] == 2);
    CHECK(lane["runs"][1]["samples_per_second"] == 1000);
    CHECK(lane["runs"][2]["seconds_per_step"] == 0.04);
    CHECK(lane["runs"][2]["status"] == "finished");
    CHECK(lane["shown_run"] == 1);
    CHECK(json["lanes"][1]["shown_run"] == 3);
    for (const char* key : {"seconds", "samples_per_second", "device_seconds", "warm_up_seconds", "gflops"}) {
        CAPTURE(key);
        std::vector<double> values;
        for (const auto& run : lane["runs"]) values.push_back(run[key]);
        CHECK(lane[key] == median(values));
        CHECK(lane["spread"][key]["median"] == median(values));
        CHECK(lane["spread"][key]["least"] == *std::ranges::min_element(values));
        CHECK(lane["spread"][key]["most"] == *std::ranges::max_element(values));
    }
}

// Timed beyond the finish line, a rate is not that of the seconds to it.
TEST_CASE("the factor is the quotient of the numbers that are shown, in text, table and JSON") {
    for (const std::size_t runs : {1u, 2u, 3u}) {
        CAPTURE(runs);
        RepeatedRace race = raceOf(std::vector<std::pair<double, double>>(runs, {0.683, 3.41}));
        for (std::size_t run = 0; run < runs; ++run) {
            LaneResult& lane = race.runs[run][0];
            lane.end.extraSeconds = 0.35;
            lane.end.extraExamples = 630 + 90 * run; // faster than to the line
        }
        race = repeatedRace(race.runs);
        const Headline headline = headlineOf(race);
        REQUIRE(headline.valid);
        CHECK(factorOverShown(headline.text) == doctest::Approx(1).epsilon(0.01));
        const auto json = jsonOf(race, headline);
        const auto rate = [&](std::size_t lane) {
            return json["lanes"][lane]["samples_per_second"].get<double>();
        };
        CHECK(json["headline"]["ratio"] == rate(0) / rate(1));
        CHECK(json["headline"]["measured_by"] == "samples_per_second");
        CHECK(json["headline"]["text"] == headline.text);
        // The table has no seconds that would divide to another factor.
        const auto rows = figureRows(race.figures);
        CHECK(rows[0][1] == "ms/step");
        CHECK(numberOf(rows[2][1]) / numberOf(rows[1][1]) == doctest::Approx(headline.ratio).epsilon(0.01));
        CHECK(numberOf(rows[1][3]) / numberOf(rows[2][3]) == doctest::Approx(headline.ratio).epsilon(0.01));
        const std::string text = resultText(race.lanes, race.figures, false);
        CHECK(text.find("to the finish line 0.683 s; short, so it was timed beyond: 1.03 s in all") !=
              std::string::npos);
        if (runs > 1) CHECK(spreadRows(race)[0][1] == "ms/step: median (range)");
    }
    // To a target, both are seconds.
    const FinishLine goal{.steps = 0, .accuracy = 0.9};
    RepeatedRace race = raceOf({{1.25, 5}});
    for (LaneResult& lane : race.runs[0])
        lane.evaluation = Evaluation{.loss = 0.1, .accuracy = 0.95, .count = 1, .confusion = {}};
    race = repeatedRace(race.runs);
    Headline headline = headlineFor(race, goal, false);
    CHECK(headline.bySeconds);
    CHECK(headline.ratio == 4);
    CHECK(headline.text.find("1.25 s of training against 5 s") != std::string::npos);
    CHECK(figureRows(race.figures)[1][1] == "1.250");
    // A time to a target that is too short decides nothing; the rates beyond the line do.
    race.runs[0][0].end.trainingSeconds = 0.25;
    race.runs[0][0].end.extraSeconds = 1;
    race.runs[0][0].end.extraExamples = 3000;
    race = repeatedRace(race.runs);
    headline = headlineFor(race, goal, false);
    CHECK(headline.valid);
    CHECK_FALSE(headline.bySeconds);
    CHECK(headline.ratio == doctest::Approx(16));
}

TEST_CASE("a race too short to compare says so, and names no faster lane") {
    for (const bool together : {false, true}) {
        CAPTURE(together);
        const RepeatedRace race = raceOf({{0.0123, 0.5}});
        const Headline headline = headlineFor(race, FinishLine{.steps = 1}, together);
        CHECK_FALSE(headline.valid);
        CHECK(headline.text.starts_with(
            "no comparison: the race is too short: cpu:best trained for 12.3 ms only; "));
        CHECK(verdict(race.lanes, headline) == "No comparison");
        const auto json = jsonOf(race, headline)["headline"];
        CHECK(json["comparable"] == false);
        CHECK(json["reason"] == reasonOf(headline));
        CHECK(json["text"] == headline.text);
        for (const char* key : {"faster", "slower", "ratio", "measured_by"}) CHECK(json[key].is_null());
    }
    const RepeatedRace longer = raceOf({{1, 2}});
    const auto json = jsonOf(longer, headlineOf(longer))["headline"];
    CHECK(json["comparable"] == true);
    CHECK(json["reason"].is_null());
    CHECK(json["faster"] == "cpu:best");
}

TEST_CASE("times in CSV keep their digits") {
    LaneResult lane = laneOf("cpu:best", 1);
    const LossPoint points[] = {{0, 2.5f, 1.25e-7}, {1, 2.25f, 0.123456789012}};
    lane.telemetry.addLosses(points);
    CHECK(raceCsv({lane}) ==
          "lane,step,loss,seconds\ncpu:best,0,2.5,1.25e-07\ncpu:best,1,2.25,0.123456789012\n");
}

TEST_CASE("if another lane is faster in some runs, the sentence says so") {
    const RepeatedRace race = raceOf({{1, 2}, {1, 2}, {3, 2}});
    CHECK(
        ratioText(race, headlineOf(race)).ends_with("from 0.667 to 2, so neither was faster in every run."));
}

TEST_CASE("one run has no spread, and a run that failed is the one shown") {
    const RepeatedRace one = raceOf({{1, 2}});
    CHECK_FALSE(one.spread[0]);
    CHECK(spreadText(one).empty());
    CHECK(ratioText(one, headlineOf(one)).empty());

    std::vector<Run> runs = raceOf({{1, 2}, {1, 2}, {1, 2}}).runs;
    runs[1][0].end.status = LaneStatus::failed;
    const RepeatedRace failed = repeatedRace(runs);
    CHECK(failed.lanes[0].end.status == LaneStatus::failed);
    CHECK(failed.figures[0].seconds == failed.lanes[0].end.trainingSeconds); // and no median
    CHECK_FALSE(failed.spread[0]);
    CHECK(failed.spread[1]);
    CHECK(ratioText(failed, headlineOf(failed)).empty());
}

TEST_CASE("short times have enough decimals for their rate") {
    CHECK(secondsDecimals(12) == 3);
    CHECK(secondsDecimals(0.083) == 4);
    CHECK(secondsDecimals(0.00083) == 6);
    CHECK(secondsDecimals(0) == 3); // it did not run
    const auto shown = [](double first, double second) {
        return figureRows(figuresOf({laneOf("cpu:best", first), laneOf("gpu:best", second)}));
    };
    CHECK(shown(12, 0.083)[2][1] == "0.0830");
    CHECK(shown(12, 0.083)[1][1] == "12.0000");
    CHECK(shown(0, 12)[2][1] == "12.000");
}

TEST_CASE("the system's CPU times are read from the first line of /proc/stat") {
    const auto ticks = lockstep::platform::cpuTicksFromText(
        "cpu  5213426 1172332 737968 1290163 11789 100 2589 18983 70 30\ncpu0 1 2 3 4\n");
    REQUIRE(ticks);
    CHECK(ticks->busy ==
          5213426.0 + 1172332 + 737968 + 100 + 2589 + 18983); // guests are part of user and nice
    CHECK(ticks->all == ticks->busy + 1290163 + 11789);
    CHECK(lockstep::platform::cpuTicksFromText("cpu 1 2 3 4")->busy == 6); // an old kernel
    for (const char* text : {"", "cpu", "cpu 1 2 3", "cpu0 1 2 3 4", "intr 1 2 3 4"}) {
        CAPTURE(text);
        CHECK_FALSE(lockstep::platform::cpuTicksFromText(text));
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
