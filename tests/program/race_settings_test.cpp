// The settings of a race: as JSON, and as they are typed.
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "demos/exhibits/race/race_settings.h"
#include "demos/options/parse.h"
#include "demos/options/setting_words.h"

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

bool says(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

} // namespace

TEST_CASE("every setting of the table has its words, in the same order") {
    for (std::size_t i = 0; i < std::size(settingTable); ++i)
        CHECK(settingWords()[i].key == settingTable[i].key);
    CHECK(optionOf(settingRow("weight_decay")) == "--weight-decay");
}

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
    settings.repeat = 5;
    run.threads = 3;
    run.workgroups = 48;
    const Json json = toJson(settings);
    const RaceSettings back = raceSettingsFromJson(Json::parse(json.dump()));
    CHECK(toJson(back) == json);
    CHECK(back.run.lanes[1].device == "1");
    CHECK(back.run.settings.seed == 12345678901234567890u);
    CHECK(back.run.finish.accuracy == 0.875);
    CHECK(back.run.threads == 3);
    CHECK(back.run.workgroups == 48);
    CHECK(back == settings);
    const std::vector<std::size_t RunOptions::*> limits = {&RunOptions::threads, &RunOptions::workgroups};
    for (std::size_t RunOptions::*limit : limits) {
        RaceSettings other = settings;
        other.run.*limit = 0;
        CHECK_FALSE(other == settings);
        CHECK(setupText(other) != setupText(settings));
    }

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
        {{{"repeat", 0u}}, "'repeat'"},
        {{{"repeat", 21u}}, "from 1 to 20"},
        {{{"repeat", 2.5}}, "'repeat'"},
        {{{"threads", -1}}, "'threads'"},
        {{{"threads", 4097u}}, "4096"},
        {{{"gpu_workgroups", "all"}}, "'gpu_workgroups'"},
        {{{"gpu_workgroups", std::uint64_t{1} << 32}}, "'gpu_workgroups'"},
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
