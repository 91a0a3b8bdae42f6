// What a person changed is taken back and made again; what a teacher hides keeps its place, and comes back.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/show_script.h"

using namespace lockstep::test;
using Json = nlohmann::ordered_json;

namespace {

const std::string hideMode = "click menu/View\nclick menu/Hide controls by clicking\n";
const std::string mouseAway = "move 0.99 0.99\nframes 2\n";

/// Saves the state as `name` in the folder.
std::string save(const Folder& folder, const char* name) { return "state " + folder.file(name) + "\n"; }

Json saved(const Folder& folder, const char* name) { return Json::parse(contents(folder.file(name))); }

/// The lists that "controls" printed, with places, one after the other.
std::vector<std::vector<std::string>> listsOf(const std::string& output) {
    std::vector<std::vector<std::string>> lists;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        if (line == "controls ") lists.emplace_back();
        if (line.starts_with("control ")) lists.back().push_back(line);
    }
    return lists;
}

bool names(const std::vector<std::string>& list, const std::string& control) {
    return std::ranges::any_of(list, [&](const std::string& line) { return line.ends_with(" " + control); });
}

} // namespace

TEST_CASE("in every exhibit, Ctrl+Z takes a change of settings back, and Ctrl+Y makes it again") {
    for (const std::string& exhibit : exhibits) {
        CAPTURE(exhibit);
        const Folder folder;
        // Exhibits that train have weights; an experiment has predictions, memory remedies, precision
        // formats, devices an exchange.
        const std::map<std::string, std::pair<std::string, std::string>> others{
            {"parallelism", {"click choice/1\n", "click choice/2\n"}},
            {"memory", {"click memory/offload\n", "click memory/together\n"}},
            {"devices", {"click ##devices overlap\n", "click ##devices overlap\n"}},
            {"precision", {"click precision/fp16\n", "click precision/bf16\n"}}};
        const auto other = others.find(exhibit);
        const auto& [first, second] =
            other != others.end()
                ? other->second
                : std::pair<std::string, std::string>("click New weights\n", "click New weights\n");
        const Outcome outcome = showScript(
            folder, exhibit,
            save(folder, "0") + first + save(folder, "1") + second + save(folder, "2") + "key Ctrl+Z\n" +
                save(folder, "back 1") + "click menu/Edit\nclick menu/Undo\n" + save(folder, "back 0") +
                "key Ctrl+Z\n" + save(folder, "nothing is left") + "key Ctrl+Y\n" + save(folder, "again 1") +
                "click menu/Edit\nclick menu/Redo\n" + save(folder, "again 2") + "key Ctrl+Z\n" + second +
                "key Ctrl+Shift+Z\n" + save(folder, "another 2"));
        INFO(outcome.out << outcome.err);
        REQUIRE(outcome.code == 0);
        const auto settings = [&](const char* name) {
            Json state = saved(folder, name)["exhibits"][exhibit];
            state.erase("operation"); // of what is shown
            return state.dump(2);
        };
        CHECK(settings("1") != settings("0"));
        CHECK(settings("2") != settings("1"));
        CHECK(settings("back 1") == settings("1"));
        CHECK(settings("back 0") == settings("0"));
        CHECK(settings("nothing is left") == settings("0"));
        CHECK(settings("again 1") == settings("1"));
        CHECK(settings("again 2") == settings("2"));
        CHECK(settings("another 2") == settings("2"));
    }
}

TEST_CASE("a drag is one change, and what undoes it leaves the race that is shown alone") {
    const Folder folder;
    Json state = Json::parse(contents(stateOf("race")));
    state["exhibits"]["race"]["finish"] = {{"steps", 40}};
    std::ofstream(folder.file("race.json")) << state;
    std::ofstream(folder.file("script.txt")) << "click Run\nframes 120\ncontrols\nclick Settings\n"
                                             << save(folder, "before") << "drag ##race batch 0.9 0.2\n"
                                             << save(folder, "dragged") << "controls\nkey Ctrl+Z\n"
                                             << save(folder, "after") << "controls\n";
    const Outcome outcome =
        run("show " + folder.file("race.json") + " --headless --mask --script " + folder.file("script.txt"));
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(saved(folder, "dragged")["exhibits"]["race"] != saved(folder, "before")["exhibits"]["race"]);
    CHECK(saved(folder, "after").dump(2) == saved(folder, "before").dump(2));
    const auto lists = listsOf(outcome.out);
    REQUIRE(lists.size() == 3);
    for (const auto& list : lists) CHECK(names(list, "Replay")); // of the finished race
    CHECK(names(lists[1], "Start with these settings"));
    CHECK_FALSE(names(lists[2], "Start with these settings"));
}

TEST_CASE("the map's Ctrl+Z leaves alone where it looks") {
    const Folder folder;
    const Outcome outcome = showScript(folder, "map",
                                       save(folder, "0") + "click New weights\nclick +##map\n" +
                                           save(folder, "1") + "key Ctrl+Z\n" + save(folder, "2"));
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    const auto map = [&](const char* name) { return saved(folder, name)["exhibits"]["map"]; };
    CHECK(map("1")["seed"] != map("0")["seed"]);
    CHECK(map("2")["seed"] == map("0")["seed"]);
    CHECK(map("1")["window"] != map("0")["window"]);
    CHECK(map("2")["window"] == map("1")["window"]);
}

TEST_CASE("a hidden control leaves all others where they are, and a click on its place brings it back") {
    for (const std::string& exhibit : exhibits) {
        CAPTURE(exhibit);
        const Folder folder;
        const std::string open = unfoldSettings(exhibit) + mouseAway;
        const Outcome listed = showScript(folder, exhibit, open + hideMode + "controls\n");
        REQUIRE(listed.code == 0);
        const std::vector<std::string> all = controlNames(listed.out);
        const auto isEntry = [&](const std::string& name) { // of a row that is hidden as a whole
            const std::size_t slash = name.rfind('/');
            return slash != std::string::npos && std::ranges::count(all, name.substr(0, slash)) > 0;
        };
        std::string clicks;
        std::size_t number = 0;
        for (const std::string& name : all) {
            const bool kept = name.starts_with("menu/") || name == "messages" ||
                              std::ranges::count(exhibits, name, titleOf) > 0 || name == "My machine" ||
                              isEntry(name);
            if (!kept && number++ % 3 == 0) clicks += "try " + name + "\n";
        }
        const Outcome outcome = showScript(folder, exhibit,
                                           open + "controls\n" + hideMode + clicks + "key Escape\n" +
                                               mouseAway + "controls\n" + save(folder, "hidden") + hideMode +
                                               clicks + "key Escape\n" + save(folder, "shown"));
        INFO(outcome.out << outcome.err);
        REQUIRE(outcome.code == 0);
        const auto lists = listsOf(outcome.out);
        REQUIRE(lists.size() == 2);
        for (const std::string& line : lists[1]) {
            CAPTURE(line);
            CHECK(std::ranges::count(lists[0], line) == 1);
        }
        const auto hidden = saved(folder, "hidden")["hidden"].get<std::vector<std::string>>();
        CHECK(hidden.size() >= 5);
        for (const std::string& name : hidden) {
            CAPTURE(name);
            CHECK_FALSE(names(lists[1], name));
        }
        CHECK(saved(folder, "shown")["hidden"].empty());
    }
}

TEST_CASE("exhibits are hidden from the list and from the keys, but for the last") {
    const Folder folder;
    const Outcome outcome = showScript(
        folder, "race",
        hideMode + "click Ladder\nclick Race\nkey Escape\ncontrols\n" + save(folder, "hidden") + "key 2\n" +
            save(folder, "second") + "key Ctrl+Z\nkey 1\ncontrols\n" + save(folder, "back") + hideMode +
            "click Playground\nclick Inside a step\nclick Memory\nclick Mosaic\nclick "
            "Map\nclick Devices\nclick Parallelism\nclick My machine\nclick Race\n" +
            save(folder, "last") + "click Map\n" + save(folder, "two"));
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(saved(folder, "hidden")["hidden"] == Json({"exhibit/ladder", "exhibit/race"}));
    CHECK(saved(folder, "hidden")["exhibit"] == "playground");
    CHECK(saved(folder, "second")["exhibit"] == "inside");
    CHECK(saved(folder, "back")["hidden"] == Json({"exhibit/ladder"}));
    CHECK(saved(folder, "back")["exhibit"] == "race");
    const auto lists = listsOf(outcome.out);
    REQUIRE(lists.size() == 2);
    CHECK_FALSE(names(lists[0], "Race"));
    CHECK_FALSE(names(lists[0], "Ladder"));
    CHECK(names(lists[0], "Inside a step"));
    CHECK(names(lists[1], "Race"));
    CHECK(outcome.says("message: One exhibit must stay in the list."));
    const std::size_t listed = exhibits.size(); // with My machine; Memory and Precision share an entry
    CHECK(saved(folder, "last")["hidden"].size() == listed - 1);
    CHECK(saved(folder, "last")["exhibit"] == "race");
    CHECK(saved(folder, "two")["hidden"].size() == listed - 2);
}

TEST_CASE("exhibits that share an entry are reached by it, by its key and by their names above") {
    const Folder folder;
    const Outcome outcome =
        showScript(folder, "race",
                   "key 5\ncontrols\n" + save(folder, "first") + "click ##shared entry/Precision\n" +
                       save(folder, "second") + "key 1\nkey 5\n" + save(folder, "last shown") +
                       "click Race\ncontrols\nclick Memory\n" + save(folder, "by the entry") +
                       "click menu/Exhibits\nclick menu/Memory\n" + save(folder, "by the menu") + "key 6\n" +
                       save(folder, "the next") + hideMode + "click Memory\n" + save(folder, "hidden") +
                       "key Escape\nkey 5\n" + save(folder, "without"));
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    const auto shown = [&](const char* name) { return saved(folder, name)["exhibit"]; };
    CHECK(shown("first") == "memory");
    CHECK(shown("second") == "precision");
    CHECK(shown("last shown") == "precision");
    CHECK(shown("by the entry") == "precision");
    CHECK(shown("by the menu") == "memory");
    CHECK(shown("the next") == "mosaic");
    CHECK(saved(folder, "hidden")["hidden"] == Json({"exhibit/memory"}));
    CHECK(shown("without") == "mosaic"); // the fifth now
    const auto lists = listsOf(outcome.out);
    REQUIRE(lists.size() == 2);
    CHECK(names(lists[0], "##shared entry/Memory"));
    CHECK_FALSE(names(lists[1], "##shared entry/Memory"));
}

TEST_CASE(
    "what a smaller network has no room for comes back with the larger one, and undo ends where it began") {
    const Folder folder;
    const std::string undo = "click menu/Edit\nframes 2\nclick menu/Undo\nframes 4\n";
    Json state = Json::parse(contents(stateOf("precision")));
    state["exhibits"]["precision"].update({{"layer", 3}, {"neuron", 1}, {"input", 7}, {"kind", "fp16"}});
    std::ofstream(folder.file("state.json")) << state;
    std::ofstream(folder.file("script.txt"))
        << save(folder, "0") << "click ##precision layers\ntype 8\nkey Enter\nframes 4\n"
        << save(folder, "1") << undo << save(folder, "back") << undo << save(folder, "nothing is left");
    const Outcome outcome =
        run("show " + folder.file("state.json") + " --headless --mask --script " + folder.file("script.txt"));
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    const auto precision = [&](const char* name) { return saved(folder, name)["exhibits"]["precision"]; };
    CHECK(precision("1")["hidden"] == Json({8}));
    CHECK(precision("1")["layer"] == 3);
    CHECK(precision("back").dump(2) == precision("0").dump(2));
    CHECK(precision("nothing is left").dump(2) == precision("0").dump(2));
}
