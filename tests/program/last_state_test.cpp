// What is kept between starts, and how it is written: nothing that a person has made gets lost.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "demos/shell/app.h"
#include "demos/shell/program.h"
#include "demos/shell/state_file.h"
#include "tests/data_files.h"
#include "tests/test_device.h"

using namespace lockstep;
using namespace lockstep::demos;
using namespace lockstep::test;
using Json = nlohmann::ordered_json;

namespace {

std::string textOf(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

/// One start of the program, with a folder's last state.
class Start {
  public:
    explicit Start(const TemporaryFolder& folder, const std::filesystem::path& stateFile = {})
        : variable_("LOCKSTEP_STATE_FILE", (folder.path() / "state.json").string()) {
        ShowOptions options;
        options.stateFile = stateFile;
        restoreLast(app);
        beginWith(app, options);
    }
    ~Start() { storeLast(app); }
    Start(const Start&) = delete;
    Start& operator=(const Start&) = delete;

  private:
    const Environment variable_;
    const char* device_ = std::getenv("LOCKSTEP_TEST_DEVICE");
    Machines machines_{0, device_ == nullptr ? "" : device_};
    Graphics graphics_{machines_.openForDrawing({})};

  public:
    App app{graphics_, machines_};
};

const Json ownWork = Json::parse(R"({"lockstep": 1, "exhibit": "playground", "exhibits": {
    "playground": {"data": "own", "own": [[1, 2, 0], [2, 1, 1]]},
    "inside": {"shaders": {"dense_naive.comp": ["// mine"]}}}})");

Json pointsOf(const App& app) { return app.state()["exhibits"]["playground"]["own"]; }
Json shadersOf(const App& app) { return app.state()["exhibits"]["inside"]["shaders"]; }

} // namespace

TEST_CASE("a file that is opened at the start does not cost what it says nothing about") {
    const TemporaryFolder folder;
    {
        Start first(folder);
        first.app.setState(ownWork);
    }
    {
        Start preset(folder, std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "assets/presets/race-tiny.json");
        CHECK(preset.app.exhibit().id() == "race");
        CHECK(preset.app.state()["exhibits"]["race"]["data"] == "circle");
    }
    Start last(folder);
    CHECK(last.app.exhibit().id() == "race");
    CHECK(pointsOf(last.app) == ownWork["exhibits"]["playground"]["own"]);
    CHECK(shadersOf(last.app) == ownWork["exhibits"]["inside"]["shaders"]);
}

TEST_CASE("a last state that cannot be read is kept under another name, and the window says so") {
    Json otherVersion = ownWork;
    otherVersion["lockstep"] = 99;
    Json lostShader = ownWork;
    lostShader["exhibits"]["inside"]["shaders"] = {{"renamed.comp", {"// mine"}}};
    for (const std::string& text : {otherVersion.dump(), lostShader.dump(), std::string("{\"lockstep\": ")}) {
        CAPTURE(text);
        const TemporaryFolder folder;
        std::ofstream(folder.path() / "state.json") << text;
        {
            Start start(folder);
            REQUIRE(start.app.ui().messages.size() == 1);
            CHECK(start.app.ui().messages[0].text.starts_with("The last state cannot be restored: "));
            CHECK(start.app.ui().messages[0].hint.find("state.json.bad") != std::string::npos);
            CHECK(pointsOf(start.app).empty()); // nothing of it was taken
        }
        CHECK(textOf(folder.path() / "state.json.bad") == text);
        CHECK(Json::parse(textOf(folder.path() / "state.json"))["lockstep"] == 1);
    }
}

TEST_CASE("a pipe or a folder in the last state's place is left alone, and not waited for") {
    for (const bool pipe : {true, false}) {
        CAPTURE(pipe);
        const TemporaryFolder folder;
        const std::filesystem::path place = folder.path() / "state.json";
        if (pipe)
            REQUIRE(mkfifo(place.c_str(), 0600) == 0);
        else
            std::filesystem::create_directory(place);
        {
            Start start(folder);
            REQUIRE(start.app.ui().messages.size() == 1);
            CHECK(start.app.ui().messages[0].text.starts_with("The last state cannot be restored: "));
            CHECK(start.app.ui().messages[0].hint.find("stays as it is") != std::string::npos);
        }
        CHECK(std::filesystem::is_fifo(place) == pipe);
        CHECK(std::filesystem::is_directory(place) != pipe);
        CHECK_FALSE(std::filesystem::exists(folder.path() / "state.json.bad"));
    }
}

TEST_CASE("a file that is refused at the start leaves the last state as it is") {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "state.json") << ownWork;
    std::ofstream(folder.path() / "broken.json") << "{}";
    CHECK_THROWS_AS(Start(folder, folder.path() / "broken.json"), std::invalid_argument);
    CHECK(Json::parse(textOf(folder.path() / "state.json")) == ownWork);
}

TEST_CASE("a trained playground goes on at the next start, and from a saved state") {
    const TemporaryFolder folder;
    Json trained;
    {
        Start first(folder);
        first.app.setState(Json::parse(R"({"lockstep": 1, "exhibit": "playground", "speed": 0, "exhibits": {
            "playground": {"data": "circle", "hidden": [4], "lane": "cpu:scalar"}}})"));
        first.app.ui().scripted = true;
        first.app.update(0.02);
        CHECK_FALSE(first.app.lastState()["exhibits"]["playground"].contains("weights"));
        first.app.exhibit().run(first.app.ui());
        for (int frame = 0; frame < 5; ++frame) first.app.update(0.02);
        CHECK(first.app.state()["exhibits"]["playground"]["step"] > 10);
        CHECK(first.app.state()["exhibits"]["playground"].contains("weights"));
        trained = first.app.lastState()["exhibits"]["playground"];
        CHECK(trained["step"] > 10);
    }
    Start next(folder);
    CHECK(next.app.lastState()["exhibits"]["playground"] == trained);
    CHECK(next.app.ui().messages.empty());
}

TEST_CASE("a playground that diverged comes back with fresh weights") {
    const TemporaryFolder folder;
    {
        Start first(folder);
        first.app.setState(Json::parse(R"({"lockstep": 1, "exhibit": "playground", "speed": 0, "exhibits": {
            "playground": {"data": "circle", "hidden": [], "loss": "mse", "settings": {"lr": 10},
                           "lane": "cpu:scalar"}}})"));
        first.app.ui().scripted = true;
        first.app.exhibit().run(first.app.ui());
        for (int frame = 0; frame < 20 && first.app.ui().messages.empty(); ++frame) first.app.update(0.02);
        REQUIRE(first.app.ui().messages.size() == 1);
        CHECK_FALSE(first.app.lastState()["exhibits"]["playground"].contains("weights"));
    }
    Start next(folder);
    next.app.update(0.02);
    CHECK(next.app.ui().messages.empty());
}

TEST_CASE("races that are kept come back at the next start, and a state without any leaves them") {
    const TemporaryFolder folder;
    const Json curve = {{"step", {0, 10}}, {"seconds", {0.0, 0.5}}, {"value", {1.5, 0.25}}};
    const Json past = {{{"number", 3u},
                        {"settings", {{"data", "moons"}}},
                        {"result", "Equally fast"},
                        {"note", "a cold morning"},
                        {"lanes",
                         {{{"lane", "cpu:best"},
                           {"samples_per_second", 40000.0},
                           {"losses", curve},
                           {"accuracies", curve}}}}}};
    const auto state = [](Json race) -> Json {
        return {{"lockstep", 1}, {"exhibit", "race"}, {"exhibits", {{"race", std::move(race)}}}};
    };
    const auto kept = [](const Start& start) { return start.app.state()["exhibits"]["race"]; };
    {
        Start first(folder);
        CHECK_FALSE(kept(first).contains("history"));
        first.app.setState(state({{"history", past}}));
        first.app.setState(state({{"data", "xor"}}));
    }
    Start next(folder);
    const Json race = kept(next);
    REQUIRE(race.contains("history"));
    CHECK(race["history"][0]["note"] == "a cold morning");
    CHECK(race["history"][0]["settings"]["data"] == "moons");
    CHECK(race["history"][0]["lanes"] == past[0]["lanes"]);
    Json wrong = past;
    wrong[0]["lanes"][0]["losses"]["value"].push_back(1);
    CHECK_THROWS_WITH_AS(next.app.setState(state({{"history", wrong}})), doctest::Contains("'losses'"),
                         std::invalid_argument);
    CHECK(kept(next) == race);
}

TEST_CASE("the files opened last are kept between starts: ten, the newest first, each once") {
    const TemporaryFolder folder;
    const auto file = [&](int i) { return folder.path() / (std::to_string(i) + ".json"); };
    for (int i = 0; i < 12; ++i) std::ofstream(file(i)) << R"({"lockstep": 1})";
    std::ofstream(folder.path() / "recent.json") << "{\"broken\": ";
    {
        Start first(folder);
        CHECK(first.app.recentFiles().empty());
        for (int i = 0; i < 12; ++i) first.app.openFile(file(i));
        first.app.openFile(file(5));
        first.app.openFile(folder.path() / "missing.json");
    }
    Start next(folder);
    REQUIRE(next.app.recentFiles().size() == 10);
    CHECK(next.app.recentFiles()[0] == file(5));
    CHECK(next.app.recentFiles()[1] == file(11));
    CHECK(next.app.recentFiles()[9] == file(2));
}

TEST_CASE("a speed is remembered once it is chosen; one that is not in the list changes nothing") {
    const TemporaryFolder folder;
    {
        Start first(folder);
        CHECK(!first.app.state().contains("speed"));
        first.app.setState({{"lockstep", 1}, {"speed", 10}});
    }
    Start second(folder);
    CHECK(second.app.state()["speed"] == 10);
    CHECK_THROWS_AS(second.app.setState({{"lockstep", 1}, {"speed", 7}, {"presenter", true}}),
                    std::invalid_argument);
    CHECK(second.app.state()["speed"] == 10);
    CHECK(second.app.state()["presenter"] == false);
}

TEST_CASE("states of older versions come back: settings flat, under \"train\" or under \"settings\"") {
    const TemporaryFolder folder;
    Start start(folder);
    start.app.setState(Json::parse(R"({"lockstep": 1, "exhibit": "inside", "exhibits": {
        "inside": {"data": "spiral", "hidden": [8, 4], "activation": "tanh", "optimizer": "sgd", "batch": 10,
                   "seed": 7, "cpu": "cpu:simd", "gpu": "gpu:naive", "machine": "cpu"},
        "ladder": {"data": "moons", "hidden": [8], "optimizer": "adam", "batch": 64, "seed": 3},
        "playground": {"data": "xor", "train": {"optimizer": "momentum", "lr": 0.25, "batch": 7}},
        "race": {"data": "circle", "settings": {"optimizer": "adamw", "batch": 33}}}})"));
    const Json now = start.app.state()["exhibits"];
    const Json& inside = now["inside"];
    CHECK(inside["lanes"] == Json({"cpu:simd", "gpu:naive"}));
    CHECK(inside["machine"] == "cpu");
    CHECK(inside["hidden"] == Json({8, 4}));
    CHECK(inside["activation"] == "tanh");
    CHECK(inside["settings"]["optimizer"] == "sgd");
    CHECK(inside["settings"]["lr"] == 0.1); // the optimizer's own
    CHECK(inside["settings"]["batch"] == 10);
    CHECK(inside["settings"]["seed"] == 7);
    CHECK(now["ladder"]["settings"]["optimizer"] == "adam");
    CHECK(now["ladder"]["settings"]["seed"] == 3);
    CHECK(now["playground"]["settings"]["optimizer"] == "momentum");
    CHECK(now["playground"]["settings"]["lr"] == 0.25);
    CHECK(now["race"]["settings"]["optimizer"] == "adamw");
    CHECK(now["race"]["settings"]["batch"] == 33);
}

TEST_CASE("states are written to be read by people, but lists of numbers in one line") {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "new" / "s.json";
    const Json state = {{"a \"b\"", {1, -2.5, 3}}, {"c", {{"d", nullptr}, {"e", Json::object()}}},
                        {"f", {"g", "h"}},         {"i", {{1, 2}, {3, 4}}},
                        {"j", Json::array()},      {"k", true}};
    writeStateFile(file, state);
    CHECK(readStateFile(file) == state);
    CHECK(textOf(file) == "{\n"
                          "  \"a \\\"b\\\"\": [1,-2.5,3],\n"
                          "  \"c\": {\n"
                          "    \"d\": null,\n"
                          "    \"e\": {}\n"
                          "  },\n"
                          "  \"f\": [\n"
                          "    \"g\",\n"
                          "    \"h\"\n"
                          "  ],\n"
                          "  \"i\": [\n"
                          "    [1,2],\n"
                          "    [3,4]\n"
                          "  ],\n"
                          "  \"j\": [],\n"
                          "  \"k\": true\n"
                          "}\n");
}

TEST_CASE("a state that would be too large to be read again is not written") {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "s.json";
    writeStateFile(file, {{"lockstep", 1}});
    const Json tooLarge = {{"text", std::string(std::size_t{129} << 20, 'x')}};
    CHECK_THROWS_WITH_AS(writeStateFile(file, tooLarge), doctest::Contains("at most 8388608"),
                         std::runtime_error);
    CHECK(readStateFile(file) == Json{{"lockstep", 1}});
}
