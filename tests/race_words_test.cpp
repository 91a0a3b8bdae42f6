// The race without its window: settings as JSON, and what is said about lanes and their numbers.
#include <limits>
#include <stdexcept>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "demos/exhibits/race/race_settings.h"
#include "demos/exhibits/race/race_words.h"
#include "demos/options/parse.h"
#include "demos/words/text.h"

using namespace lockstep;
using namespace lockstep::demos;
using Json = nlohmann::ordered_json;

namespace {

std::string messageOf(const Json& json) {
    try {
        raceSettingsFromJson(json);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

LaneResult laneOf(const char* spec, LaneStatus status, std::uint64_t step = 0) {
    LaneResult lane{.spec = laneSpecFromText(spec),
                    .machine = {},
                    .end = {},
                    .telemetry = Telemetry(BatchOrder{1000, 10, 1, true}),
                    .evaluation = {},
                    .operations = {},
                    .agreement = {}};
    lane.end.status = status;
    lane.end.step = step;
    return lane;
}

/// A processor that was faster than a GPU, of which one step took 1 ms.
struct LostRace {
    LostRace() {
        run.over = true;
        run.headline.valid = true;
        run.headline.slower = 1;
        run.job.shape.widths = {2, 3, 1};
        run.lanes.push_back(laneOf("cpu:best", LaneStatus::finished, 10));
        run.lanes.push_back(laneOf("gpu:best", LaneStatus::finished, 10));
        for (LaneResult& lane : run.lanes) {
            lane.end.runSteps = 10;
            lane.end.examples = 100;
            lane.end.trainingSeconds = 0.01;
        }
        // Two steps were timed one launch at a time: a long and a short kernel, the short one twice a step.
        run.lanes[1].operations = {
            {.name = "dense", .milliseconds = 1.0, .calls = 2, .flops = 0, .bytes = 0},
            {.name = "update", .milliseconds = 0.4, .calls = 4, .flops = 0, .bytes = 0}};
    }
    RaceRun run;
};

bool says(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

} // namespace

TEST_CASE("settings come back from JSON exactly") {
    RaceSettings settings;
    RunOptions& run = settings.run;
    run.data = "spiral";
    run.dataOptions.samples = 4096;
    run.dataOptions.noise = 0.123456789;
    run.hiddenWidths = std::vector<std::size_t>{7, 65000};
    run.loss = Loss::meanSquared;
    run.activation = Activation::gelu;
    run.settings.optimizer.kind = Optimizer::adamw;
    run.settings.optimizer.learningRate = 0.0123456789012;
    run.settings.batch = 33;
    run.settings.seed = 12345678901234567890u;
    run.finish.epochs = 3;
    run.finish.accuracy = 0.875;
    run.lanes = {laneSpecFromText("cpu:simd"), laneSpecFromText("gpu:tiled@1")};
    settings.together = true;
    const Json json = toJson(settings);
    const RaceSettings back = raceSettingsFromJson(Json::parse(json.dump()));
    CHECK(toJson(back) == json);
    CHECK(back.run.lanes[1].device == "1");
    CHECK(back.run.settings.seed == 12345678901234567890u);
    CHECK(back.run.finish.accuracy == 0.875);

    run.hiddenWidths = std::vector<std::size_t>{}; // no hidden layer is not the usual layers
    CHECK(raceSettingsFromJson(toJson(settings)).run.hiddenWidths->empty());
    run.hiddenWidths.reset();
    CHECK_FALSE(raceSettingsFromJson(toJson(settings)).run.hiddenWidths);
}

TEST_CASE("what a state does not name is as at the first start") {
    const RaceSettings settings = raceSettingsFromJson(Json::object());
    CHECK(toJson(settings) == toJson(RaceSettings{}));
    // The usual rate is the optimizer's own.
    for (const auto& [optimizer, rate] : {std::pair{"sgd", 0.1}, {"rmsprop", 0.01}, {"adam", 0.001}}) {
        const RaceSettings usual = raceSettingsFromJson({{"settings", {{"optimizer", optimizer}}}});
        CHECK(usual.run.settings.optimizer.effectiveLearningRate() == doctest::Approx(rate));
        CHECK(usual.run.settings.batch == RaceSettings{}.run.settings.batch);
    }
}

TEST_CASE("a wrong field is named") {
    const std::vector<std::pair<Json, const char*>> wrong = {
        {{{"dta", "spiral"}}, "'data'"}, // the nearest right one
        {{{"data", "spirale"}}, "spiral"},
        {{{"data", 7}}, "'data'"},
        {{{"hidden", 16}}, "'hidden'"},
        {{{"hidden", {16, 0}}}, "'hidden'"},
        {{{"hidden", {16, -1}}}, "'hidden'"},
        {{{"hidden", {16, 65001}}}, "65000"},
        {{{"hidden", std::vector<int>(65, 4)}}, "64"},
        {{{"activation", "rely"}}, "relu"},
        {{{"loss", "cross"}}, "'loss'"},
        {{{"finish", {{"epoch", 1}}}}, "epochs"},
        {{{"finish", {{"accuracy", 1.5}}}}, "'finish'"},
        {{{"settings", {{"batch", 65537u}}}}, "65536"},
        {{{"settings", {{"batch", "many"}}}}, "'settings'"},
        {{{"settings", {{"bach", 8}}}}, "'batch'"},
        {{{"together", 1}}, "'together'"},
        {{{"lanes", {"gpu:fast"}}}, "'lanes'"},
        {{{"lanes", std::vector<std::string>(mostLanes + 1, "cpu:best")}}, "at most 6"},
    };
    for (const auto& [json, word] : wrong) {
        const std::string text = json.dump();
        const std::string message = messageOf(json);
        CAPTURE(text);
        CHECK_MESSAGE(says(message, word), message);
    }
    CHECK(messageOf({{"data", "csv:some file.csv"}}).empty());
}

TEST_CASE("layers and seeds are read as they are typed, and as they are shown") {
    using Widths = std::vector<std::size_t>;
    for (const char* text : {"256,128", "256, 128", " 256 ,128 "})
        CHECK(widthsFromText(text) == Widths{256, 128});
    CHECK(widthsFromText(" none ").empty());
    for (const Widths& widths : {Widths{}, Widths{7}, Widths{256, 128, 1}})
        CHECK(widthsFromText(widthsText(widths)) == widths);
    for (const char* text : {"", "8,,8", "8,", "8 8", "0", "8x", "-8", "99999999999999999999999"})
        CHECK_THROWS_AS(widthsFromText(text), std::invalid_argument);
    CHECK(seedFromText("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
    for (const char* text : {"", "-1", "1.5", "one", "18446744073709551616"})
        CHECK_THROWS_AS(seedFromText(text), std::invalid_argument);
}

TEST_CASE("data is loaded anew where it would be other data, and only there") {
    RaceSettings a;
    a.run.data = "spiral";
    RaceSettings b = a;
    b.run.hiddenWidths = std::vector<std::size_t>{4};
    b.run.settings.batch = 7;
    CHECK(dataKey(a.run) == dataKey(b.run));
    b.run.settings.seed += 1;
    CHECK(dataKey(a.run) != dataKey(b.run));
    // Fashion-MNIST comes from its files alone.
    a.run.data = b.run.data = "fashion-mnist";
    CHECK(dataKey(a.run) == dataKey(b.run));
    b.run.dataOptions.samples += 1;
    CHECK(dataKey(a.run) != dataKey(b.run));
}

TEST_CASE("how much of the way a lane has made") {
    FinishLine steps{.steps = 100};
    LaneResult lane = laneOf("cpu:best", LaneStatus::running, 25);
    lane.end.progress = 0.25;
    CHECK(shareOfWay(steps, lane) == 0.25);
    lane.end.status = LaneStatus::finished; // also where it ended by another line
    CHECK(shareOfWay(steps, lane) == 1);
    lane.end.status = LaneStatus::running;

    // Towards an accuracy, epochs say nothing; before the first look nothing is known.
    FinishLine accuracy{.epochs = 10, .accuracy = 0.8};
    CHECK(shareOfWay(accuracy, lane) == 0);
    lane.end.testAccuracy = 0.6;
    CHECK(shareOfWay(accuracy, lane) == doctest::Approx(0.75));
    lane.end.testAccuracy = 0.9;
    CHECK(shareOfWay(accuracy, lane) == 1);

    // Towards a loss by the logarithm, from the first step's loss on: 0.1 is half the way from 1 to 0.01.
    FinishLine loss{.loss = 0.01};
    lane.end.testLoss = 0.1;
    CHECK(shareOfWay(loss, lane) == 0); // no first loss yet
    const LossPoint first{0, 1.0f, 0};
    lane.telemetry.addLosses({&first, 1});
    CHECK(shareOfWay(loss, lane) == doctest::Approx(0.5));
    lane.end.testLoss = 7; // worse than at the start
    CHECK(shareOfWay(loss, lane) == 0);
    lane.end.testLoss = std::numeric_limits<double>::infinity();
    CHECK(shareOfWay(loss, lane) == 0);
}

TEST_CASE("a lane's status in words") {
    RaceRun run;
    run.lanes.push_back(laneOf("cpu:best", LaneStatus::waiting));
    CHECK(statusText(run, 0) == "waits for its turn");
    run.settings.together = true;
    CHECK(statusText(run, 0) == "waiting");
    // In slow motion a lane is held between its steps; only a person pauses it.
    run.lanes[0].end.status = LaneStatus::paused;
    CHECK(statusText(run, 0) == "running");
    run.paused = true;
    CHECK(statusText(run, 0) == "paused");
    CHECK(matchText({laneSpecFromText("cpu"), laneSpecFromText("gpu:naive@0")}) ==
          "cpu:best against gpu:naive@0");
    run.lanes.push_back(laneOf("gpu:best", LaneStatus::waiting));
    CHECK(liveText(run) == "cpu:best against gpu:best"); // nothing moves yet
}

TEST_CASE("what a step costs, from its timings") {
    const LostRace lost;
    const StepCost cost = stepCost(lost.run.lanes[1], lost.run.job);
    CHECK(cost.seconds == doctest::Approx(1e-3));
    CHECK(cost.launches == doctest::Approx(3)); // one dense, two updates
    CHECK(cost.sampledSeconds == doctest::Approx(0.7e-3));
    CHECK(cost.shortest == doctest::Approx(0.1e-3));
    CHECK(cost.flops == doctest::Approx(10 * lost.run.job.shape.flopsPerExample())); // ten examples a step
    const StepCost untimed = stepCost(lost.run.lanes[0], lost.run.job);
    CHECK(untimed.seconds > 0);
    CHECK(untimed.launches == 0);
    CHECK(stepCost(laneOf("gpu:best", LaneStatus::running), lost.run.job).seconds == 0);
}

TEST_CASE("why the processor wins is said only where it did, and by the lanes' own numbers") {
    LostRace lost;
    // Three launches of at least 0.1 ms are less than half of 0.7 ms: the arithmetic counts.
    CHECK(says(whyTheProcessorWins(lost.run), "it suits this work better"));
    lost.run.lanes[1].machine.software = true;
    CHECK(says(whyTheProcessorWins(lost.run), "this Vulkan device is software"));
    lost.run.lanes[1].operations[0].milliseconds = 0.3; // now launches are most of it
    CHECK(says(whyTheProcessorWins(lost.run), "launches cost more than the arithmetic"));
    CHECK(says(whyTheProcessorWins(lost.run), "3 launches"));
    std::swap(lost.run.headline.faster, lost.run.headline.slower);
    CHECK(whyTheProcessorWins(lost.run).empty());
    std::swap(lost.run.headline.faster, lost.run.headline.slower);
    lost.run.headline.valid = false;
    CHECK(whyTheProcessorWins(lost.run).empty());
}

TEST_CASE("durations") {
    CHECK(duration(12.34e-6) == "12.3 µs");
    CHECK(duration(0.00456) == "4.56 ms");
    CHECK(duration(1.234) == "1.23 s");
    CHECK(duration(0) == "0 µs");
}
