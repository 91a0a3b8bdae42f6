// What a person types, drops and presses, and what a file says in their place.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/show_script.h"

using namespace lockstep::test;
using Json = nlohmann::ordered_json;

TEST_CASE("states that nobody would write neither hang the program nor make it useless") {
    const Folder folder;
    std::ofstream(folder.file("far.json"))
        << R"({"lockstep": 1, "exhibit": "inside", "exhibits": {"inside": {"data": "spiral", "hidden": [16],
            "gpu": "gpu:naive", "shown_ms": [1e9, 1000000000.0000001]}}})";
    // Not masked: the axis has to have times.
    CHECK(run("show " + folder.file("far.json") + " --headless --frames 3", "timeout 120").code == 0);

    const std::string saved = folder.file("s.json");
    const auto step = [&] {
        return Json::parse(contents(saved))["exhibits"]["playground"]["step"].get<std::uint64_t>();
    };
    const std::string trained = "click Run\nframes 2\nclick Pause\nstate " + saved + "\n";
    REQUIRE(showScript(folder, "playground", trained).code == 0);
    Json late = Json::parse(contents(saved));
    for (const std::uint64_t start : {std::uint64_t{1} << 49, std::uint64_t{1} << 50}) {
        CAPTURE(start);
        late["exhibits"]["playground"]["step"] = start;
        std::ofstream(folder.file("late.json")) << late.dump();
        const Outcome outcome = showScript(
            folder, "playground", "drop late.json\nclick Run\nframes 5\nclick Pause\nstate " + saved + "\n");
        CHECK(outcome.code == 0);
        const bool taken = start < std::uint64_t{1} << 50;
        CHECK(outcome.says("the field 'step' must be a whole number up to") == !taken);
        CHECK(step() > (taken ? start : 0));
    }
}

TEST_CASE("tables are read at once where they are small; no exhibit waits for a large one") {
    const Folder folder;
    std::ofstream(folder.file("small.csv")) << "x,y,class\n1,2,a\n-1,-2,b\n";
    std::ofstream broken(folder.file("large.csv"));
    for (int row = 0; row < 200000; ++row) broken << "0.25,0.75,a\n";
    broken << "1,\"2\n";
    broken.close();
    const auto dropped = [&](const std::string& exhibit, const std::string& file) {
        const Outcome outcome =
            showScript(folder, exhibit, "drop " + file + "\nstate " + folder.file("s.json") + "\n");
        CHECK(outcome.code == 0);
        return std::pair(outcome, Json::parse(contents(folder.file("s.json")))["exhibits"][exhibit]);
    };
    CHECK(dropped("playground", "small.csv").second["own"].size() == 2);
    const auto [refused, as] = dropped("playground", "large.csv");
    CHECK(refused.says("is larger than what the playground reads, 2 MiB"));
    CHECK(as["data"] == "circle");
    // These read it when they need it, on a thread of their own, and say then what is wrong.
    for (const std::string exhibit : {"race", "inside"})
        CHECK(dropped(exhibit, "large.csv").second["data"] == "csv:" + folder.file("large.csv"));
}

TEST_CASE("what is typed counts once the field is left; what makes no sense is said and put back") {
    const Folder folder;
    const std::string state = folder.file("s.json");
    const auto after = [&](const std::string& exhibit, const std::string& script) {
        const Outcome outcome = showScript(folder, exhibit, script + "state " + state + "\n");
        CHECK(outcome.code == 0);
        return std::pair(outcome, Json::parse(contents(state))["exhibits"][exhibit]);
    };
    const std::string layers = "click Settings\nclick ##inside/layers\nkey End\n";
    CHECK(after("inside", layers + "type , 4\nclick ##inside/tab/Network\n").second["hidden"] ==
          Json::array({16, 8, 4}));
    CHECK(after("inside", layers + "type 0, 4\nkey Enter\n").second["hidden"] == Json::array({16, 80, 4}));
    const auto [wrong, unchanged] = after("inside", layers + "type x\nclick ##inside/tab/Network\n");
    CHECK(wrong.says("give layer widths as whole numbers"));
    CHECK(unchanged["hidden"] == Json::array({16, 8}));
    CHECK(
        after("inside", "click Settings\nclick ##inside/seed\nkey End\ntype 2\nclick ##inside/tab/Network\n")
            .second["settings"]["seed"] == 12);
    CHECK(after("race", "click Settings\nclick ##race layers\nkey End\ntype ,4\nclick Settings\n")
              .second["hidden"] == Json::array({16, 16, 4}));
    // A number may have a decimal comma: in the fields of a race's finish line and of a mosaic's axis.
    CHECK(after("race", "click Settings\nclick ##race finish\nclick ##race finish/seconds\nframes 2\n"
                        "click ##race finish at\nkey Ctrl+A\ntype 2,5\nkey Enter\nframes 2\n")
              .second["finish"]["seconds"] == 2.5);
}

TEST_CASE("a double click or a digit types into a slider; keys stay in front of the help page") {
    const Folder folder;
    const auto file = [&](const char* name) { return folder.file(name); };
    const Outcome outcome = showScript(
        folder, "playground",
        "click Settings##playground\nclick ##rate\nclick ##rate\ntype 0,045\nkey Enter\nframes 2\nstate " +
            file("twice.json") + "\nframes 60\nclick ##rate\nkey 2\nframes 4\nkey Enter\nframes 2\n" +
            "state " + file("digit.json") + "\nclick data/xor\nkey F1\nkey 1\nframes 2\nstate " +
            file("help.json") + "\nkey Escape\nkey 1\nframes 2\nstate " + file("race.json") + "\n");
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    const auto state = [&](const char* name) { return Json::parse(contents(file(name))); };
    const auto rate = [&](const char* name) {
        return state(name)["exhibits"]["playground"]["settings"]["lr"].get<double>();
    };
    CHECK(rate("twice.json") == doctest::Approx(0.045));
    CHECK(rate("digit.json") == doctest::Approx(2));
    CHECK(state("digit.json")["exhibit"] == "playground");
    CHECK(state("help.json")["exhibit"] == "playground");
    CHECK(state("race.json")["exhibit"] == "race");
}

TEST_CASE("wheel, double click and dragging lead through the map, Alt and arrows back, bookmarks anywhere") {
    const Folder folder;
    const auto save = [&](const char* name) { return "state " + folder.file(name) + "\n"; };
    const auto map = [&](const char* name) {
        return Json::parse(contents(folder.file(name)))["exhibits"]["map"];
    };
    const Outcome outcome = showScript(
        folder, "map",
        save("first") + "hover map/GPU\nwheel 2\n" + save("wheel") + "key Alt+Left\n" + save("back") +
            "key Alt+Right\n" + save("forward") + "click map/GPU\nclick map/GPU\n" + save("double") +
            "drag map/CPU 0.25 0.75\n" + save("drag") + "key Alt+Left\n" + save("undragged") +
            "key Alt+Right\nclick Bookmarks##map\nclick ##map/bookmark name\ntype here\n"
            "click Add##map/bookmark\nkey Escape\nclick Whole##map\n" +
            save("whole") + "click Bookmarks##map\nclick here##map/bookmark\nkey Escape\n" + save("there") +
            "key Alt+Left\n" + save("last"));
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    const auto edges = [&](const char* name) { return map(name)["window"].get<std::vector<double>>(); };
    const auto width = [&](const char* name) { return edges(name)[1] - edges(name)[0]; };
    const auto middle = [&](const char* name) { return (edges(name)[1] + edges(name)[0]) / 2; };
    CHECK(width("first") == doctest::Approx(9));
    CHECK(width("wheel") == doctest::Approx(9 * 0.64)); // two notches
    CHECK(middle("wheel") == doctest::Approx(middle("first")).epsilon(0.02));
    CHECK(edges("back") == edges("first"));
    CHECK(edges("forward") == edges("wheel"));
    CHECK(width("double") == doctest::Approx(width("wheel") / 2));
    CHECK(width("drag") == doctest::Approx(width("double")));
    CHECK(middle("drag") == doctest::Approx(middle("double") - width("double") / 2).epsilon(0.02));
    CHECK(edges("undragged") == edges("double")); // all of the drag in one
    REQUIRE(map("there")["bookmarks"].size() == 1);
    CHECK(map("there")["bookmarks"][0]["name"] == "here");
    CHECK(width("whole") == doctest::Approx(9));
    CHECK(edges("there") == edges("drag"));
    CHECK(edges("last") == edges("whole"));
}

TEST_CASE("a script types UTF-8; what it cannot type is said with its place, before anything is done") {
    const Folder folder;
    const std::string name = "J\xC3\xB6rg \xC3\x84\xC3\x9F \xE2\x82\xAC 3 \xCE\xBB"; // Jörg Äß € 3 λ
    const std::string field = "click Bookmarks##map\nclick ##map/bookmark name\n";
    const Outcome outcome =
        showScript(folder, "map",
                   field + "type " + name + "\nclick Add##map/bookmark\nkey Escape\nstate " +
                       folder.file("typed.json") + "\n");
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(Json::parse(contents(folder.file("typed.json")))["exhibits"]["map"]["bookmarks"][0]["name"] ==
          name);

    const std::string untouched = "state " + folder.file("untouched.json") + "\n";
    const Outcome invalid = showScript(folder, "map", untouched + field + "type J\xF6rg\n");
    CHECK(invalid.code == 1);
    CHECK(invalid.says("script.txt:4: byte 2 of the text to type is not UTF-8"));
    CHECK_FALSE(fs::exists(folder.file("untouched.json")));
    // An emoji, which Dear ImGui takes only where it was built with 32-bit characters.
    const std::string smile = "\xF0\x9F\x99\x82";
    const Outcome above = showScript(
        folder, "map", field + "type " + smile + "\nclick Add##map/bookmark\n" + "key Escape\n" + untouched);
    if (above.code == 0)
        CHECK(contents(folder.file("untouched.json")).find(smile) != std::string::npos);
    else
        CHECK(above.says("script.txt:3: '" + smile + "' cannot be typed: this build of Dear ImGui takes "));
}

TEST_CASE("every mistake in a script is said with file and line") {
    const Folder folder;
    for (const auto& [line, message] : std::vector<std::pair<std::string, std::string>>{
             {"click Runn", "script.txt:2: nothing called 'Runn' is on the screen; there are:   Run"},
             {"key Spaec", "script.txt:2: unknown key 'Spaec'; did you mean 'Space'? (known: Space, "},
             {"frames many", "script.txt:2: frames takes a whole number from 0 to 1000000, not 'many'"},
             {"frames 1.5", "script.txt:2: frames takes a whole number"},
             {"wheel up", "script.txt:2: wheel takes numbers from -1000 to 1000, not 'up'"},
             {"move 0.5", "script.txt:2: move takes numbers from -100 to 100, not ''"},
             {"lesson what-is-a-gpo",
              "script.txt:2: unknown lesson 'what-is-a-gpo'; did you mean 'what-is-a-gpu'?"},
             {"clikc Run",
              "script.txt:2: there is no command 'clikc'; did you mean 'click'? (known: click, "}}) {
        const Outcome outcome = showScript(folder, "playground", "frames 1\n" + line + "\n");
        INFO(outcome.err);
        CHECK(outcome.code == 1);
        CHECK(outcome.says(message));
    }
}

TEST_CASE("keys lead through the numbers of a neuron, and round again") {
    const Folder folder;
    const Outcome outcome = showScript(
        folder, "playground",
        "click Run\nframes 2\nclick Pause\nstate " + folder.file("before.json") +
            "\nclick neuron/2.1\n"
            // From its bias by Next to the second input, to zero; by Previous over the bias to the last one.
            "key Down\nkey Down\nkey Right\nkey Space\nkey Space\nkey Up\nkey Left\nkey Space\n"
            "key Down\nkey Space\nkey Space\nkey Space\nkey Up\nkey Space\nkey Escape\n"
            "state " +
            folder.file("after.json") + "\n");
    REQUIRE(outcome.code == 0);
    const auto weights = [&](const char* file) {
        return Json::parse(contents(folder.file(file)))["exhibits"]["playground"]["weights"]
            .get<std::vector<float>>();
    };
    const std::vector<float> before = weights("before.json");
    const std::vector<float> after = weights("after.json");
    REQUIRE(before.size() == after.size());
    std::vector<std::size_t> zeroed;
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (before[i] == after[i]) continue;
        CHECK(after[i] == 0);
        zeroed.push_back(i);
    }
    REQUIRE(zeroed.size() == 2);
    CHECK(zeroed[1] - zeroed[0] == 2); // inputs 2 and 4 of the four
}

TEST_CASE("Tab leads through all controls and back, Space and Enter press them") {
    const Folder folder;
    const auto controlsAfter = [&](const std::string& script) {
        const Outcome outcome = showScript(folder, "race", script + "controls\n");
        INFO(outcome.out << outcome.err);
        REQUIRE(outcome.code == 0);
        return controlNames(outcome.out);
    };
    const auto has = [](const std::vector<std::string>& names, const std::string& name) {
        return std::ranges::count(names, name) == 1;
    };
    std::string toRun; // six menus come before it
    for (int i = 0; i < 7; ++i) toRun += "key Tab\n";
    for (const std::string press : {"key Space\n", "key Enter\n", "key Tab\nkey Shift+Tab\nkey Enter\n"}) {
        CAPTURE(press);
        CHECK(has(controlsAfter(toRun + press), "Pause"));
    }
    CHECK(has(controlsAfter("key Tab\nkey Shift+Tab\nkey Tab\nkey Space\n"), "menu/Quit")); // round the ends
    CHECK(has(controlsAfter("key F1\nkey Tab\nkey Tab\nkey Enter\n"), "##glossary"));       // the page's own

    // A field that Tab leaves keeps what was typed, and nothing more.
    const std::string state = folder.file("s.json");
    controlsAfter("click Settings\nclick ##race seed\nkey Ctrl+A\ntype 57\nkey Tab\nframes 2\nstate " +
                  state + "\n");
    CHECK(Json::parse(contents(state))["exhibits"]["race"]["settings"]["seed"] == 57);
}
