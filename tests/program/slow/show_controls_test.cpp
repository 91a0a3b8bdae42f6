// Every control of the window, pressed and hidden by scripts of what a person does.
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/show_script.h"

using namespace lockstep::test;
using Json = nlohmann::ordered_json;

namespace {

bool isExhibit(const std::string& control) {
    return control == "My machine" || std::ranges::count(exhibits, control, titleOf) > 0;
}

/// Whether a control opens an exhibit, as a network of the mosaic does in the playground.
bool opensExhibit(const std::string& control) {
    return isExhibit(control) || control.starts_with("##shared entry/") || control.starts_with("list/") ||
           control.starts_with("mosaic/tiles") || control.starts_with("Open in Playground");
}

} // namespace

TEST_CASE("every control can be pressed, and nothing breaks") {
    for (const std::string& exhibit : exhibits) {
        CAPTURE(exhibit);
        const Folder folder;
        const std::string open = unfoldSettings(exhibit);
        const Outcome listed = showScript(folder, exhibit, open + "controls\n");
        REQUIRE(listed.code == 0);
        const std::vector<std::string> names = controlNames(listed.out);
        CHECK(names.size() > 20);
        std::string script = open;
        for (const std::string& name : names) {
            if (name.starts_with("menu/")) continue;
            // What one control opens must not hide the next, nor what leads to another exhibit.
            script += "try " + name + "\nkey Escape\n";
            if (opensExhibit(name)) script += openExhibit(exhibit);
        }
        const Outcome pressed = showScript(folder, exhibit, script);
        INFO(pressed.out << pressed.err);
        CHECK(pressed.code == 0);
    }
}

TEST_CASE("while a click hides controls, it uses none") {
    for (const std::string& exhibit : exhibits) {
        CAPTURE(exhibit);
        const Folder folder;
        const std::string hide = "click menu/View\nclick menu/Hide controls by clicking\n";
        const std::string open = unfoldSettings(exhibit);
        const Outcome listed = showScript(folder, exhibit, open + hide + "controls\n");
        REQUIRE(listed.code == 0);
        std::string script = open + "state " + folder.file("before.json") + "\n" + hide;
        std::size_t pressed = 0;
        for (const std::string& name : controlNames(listed.out)) {
            // Menus, and the list of exhibits: the way to what else is to be hidden.
            if (name.starts_with("menu/") || isExhibit(name)) continue;
            script += "try " + name + "\n";
            ++pressed;
        }
        script += "key Escape\nstate " + folder.file("after.json") + "\n";
        const Outcome outcome = showScript(folder, exhibit, script);
        INFO(outcome.out << outcome.err);
        REQUIRE(outcome.code == 0);
        const Json before = Json::parse(contents(folder.file("before.json")));
        Json after = Json::parse(contents(folder.file("after.json")));
        CHECK(pressed > 15);
        CHECK(after["hidden"].size() > 10);
        after["hidden"] = before["hidden"];
        CHECK(after.dump(2) == before.dump(2));
    }
}

TEST_CASE("a control that a teacher hides is gone, and comes back") {
    const Folder folder;
    const std::vector<std::string> hidden{"##lower", "##rate", "Reset", "data/xor", "device"};
    std::string script =
        "click Settings##playground\nclick menu/View\nclick menu/Hide controls by clicking\n";
    for (const std::string& name : hidden)
        script += "click " + name + (name == "##lower" ? "/Losses\n" : "\n");
    script += "key Escape\ncontrols\nstate " + folder.file("s.json") +
              "\nclick menu/View\nclick menu/Show all controls\ncontrols\n";
    const Outcome outcome = showScript(folder, "playground", script);
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(Json::parse(contents(folder.file("s.json")))["hidden"] == Json(hidden));
    const std::vector<std::string> seen = controlNames(outcome.out);
    for (const std::string name : {"##lower/Losses", "##rate", "Reset", "data/xor", "device"}) {
        CAPTURE(name);
        CHECK(std::ranges::count(seen, name) == 1); // of two lists, in the second
    }
}

TEST_CASE("the list of exhibits is whole in a window of 700 pixels, also with larger letters") {
    const Folder folder;
    for (const char* more : {"--size 1024x700", "--size 1280x700 --scale 1.1", "--size 2560x1440"}) {
        CAPTURE(more);
        const Outcome outcome = showScript(folder, "race", "frames 3\ncontrols\n", more);
        INFO(outcome.out << outcome.err);
        REQUIRE(outcome.code == 0);
        const std::vector<std::string> names = controlNames(outcome.out);
        for (const std::string& exhibit : exhibits) CHECK(std::ranges::count(names, titleOf(exhibit)) == 1);
        for (const char* name : {"My machine", "Lessons"}) CHECK(std::ranges::count(names, name) == 1);
    }
}

TEST_CASE("the side panel says at most sixty words at once, tables aside") {
    const std::string lesson =
        R"({"lockstep": 1, "title": "T", "about": "a b c d e f g", "task": "h i j k"})";
    for (const std::string& exhibit : exhibits) {
        CAPTURE(exhibit);
        const Folder folder;
        std::ofstream(folder.file("lesson.json")) << lesson;
        const Outcome outcome = showScript(folder, exhibit,
                                           "key D\nframes 1\nprose\nclick Run\nframes 30\nprose\ntry "
                                           "Answer##ladder\nprose\ntry Answer##ladder\n"
                                           "drop lesson.json\nprose\n");
        REQUIRE(outcome.code == 0);
        const std::vector<int> said = wordsSaid(outcome.out);
        REQUIRE(said.size() == 4);
        for (const int words : said) {
            CHECK(words > 0);
            CHECK(words <= 60);
        }
        // A lesson has its own introduction, which takes the place of the exhibit's.
        CHECK(said[3] <= 11 + 45);
        // A presenter's window has room for the panel when it is wide.
        const std::vector<int> presented =
            wordsSaid(showScript(folder, exhibit,
                                 "key D\nframes 1\nprose\nresize 1920 1080\nframes 1\nprose\n", "--presenter")
                          .out);
        REQUIRE(presented.size() == 2);
        CHECK(presented[0] == 0);
        CHECK(presented[1] > 0);
    }
}

TEST_CASE("in presenter mode a message lies over the exhibit, which keeps its place") {
    const Folder folder;
    const Outcome outcome = showScript(folder, "playground",
                                       "key P\nframes 2\ncontrols\ndrop missing.json\nframes 1\ncontrols\n");
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    std::vector<std::string> lines; // of both lists: with places
    std::istringstream out(outcome.out);
    for (std::string line; std::getline(out, line);)
        if (line.starts_with("control ")) lines.push_back(line);
    const auto message =
        std::ranges::find_if(lines, [](const std::string& line) { return line.ends_with(" messages"); });
    REQUIRE(message != lines.end());
    lines.erase(message);
    REQUIRE(lines.size() % 2 == 0);
    const auto half = lines.begin() + static_cast<std::ptrdiff_t>(lines.size() / 2);
    CHECK(std::vector(lines.begin(), half) == std::vector(half, lines.end()));
}

TEST_CASE("a presenter reaches the settings of every exhibit") {
    for (const std::string& exhibit : exhibits) {
        if (exhibit == "parallelism") continue; // which has none
        CAPTURE(exhibit);
        const Folder folder;
        const Outcome outcome = showScript(folder, exhibit, "frames 2\ncontrols\n", "--presenter");
        REQUIRE(outcome.code == 0);
        CHECK(std::ranges::any_of(controlNames(outcome.out), [](const std::string& name) {
            return name.find("Settings") != std::string::npos;
        }));
    }
}

TEST_CASE("the ladder's measurements and settings are at hand in every tab, also for a presenter") {
    const Folder folder;
    const std::vector<std::string> tabs{"Memory", "Source", "Rungs", "Roofline", "Crossover", "Training"};
    std::string script;
    for (const std::string& tab : tabs) script += "click ##ladder/tab/" + tab + "\nframes 1\ncontrols\n";
    // As it opens; a presenter's window; a wide one; a small window without a presenter.
    const std::vector<std::string> windows{"", "key P\nframes 2\n", "resize 1920 1080\n",
                                           "key P\nresize 640 480\n"};
    std::string all;
    for (const std::string& window : windows) all += window + "frames 1\n" + script;
    const Outcome outcome = showScript(folder, "ladder", all);
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    std::istringstream lines(outcome.out);
    std::size_t lists = 0;
    std::vector<std::string> names; // of one list of controls
    const auto check = [&] {
        if (names.empty()) return;
        ++lists;
        CAPTURE(lists);
        for (const char* name : {"Measure all rungs", "Settings##ladder"})
            CHECK(std::ranges::count(names, name) == 1);
        names.clear();
    };
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("control "))
            names.push_back(controlNames(line).front());
        else
            check();
    check();
    CHECK(lists == windows.size() * tabs.size());
}

TEST_CASE("Run shows the training that it starts on a rung, and a loaded state keeps its tab") {
    const Folder folder;
    const auto save = [&](const char* name) { return "state " + folder.file(name) + "\n"; };
    const auto tabOf = [&](const char* name) {
        return Json::parse(contents(folder.file(name)))["exhibits"]["ladder"].value("tab", "");
    };
    const Outcome outcome = showScript(folder, "ladder",
                                       "click ##ladder/tab/Source\n" + save("before") + "click Run\n" +
                                           save("running") + "click ##ladder/tab/Source\nframes 2\n" +
                                           save("back") + "drop before\nframes 2\n" + save("loaded"));
    REQUIRE(outcome.code == 0);
    CHECK(tabOf("before") == "source");
    CHECK(tabOf("running") == "training");
    CHECK(tabOf("back") == "source");
    CHECK(tabOf("loaded") == "source");
}

TEST_CASE("a source opens on the rung that changes the most, unless somebody has chosen another") {
    const Folder folder;
    const auto save = [&](const char* name) { return "state " + folder.file(name) + "\n"; };
    const auto rungOf = [&](const char* name) {
        return Json::parse(contents(folder.file(name)))["exhibits"]["ladder"].value("rung", "");
    };
    const std::string source = "click ##ladder/tab/Source\nframes 2\n";
    const std::string rungs = "click ##ladder/tab/Rungs\nframes 2\n";
    Json fresh = Json::parse(contents(stateOf("ladder"))); // without a choice of the user's
    for (const char* chosen : {"rung", "tab", "access"}) fresh["exhibits"]["ladder"].erase(chosen);
    std::ofstream(folder.file("fresh.json")) << fresh;
    const Outcome outcome = showScript(folder, "ladder",
                                       "drop " + folder.file("fresh.json") + "\nframes 2\n" + save("first") +
                                           source + save("source") + rungs + save("back") +
                                           "click rung/gpu:naive\nframes 2\n" + source + save("chosen"));
    REQUIRE(outcome.code == 0);
    CHECK(rungOf("first") == "gpu:naive");
    CHECK(rungOf("source") == "gpu:tiled");
    CHECK(rungOf("back") == "gpu:naive");
    CHECK(rungOf("chosen") == "gpu:naive");
}

TEST_CASE("a rung opens its memory: by the button below the ladder, or by another click on it") {
    const Folder folder;
    const auto save = [&](const char* name) { return "state " + folder.file(name) + "\n"; };
    const auto ladderOf = [&](const char* name) {
        return Json::parse(contents(folder.file(name)))["exhibits"]["ladder"];
    };
    const std::string rungs = "click ##ladder/tab/Rungs\nframes 2\n";
    // A small window, a presenter's, and the usual one: in one program, which measures once.
    const std::pair<std::string, const char*> windows[] = {
        {"small", "resize 1024 700\n"}, {"presenter", "resize 1280 800\nkey P\n"}, {"usual", "key P\n"}};
    std::string script;
    for (const auto& each : windows) { // clang captures no structured bindings
        const std::string& name = each.first;
        const auto saveOf = [&](const char* what) { return save((name + what).c_str()); };
        script += each.second + rungs + (name == "small" ? "" : "click rung/gpu:tiled\nframes 2\n") +
                  "click Its memory##ladder\nframes 2\n" + saveOf("button") + rungs +
                  "click rung/gpu:blocked\nframes 2\n" + saveOf("picked") +
                  "click rung/gpu:blocked\nframes 2\n" + saveOf("again") + rungs +
                  "click rung/cpu:simd\nclick rung/cpu:simd\nframes 2\n" + saveOf("processor");
    }
    const Outcome outcome = showScript(folder, "ladder", script);
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    for (const auto& each : windows) {
        const std::string& name = each.first;
        CAPTURE(name);
        const auto of = [&](const char* what) { return ladderOf((name + what).c_str()); };
        CHECK(of("button")["tab"] == "memory");
        CHECK(of("button")["rung"] == "gpu:tiled");
        CHECK(of("picked")["tab"] == "rungs");
        CHECK(of("picked")["rung"] == "gpu:blocked");
        CHECK(of("again")["tab"] == "memory");
        CHECK(of("again")["access"] == 0u);
        CHECK(of("processor")["tab"] == "rungs"); // which has no workgroup to look at
    }
}
