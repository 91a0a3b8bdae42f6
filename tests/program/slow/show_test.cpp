// The window's contents without a window: scripts of what a person does, pictures of what a person sees.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/gpu/device.h"
#include "tests/picture_compare.h"
#include "tests/show_script.h"

namespace {

namespace fs = std::filesystem;
using namespace lockstep::test;
using Json = nlohmann::ordered_json;

/// What a stored picture depends on besides the program: letters and rasterisation.
std::string platform() { return run("show --headless --platform").out; }

} // namespace

TEST_CASE("every exhibit draws itself, the same picture and the same log every time") {
    for (const std::string& exhibit : exhibits) {
        CAPTURE(exhibit);
        std::string logs[2];
        std::string pictures[2];
        for (int repeat = 0; repeat < 2; ++repeat) {
            const Folder folder;
            const Outcome outcome =
                showScript(folder, exhibit, "click Run\nframes 20\ntry Pause\nkey R\nkey S\nframes 5\n",
                           "--png " + folder.file("x.png"));
            REQUIRE(outcome.code == 0);
            logs[repeat] = outcome.out;
            pictures[repeat] = contents(folder.file("x.png"));
            CHECK(countColours(readPicture(folder.file("x.png")), 64) == 64);
        }
        CHECK(logs[0] == logs[1]);
        CHECK(pictures[0] == pictures[1]);
    }
}

TEST_CASE("a state that was saved comes back exactly") {
    for (const std::string& exhibit : exhibits) {
        CAPTURE(exhibit);
        const Folder folder;
        const std::string first = folder.file("first.json");
        const std::string second = folder.file("second.json");
        REQUIRE(showScript(folder, exhibit, "theme light\nstate " + first + "\n").code == 0);
        std::ofstream(folder.file("again.txt")) << "state " << second << "\n";
        REQUIRE(run("show " + first + " --headless --script " + folder.file("again.txt")).code == 0);
        CHECK(contents(first) == contents(second));
        CHECK(Json::parse(contents(first))["theme"] == "light");
    }
}

TEST_CASE("presets load, say what they show, and run") {
    std::size_t presets = 0;
    for (const auto& entry : fs::directory_iterator(fs::path(LOCKSTEP_SOURCE_DIR) / "assets/presets")) {
        CAPTURE(entry.path().string());
        ++presets;
        const Json preset = Json::parse(contents(entry.path()));
        CHECK(preset["title"].get<std::string>().size() > 3);
        CHECK(preset["about"].get<std::string>().size() > 20);
        CHECK(preset["task"].get<std::string>().size() > 20);
        CHECK(preset["answer"].get<std::string>().size() > 20);
        const auto words = [&](const char* field) {
            return std::ranges::count(preset[field].get<std::string>(), ' ') + 1;
        };
        CHECK(words("about") + words("task") <= 60); // they share a narrow panel with the exhibit's own
        const Folder folder;
        Json light = preset;
        // Nothing looks at the numbers, and without a window the ladder's frames wait for its measurements.
        if (Json& ladder = light["exhibits"]; ladder.contains("ladder")) {
            CHECK(ladder["ladder"]["batch"] <= 4096);
            ladder["ladder"]["batch"] = 4;
        }
        std::ofstream(folder.file("preset.json")) << light;
        const Outcome outcome = run("show " + folder.file("preset.json") + " --headless --mask --frames 3");
        CHECK(outcome.code == 0);
        // What a file edits waits for its reader; there is nothing else to say.
        const Json exhibits = preset.value("exhibits", Json::object());
        const bool edits = exhibits.contains("inside") && exhibits["inside"].contains("shaders");
        CHECK(outcome.says("message: Edited shaders wait in Source") == edits);
        if (!edits) CHECK_FALSE(outcome.says("message:"));
    }
    CHECK(presets >= 8);
}

TEST_CASE("the ladder counts the bytes of a network as large as its preset's, and has nothing to say") {
    const Outcome outcome = run("show ladder-all-rungs --headless --mask --frames 3");
    INFO(outcome.out);
    CHECK(outcome.code == 0);
    CHECK_FALSE(outcome.says("message:"));
}

TEST_CASE("a choice that makes no sense is said, wherever the fields are") {
    const Folder folder;
    const std::string choice = "click ##mosaic/x\nclick ##mosaic/x/momentum\nframes 2\nstate " +
                               folder.file("s.json") + "\n"; // sgd has none
    const std::pair<const char*, const char*> ways[] = {{"click Settings##mosaic\n", ""},
                                                        {"click ##mosaic/page/Settings\n", "--size 640x480"}};
    for (const auto& [open, size] : ways) {
        const Outcome outcome = showScript(folder, "mosaic", open + choice, size);
        INFO(outcome.out << outcome.err);
        REQUIRE(outcome.code == 0);
        CHECK(outcome.says("the optimizer sgd has no momentum"));
        CHECK(Json::parse(contents(folder.file("s.json")))["exhibits"]["mosaic"]["x"] == "lr=0.001:10:log");
    }
}

TEST_CASE("a file whose name no state could hold is refused, and the state can still be saved") {
    for (const std::string& exhibit : exhibits) {
        CAPTURE(exhibit);
        const Folder folder;
        std::ofstream(folder.file("caf\xe9.csv")) << "x,y,class\n1,2,0\n2,1,1\n3,3,0\n";
        const Outcome outcome =
            showScript(folder, exhibit, "drop caf\xe9.csv\nstate " + folder.file("s.json") + "\n");
        CHECK(outcome.code == 0);
        CHECK(outcome.says("caf\xef\xbf\xbd.csv: the file name is not UTF-8"));
        CHECK(Json::parse(contents(folder.file("s.json")))["exhibit"] == exhibit);
    }
}

TEST_CASE("weights are saved in few digits, and come back to the bit") {
    const Folder folder;
    const std::string first = folder.file("first.json");
    const std::string second = folder.file("second.json");
    const Outcome outcome =
        showScript(folder, "playground", "click Run\nframes 20\nclick Pause\nstate " + first + "\n");
    REQUIRE(outcome.code == 0);
    std::ofstream(folder.file("again.txt")) << "state " << second << "\n";
    REQUIRE(run("show " + first + " --headless --script " + folder.file("again.txt")).code == 0);
    CHECK(contents(first) == contents(second));
    const Json saved = Json::parse(contents(first))["exhibits"]["playground"];
    CHECK(saved["step"] >= 200);
    CHECK(saved["weights"].size() > 20);
    // Nine digits say which float it is; sign, point, zeros and a comma.
    CHECK(saved["weights"].dump().size() < 14 * saved["weights"].size());
}

TEST_CASE("the speed that the list shows is the exhibit's, and no other's") {
    const Folder folder;
    const std::string state = folder.file("s.json");
    const std::string other = folder.file("race.json");
    const Outcome outcome =
        showScript(folder, "playground",
                   "click ##speed\nclick ##speed/1 step/s\nclick Race\nstate " + other +
                       "\nclick Playground\nclick Run\nframes 150\nclick Pause\nstate " + state + "\n");
    REQUIRE(outcome.code == 0);
    CHECK_FALSE(Json::parse(contents(other)).contains("speed"));
    CHECK(Json::parse(contents(other))["speeds"] == Json{{"playground", 1}});
    const int steps = Json::parse(contents(state))["exhibits"]["playground"]["step"];
    CHECK(Json::parse(contents(state))["speed"] == 1);
    CHECK(steps >= 2);
    CHECK(steps <= 3);
}

TEST_CASE("wrong arguments are named") {
    CHECK(run("show rase --headless").says("did you mean 'race'"));
    CHECK(run("show race --headless --size big").code == 2);
    CHECK(run("show race --frames 3").code == 2); // only without a window
    const Folder folder;
    std::ofstream(folder.file("s.txt")) << "frames 1\nclikc Run\n";
    const Outcome outcome = run("show race --headless --script " + folder.file("s.txt"));
    CHECK(outcome.code == 1);
    CHECK(outcome.says("s.txt:2: there is no command 'clikc'; did you mean 'click'?"));
}

TEST_CASE("frames are drawn in any size, down to a single pixel") {
    const Folder folder;
    const Outcome outcome = showScript(folder, "race",
                                       "click Run\nresize 1 1\nframes 3\nresize 40 2000\nframes 3\n"
                                       "resize 3000 30\nframes 3\nresize 1280 800\nframes 3\n");
    CHECK(outcome.code == 0);
}

TEST_CASE("workgroups are drawn of the first step, which is repeated for them, and of later ones") {
    const Folder folder;
    const std::string script = "frames 3\nclick ##inside/tab/Workgroups\nframes 3\ncontrols\nclick Step\n"
                               "frames 3\ncontrols\n";
    std::ofstream(folder.file("script.txt")) << script;
    const auto countOf = [](const std::string& out) {
        return std::ranges::count(controlNames(out), std::string("workgroups"));
    };
    const Outcome outcome =
        run("show " + stateOf("inside") + " --headless --script " + folder.file("script.txt"));
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    const lockstep::gpu::Device device{lockstep::gpu::DeviceOptions{}};
    CHECK(countOf(outcome.out) == (device.limits().deviceClock ? 2 : 0)); // before and after the step
}

TEST_CASE("no race that begins or ends takes a view away") {
    for (const std::string view : {"", "Curves", "Time", "Result"}) {
        CAPTURE(view);
        const Folder folder;
        const std::string choice = view.empty() ? "" : "click ##race view/" + view + "\nframes 2\n";
        Json state = Json::parse(contents(stateOf("race")));
        state["exhibits"]["race"]["finish"] = {{"steps", 200}};
        std::ofstream(folder.file("short.json")) << state;
        std::ofstream(folder.file("script.txt"))
            << "click Run\nframes 2\n"
            << choice << "frames 90\nstate " << folder.file("a.json")
            << "\ncontrols\nclick Run\nframes 90\nstate " << folder.file("b.json") << "\n";
        const Outcome outcome = run("show " + folder.file("short.json") + " --headless --mask --script " +
                                    folder.file("script.txt"));
        INFO(outcome.out << outcome.err);
        REQUIRE(outcome.code == 0);
        CHECK(std::ranges::count(controlNames(outcome.out), "Replay") == 1); // it has ended
        const std::string expected = view == "Time" ? "time" : view == "Result" ? "result" : "curves";
        for (const std::string name : {"a.json", "b.json"})
            CHECK(Json::parse(contents(folder.file(name)))["exhibits"]["race"]["view"] == expected);
    }
}

TEST_CASE("a finished map no longer runs, and Run trains it again") {
    const Folder folder;
    const Outcome outcome =
        showScript(folder, "map", "click Run\nframes 40\nclick Run\nframes 2\ncontrols\n");
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(std::ranges::count(controlNames(outcome.out), "Pause") == 1);
}

TEST_CASE("saving a map leaves the painted one as it is, also where that fits its pane") {
    const Folder folder;
    Json state = Json::parse(contents(stateOf("map")));
    state["exhibits"]["map"]["picture"] = 0;
    std::ofstream(folder.file("fit.json")) << state;
    const std::string away = "move 0.9 0.02\n";
    std::ofstream(folder.file("script.txt"))
        << "resize 760 560\nclick Run\nframes 40\n"
        << away << "picture " << folder.file("a.png")
        << "\nclick Save PNG##map\nclick Pixels##map/saved size\nkey Ctrl+A\ntype 32\n"
        << "click File##map/saved file\nkey Ctrl+A\ntype " << folder.file("m.png") << "\nclick Save##map\n"
        << away << "picture " << folder.file("b.png") << "\n";
    const Outcome outcome =
        run("show " + folder.file("fit.json") + " --headless --mask --script " + folder.file("script.txt"));
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(outcome.says("Map of 32x32 pixels saved"));
    CHECK(fs::exists(folder.file("m.png")));
    const auto withoutMessages = [&](const char* name) { // they stand in the lowest rows
        ReadPicture picture = readPicture(folder.file(name));
        picture.height = 520;
        picture.rgb.resize(static_cast<std::size_t>(picture.width) * 520 * 3);
        return picture;
    };
    CHECK(differingShare(withoutMessages("a.png"), withoutMessages("b.png"), 0) == 0);
}

TEST_CASE("all of it is silent under core and synchronization validation") {
    const Folder folder;
    std::ofstream(folder.file("vk_layer_settings.txt"))
        << "khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT:"
           "VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT\n";
    for (const std::string& exhibit : exhibits) {
        CAPTURE(exhibit);
        // Only painted frames make the playground's maps beside its training.
        std::ofstream(folder.file("script.txt"))
            << (exhibit == "playground" ? "paint all\n" : "")
            << "click Run\nframes 20\nresize 900 700\nframes 5\nkey P\nframes 3\nkey P\nkey R\nframes 3\n";
        const Outcome outcome =
            run("show " + stateOf(exhibit) + " --headless --validation --script " + folder.file("script.txt"),
                "VK_LAYER_SETTINGS_PATH=" + folder.path.string());
        CHECK(outcome.code == 0);
        INFO(outcome.err);
        CHECK(outcome.err.find("validation:") == std::string::npos);
    }
}

// Stored pictures are exact where they were made (same letters, same driver), and alike elsewhere. To make
// them anew after a change that was meant: LOCKSTEP_GOLDEN=write build/release/tests/show_test -tc='stored*',
// then look at every one.
TEST_CASE("stored pictures") {
    const fs::path folder = fs::path(LOCKSTEP_SOURCE_DIR) / "tests/golden";
    const char* mode = std::getenv("LOCKSTEP_GOLDEN");
    const bool write = mode != nullptr && std::string(mode) == "write";
    if (write) std::ofstream(folder / "platform.txt") << platform();
    const bool same = contents(folder / "platform.txt") == platform();
    for (const std::string& exhibit : exhibits) {
        SUBCASE(exhibit.c_str()) // so that -sc=NAME takes one
        for (const std::string variant : {"", "--light", "--presenter"}) {
            const std::string name = exhibit + (variant.empty() ? "" : variant.substr(1)) + ".png";
            CAPTURE(name);
            const Folder temporary;
            const std::string made = write ? (folder / name).string() : temporary.file(name);
            // Forty frames with the two at either end of a script; only what is looked at is painted.
            const Outcome outcome =
                showScript(temporary, exhibit, "frames 36\n", "--run " + variant + " --png " + made);
            REQUIRE(outcome.code == 0);
            if (write) continue;
            const double differing =
                differingShare(readPicture(made), readPicture(folder / name), same ? 0 : 24);
            CHECK(differing <= (same ? 0.0 : 0.15));
        }
    }
}
