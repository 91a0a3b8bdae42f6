// Files that the window opens and saves: states, presets, and what is none of these.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/show_script.h"

namespace fs = std::filesystem;
using namespace lockstep::test;
using Json = nlohmann::ordered_json;

TEST_CASE("files are opened and saved by name in the window, and none is replaced unasked") {
    const Folder folder;
    const std::string saved = folder.file("mine.json");
    fs::create_directory(folder.path / "inner");
    std::ofstream(folder.path / "inner" / "light.json") << R"({"lockstep": 1, "theme": "light"})";
    const std::string saveAs = "click menu/File\nclick menu/Save as\nclick ##file/folder\nkey Ctrl+A\ntype " +
                               folder.path.string() +
                               "\nkey Enter\nclick ##file/name\nkey Ctrl+A\ntype mine\n";
    REQUIRE(showScript(folder, "race", saveAs + "click Save##file\n").code == 0);
    CHECK(Json::parse(contents(saved))["theme"] == "dark");

    const Outcome asked = showScript(
        folder, "race", "theme light\n" + saveAs + "key Enter\nclick Keep##file\nclick Cancel##file\n");
    REQUIRE(asked.code == 0);
    CHECK(Json::parse(contents(saved))["theme"] == "dark");
    REQUIRE(showScript(folder, "race", "theme light\n" + saveAs + "key Enter\nclick Replace##file\n").code ==
            0);
    CHECK(Json::parse(contents(saved))["theme"] == "light");

    const Outcome opened = showScript(
        folder, "race",
        "key Ctrl+O\nclick ##file/folder\nkey Ctrl+A\ntype " + folder.path.string() +
            "\nkey Enter\nclick file/inner/\nclick Up##file\nclick file/inner/\nclick file/light.json\n"
            "click Open##file\nclick menu/File\nclick menu/Open recent\ncontrols\nstate " +
            folder.file("opened.json") + "\n");
    INFO(opened.out << opened.err);
    REQUIRE(opened.code == 0);
    CHECK(Json::parse(contents(folder.file("opened.json")))["theme"] == "light");
    CHECK(std::ranges::count(controlNames(opened.out), "menu/Open recent/light.json") == 1);
}

TEST_CASE("presets open from the menu") {
    const Folder folder;
    const Outcome outcome = showScript(folder, "race",
                                       "click menu/File\nclick menu/Presets\nclick menu/Presets/Playground\n"
                                       "click menu/Presets/Two spirals\nframes 2\nstate " +
                                           folder.file("s.json") + "\n");
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    const Json state = Json::parse(contents(folder.file("s.json")));
    CHECK(state["title"] == "Two spirals");
    CHECK(state["exhibit"] == "playground");
}

TEST_CASE("a lesson is in sight, goes on by keys, and keeps its task to its exhibit") {
    const Folder folder;
    const auto saved = [&](const char* name) { return "frames 2\nstate " + folder.file(name) + "\n"; };
    const Outcome outcome = showScript(
        folder, "map",
        "click Lessons\nframes 2\nclick lesson/why-is-my-gpu-slower\n" + saved("first.json") +
            "key PageDown\n" + saved("second.json") + "click Map\n" + saved("map.json") +
            "controls\nclick Back to the lesson\nkey PageUp\nframes 2\nkey PageUp\n" + saved("again.json"));
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    const auto state = [&](const char* name) { return Json::parse(contents(folder.file(name))); };
    CHECK(state("first.json")["exhibit"] == "race");
    CHECK(state("first.json")["exhibits"]["race"]["hidden"] == Json{8, 8});
    CHECK(state("second.json")["exhibit"] == "parallelism");
    CHECK(state("map.json")["exhibit"] == "map");
    CHECK(std::ranges::count(controlNames(outcome.out), "Next##lesson") == 0);
    CHECK(state("again.json")["exhibit"] == "race");
}

TEST_CASE("details come with a lesson and go with it, until they are opened or closed by hand") {
    const Folder folder;
    std::ofstream(folder.file("lesson.json"))
        << R"({"lockstep": 1, "title": "T", "about": "a b c", "task": "d e"})";
    const auto saved = [&](const char* name) { return "frames 2\nprose\nstate " + folder.file(name) + "\n"; };
    const std::string lesson = "drop lesson.json\n";
    const Outcome outcome =
        showScript(folder, "playground",
                   saved("begin.json") + lesson + saved("lesson.json") + "key D\n" + saved("closed.json") +
                       "click Details\n" + saved("again.json") + "click \u00d7##lesson\n" +
                       saved("over.json") + "click Details\n" + saved("open.json"));
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    std::vector<bool> shown;
    for (const int words : wordsSaid(outcome.out)) shown.push_back(words > 0);
    CHECK(shown == std::vector{false, true, false, true, false, true});
    const auto state = [&](const char* name) { return Json::parse(contents(folder.file(name))); };
    for (const char* free : {"begin.json", "lesson.json", "again.json", "over.json"})
        CHECK_FALSE(state(free).contains("details"));
    CHECK(state("closed.json")["details"] == false);
    CHECK(state("closed.json")["task"] == "d e");
    CHECK(state("open.json")["details"] == true);
}

TEST_CASE("a race that was run and a network that was trained are as they were once a lesson is closed") {
    const Folder folder;
    std::ofstream(folder.file("race.json")) << R"({"lockstep": 1, "exhibit": "race", "exhibits": {"race": {
        "data": "circle", "hidden": [8], "finish": {"steps": 40}, "lanes": ["cpu:simd", "gpu:naive"]}}})";
    std::ofstream(folder.file("lesson.md"))
        << "---\ntitle: T\n---\n## One\nText\n```step\nstate: {exhibit: race, exhibits: {race: {data: xor, "
           "finish: {steps: 5}}, playground: {data: xor}}}\n```\n## Two\n```step\nstate: {exhibit: "
           "playground}\n```\n";
    const auto seen = [&](const std::string& name) {
        return "move 0.5 0.99\nframes 2\npicture " + folder.file(name + ".png") + " exhibit\n";
    };
    const std::string lesson =
        "drop lesson.md\nframes 2\nclick Run\nframes 20\nkey PageDown\nframes 2\nclick "
        "Run\nframes 5\nkey PageDown\nframes 2\nclick \u00d7##lesson\nframes 2\n";
    const Outcome outcome = showScript(
        folder, "playground",
        "click Run\nframes 9\nclick Pause\nstate " + folder.file("trained.json") + "\n" + seen("trained") +
            "drop race.json\nframes 2\n" + seen("idle") + "click Run\nframes 120\n" + seen("raced") + lesson +
            seen("raced-after") + "click Playground\n" + seen("trained-after") + "state " +
            folder.file("trained-after.json") + "\n");
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    const auto picture = [&](const std::string& name) { return contents(folder.file(name + ".png")); };
    CHECK((picture("raced") != picture("idle"))); // in brackets: a message of a MB
    CHECK((picture("raced") == picture("raced-after")));
    CHECK((picture("trained") == picture("trained-after")));
    const auto network = [&](const char* name) {
        return Json::parse(contents(folder.file(name)))["exhibits"]["playground"];
    };
    CHECK(network("trained.json")["step"] > 0u);
    CHECK((network("trained.json") == network("trained-after.json")));
}

TEST_CASE("details that have no room say so") {
    const Folder folder;
    const Outcome outcome = showScript(folder, "playground", "key D\nframes 2\nprose\n", "--size 700x600");
    REQUIRE(outcome.code == 0);
    CHECK(wordsSaid(outcome.out) == std::vector{0});
    CHECK(outcome.says("The window is too narrow for the details."));
}

TEST_CASE("what is said again is shown again once a person has gone on") {
    const Folder folder;
    const std::string save = "state " + folder.file("s.json") + "\n";
    const auto told = [&](const std::string& script) {
        const std::string out = showScript(folder, "playground", script).out;
        std::size_t count = 0;
        for (std::size_t at = 0; (at = out.find("message: State saved", at)) != std::string::npos; ++at)
            ++count;
        return count;
    };
    CHECK(told(save + save) == 1);
    CHECK(told(save + "key R\n" + save) == 2);
}

TEST_CASE("opening a state can be taken back, and done again") {
    const Folder folder;
    std::ofstream(folder.file("other.json")) << R"({"lockstep": 1, "exhibit": "race",
        "exhibits": {"race": {"data": "circle", "finish": {"steps": 10}}}})";
    const Outcome outcome = showScript(folder, "race",
                                       "frames 2\ndrop other.json\nframes 4\nkey Ctrl+Z\nframes 2\nstate " +
                                           folder.file("back.json") + "\nkey Ctrl+Y\nframes 2\nstate " +
                                           folder.file("s.json") + "\n");
    REQUIRE(outcome.code == 0);
    CHECK(Json::parse(contents(folder.file("back.json")))["exhibits"]["race"]["data"] == "spiral");
    CHECK(Json::parse(contents(folder.file("s.json")))["exhibits"]["race"]["data"] == "circle");
}

TEST_CASE("broken states and foreign files become messages, and what was there stays") {
    const Folder folder;
    const auto write = [&](const char* name, const std::string& text) {
        std::ofstream(folder.file(name)) << text;
    };
    write("empty.json", "");
    write("text.json", "hello");
    write("other.json", "{\"a\": 1}");
    write("newer.json", "{\"lockstep\": 99}");
    write("wrong.json", "{\"lockstep\": 1, \"zoom\": \"big\"}");
    write("unknown.json", "{\"lockstep\": 1, \"exhibit\": \"rase\"}");
    write("inner.json",
          "{\"lockstep\": 1, \"exhibits\": {\"race\": 3, \"playground\": 3, \"inside\": 3, \"ladder\": 3, "
          "\"mosaic\": 3, \"map\": 3}}");
    write("noise.png", "\x89PNG....");
    write("broken.csv", "a,b\n1,\"2\n");
    fs::create_directory(folder.path / "folder.json");
    std::string script = "state " + folder.file("before.json") + "\n";
    std::size_t drops = 0;
    for (const char* name :
         {"empty.json", "text.json", "other.json", "newer.json", "wrong.json", "unknown.json", "inner.json",
          "noise.png", "broken.csv", "folder.json", "missing.json"}) {
        script += std::string("drop ") + name + "\nframes 2\n";
        ++drops;
    }
    script += "state " + folder.file("after.json") + "\n";
    const Outcome outcome = showScript(folder, "race", script);
    REQUIRE(outcome.code == 0);
    std::size_t messages = 0;
    for (std::size_t at = 0; (at = outcome.out.find("message: ", at)) != std::string::npos; ++at) ++messages;
    CHECK(messages >= drops);
    CHECK(contents(folder.file("before.json")) == contents(folder.file("after.json")));
}

TEST_CASE("a dropped table with an empty cell is read, and the message says what was done about it") {
    const Folder folder;
    std::string rows = "size,rooms,price\n";
    for (int i = 0; i < 20; ++i)
        rows += std::to_string(40 + i) + "," + (i == 3 ? "" : std::to_string(1 + i % 3)) + "," +
                std::to_string(100 + 7 * i) + ".5\n";
    std::ofstream(folder.file("homes.csv")) << rows;
    for (const char* exhibit : {"race", "ladder", "inside"}) {
        CAPTURE(exhibit);
        const Outcome outcome =
            showScript(folder, exhibit, "drop homes.csv\nframes 2\nstate " + folder.file("s.json") + "\n");
        CHECK(outcome.says(
            "1 cell had no value and took the mean of its column: Settings, Table, Missing cells."));
        CHECK(contents(folder.file("s.json")).find("homes.csv") != std::string::npos);
    }
}

TEST_CASE("of a state with a wrong part nothing is taken, and what runs goes on") {
    const Folder folder;
    std::ofstream(folder.file("half.json")) << R"({"lockstep": 1, "theme": "light", "exhibit": "playground",
        "exhibits": {"race": {"data": "moons"}, "playground": {"data": "xor"}, "inside": {"batch": "many"}}})";
    const Outcome outcome =
        showScript(folder, "race",
                   "click Run\nframes 5\nstate " + folder.file("before.json") +
                       "\ndrop half.json\nframes 2\ncontrols\nstate " + folder.file("after.json") + "\n");
    REQUIRE(outcome.code == 0);
    CHECK(outcome.says("message: the field 'batch'"));
    CHECK(contents(folder.file("before.json")) == contents(folder.file("after.json")));
    CHECK(std::ranges::count(controlNames(outcome.out), "Pause") == 1); // the race still runs

    // Each part makes sense, all of them together do not: so many parameters are no small network.
    std::ofstream(folder.file("large.json")) << R"({"lockstep": 1, "theme": "light", "exhibit": "playground",
        "exhibits": {"playground": {"data": "xor"}, "mosaic": {"hidden": [64, 64]}, "map": {"cpu": false}}})";
    const std::string states = "state " + folder.file("before.json") + "\ndrop large.json\nframes 2\nstate " +
                               folder.file("after.json") + "\n";
    const Outcome large = showScript(folder, "race", states);
    REQUIRE(large.code == 0);
    CHECK(large.says("message: "));
    CHECK(contents(folder.file("before.json")) == contents(folder.file("after.json")));
}
