// Inside a step, used as a person does: a shader typed, checked, run, taken back; a value of a tensor looked
// into.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/run_program.h"

namespace {

namespace fs = std::filesystem;
using namespace lockstep::test;
using Json = nlohmann::ordered_json;

const std::string settings = (fs::path(LOCKSTEP_SOURCE_DIR) / "tests/window/inside.json").string();

Outcome edit(const Folder& folder, const std::string& script, const std::string& state = settings) {
    std::ofstream(folder.file("script.txt")) << script;
    return run("show " + state + " --headless --mask --script " + folder.file("script.txt"));
}

/// To the first product's shader, its field active, the caret behind its last line.
const std::string openEditor = "click Next operation\nclick ##inside/tab/Source\nclick ##inside/panes/GLSL\n"
                               "click Edit##inside\nclick ##inside/code\nkey Ctrl+End\n";

std::size_t occurrences(const std::string& output, const std::string& control) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = output.find(control, at)) != std::string::npos; ++at) ++count;
    return count;
}

Json shadersOf(const std::string& stateFile) {
    return Json::parse(contents(stateFile))["exhibits"]["inside"]["shaders"];
}

} // namespace

TEST_CASE("a shader that does not compile shows its error, and the step goes on without it") {
    const Folder folder;
    const Outcome outcome =
        edit(folder, openEditor + "type nonsense here\nkey Ctrl+Enter\nframes 3\nkey Escape\npicture " +
                         folder.file("a.png") + "\nkey S\nframes 2\npicture " + folder.file("b.png") +
                         "\ncontrols\nstate " + folder.file("s.json") + "\n");
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(outcome.says("message: dense_naive.comp:37: "));
    CHECK_FALSE(outcome.says("edited##inside/title"));
    CHECK(contents(folder.file("a.png")) != contents(folder.file("b.png"))); // another step
    CHECK(shadersOf(folder.file("s.json"))["dense_naive.comp"].back() == "nonsense here");
}

TEST_CASE("a wrong shader is refused, a right one runs and is marked, and Revert takes it back") {
    const Folder folder;
    const Outcome outcome =
        edit(folder, openEditor + "type // the end\nkey Ctrl+Enter\nframes 3\nkey Escape\ncontrols\nstate " +
                         folder.file("right.json") +
                         "\nkey S\nframes 2\nclick Revert##inside\nframes 3\ntheme dark\ncontrols\nstate " +
                         folder.file("reverted.json") + "\n");
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK_FALSE(outcome.says("message: wrong"));
    CHECK(occurrences(outcome.out, "edited##inside/title") == 1); // before Revert, not after
    CHECK(shadersOf(folder.file("right.json"))["dense_naive.comp"].back() == "// the end");
    CHECK(shadersOf(folder.file("reverted.json")).empty());

    SUBCASE("its state brings it back, and it waits until it was seen") {
        const Outcome waits = edit(folder, "frames 5\ncontrols\nstate " + folder.file("again.json") + "\n",
                                   folder.file("right.json"));
        CHECK(waits.code == 0);
        CHECK(waits.says("message: Edited shaders wait in Source"));
        CHECK_FALSE(waits.says("edited##inside/title"));
        CHECK(contents(folder.file("again.json")) == contents(folder.file("right.json")));
    }
    SUBCASE("its state brings it back, checked and running") {
        const Outcome again =
            edit(folder, "click Check and run\nframes 2\ncontrols\nstate " + folder.file("again.json") + "\n",
                 folder.file("right.json"));
        CHECK(again.code == 0);
        CHECK(again.says("edited##inside/title"));
        CHECK(contents(folder.file("again.json")) == contents(folder.file("right.json")));
    }
    SUBCASE("a state whose shader computes something else is told so, and runs the built-in one") {
        Json state = Json::parse(contents(folder.file("right.json")));
        Json& lines = state["exhibits"]["inside"]["shaders"]["dense_naive.comp"];
        for (Json& line : lines)
            if (line == "        sum += bias[o];") line = "        sum += 0.5 * bias[o];";
        std::ofstream(folder.file("wrong.json")) << state;
        const Outcome wrong =
            edit(folder, "click Check and run\nframes 2\ncontrols\n", folder.file("wrong.json"));
        CHECK(wrong.code == 0);
        CHECK(wrong.says("message: wrong: forward, layer 1 of 3: A[1] is "));
        CHECK_FALSE(wrong.says("edited##inside/title"));
    }
    SUBCASE("another rung does not use it, and says so") {
        Json state = Json::parse(contents(folder.file("right.json")));
        state["exhibits"]["inside"]["gpu"] = "gpu:tiled";
        std::ofstream(folder.file("tiled.json")) << state;
        const Outcome tiled = edit(folder, "click Check and run\nframes 2\n", folder.file("tiled.json"));
        CHECK(tiled.code == 0);
        CHECK(tiled.says("message: not used: "));
    }
}

TEST_CASE("after a check, typing and undo go on where they were, and the message follows the verdict") {
    const Folder folder;
    const std::string undo = "key Ctrl+Z\nkey Ctrl+Z\nkey Ctrl+Z\n";
    // The first check by its keys, the second by its button.
    const Outcome outcome = edit(folder, openEditor + "type bad\nkey Ctrl+Enter\nframes 3\n" + undo +
                                             "type // x\nclick Check and run\nframes 3\ntype // y\nstate " +
                                             folder.file("s.json") + "\n");
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(shadersOf(folder.file("s.json"))["dense_naive.comp"].back() == "// x// y");
    const std::size_t wrong = outcome.out.find("message: dense_naive.comp:37: ");
    const std::size_t gone = outcome.out.find("message: The rejected edit is gone: ");
    const std::size_t right = outcome.out.find("message: Correct now: ");
    REQUIRE(wrong != std::string::npos);
    CHECK(wrong < gone);
    CHECK((gone == std::string::npos) != (right == std::string::npos));
}

TEST_CASE("an error's message leads to its line, by a click or by the keyboard") {
    for (const std::string press : {"click error 1##inside\n", "key Escape\nkey Tab\nkey Tab\nkey Enter\n"}) {
        CAPTURE(press);
        const Folder folder;
        const Outcome outcome =
            edit(folder, openEditor + "type bad\nkey Ctrl+Home\nclick Check and run\nframes 3\n" + press +
                             "frames 3\ntype // here\nstate " + folder.file("s.json") + "\n");
        INFO(outcome.out << outcome.err);
        REQUIRE(outcome.code == 0);
        CHECK(shadersOf(folder.file("s.json"))["dense_naive.comp"].back() == "// herebad");
    }
}

TEST_CASE("Ctrl+Z outside the text takes its changes and Revert back") {
    const Folder folder;
    const Outcome outcome = edit(folder, openEditor + "type // x\nkey Escape\nclick Revert##inside\nstate " +
                                             folder.file("reverted.json") + "\nkey Ctrl+Z\nframes 2\nstate " +
                                             folder.file("typed.json") + "\nkey Ctrl+Z\nframes 2\nstate " +
                                             folder.file("built in.json") + "\n");
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(shadersOf(folder.file("reverted.json")).empty());
    CHECK(shadersOf(folder.file("typed.json"))["dense_naive.comp"].back() == "// x");
    CHECK(shadersOf(folder.file("built in.json")).empty());
}

TEST_CASE("a check leaves the text scrolled as it was") {
    // Where a click into the middle of the field writes: the line tells what is in sight.
    const auto lineInSight = [](const std::string& check) {
        const Folder folder;
        const Outcome outcome =
            edit(folder, openEditor + "type // x\n" + check +
                             "frames 3\nclick ##inside/code\nkey End\ntype // here\nstate " +
                             folder.file("s.json") + "\n");
        INFO(outcome.out << outcome.err);
        REQUIRE(outcome.code == 0);
        const Json lines = shadersOf(folder.file("s.json"))["dense_naive.comp"];
        for (std::size_t i = 0; i < lines.size(); ++i)
            if (lines[i].get<std::string>().ends_with("// here")) return i;
        return lines.size();
    };
    const std::size_t expected = lineInSight("");
    CHECK(expected > 20); // of 37: the field was left at its end
    // What is said above the field may take a line of it.
    CHECK(lineInSight("key Ctrl+Enter\n") + 2 >= expected);
    CHECK(lineInSight("click Check and run\n") + 2 >= expected);
}

TEST_CASE("a click on a value that a product writes shows its sum, until another operation is selected") {
    const Folder folder;
    const Outcome outcome =
        edit(folder, "resize 1280 1100\nclick ##inside/tab/Tensors\nclick Next operation\ncontrols\nclick "
                     "A[1]\ntheme light\ncontrols\n"
                     "click All tensors##inside/element\nclick A[1]\nclick Next operation\nhover A[2]\n");
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(occurrences(outcome.out, " All tensors##inside/element\ncontrol ") == 1);
}

TEST_CASE("the tensors of every operation are in sight, in the usual window and smaller") {
    for (const std::string size : {"1280 800", "1024 700"}) {
        CAPTURE(size);
        const Folder folder;
        std::string script = "resize " + size + "\nclick ##inside/tab/Tensors\ncontrols\n";
        for (int i = 0; i < 10; ++i) script += "click Next operation\ncontrols\n";
        const Outcome outcome = edit(folder, script);
        INFO(outcome.out << outcome.err);
        REQUIRE(outcome.code == 0);
        const float bottom = std::stof(size.substr(5)) - 44; // of the card
        std::size_t tensors = 0;
        std::istringstream lines(outcome.out);
        for (std::string line; std::getline(lines, line);) {
            if (!line.starts_with("control ") || !line.ends_with("]")) continue;
            std::istringstream words(line.substr(8));
            float x = 0;
            float y = 0; // of the middle
            words >> x >> y;
            CHECK(y < bottom);
            ++tensors;
        }
        CHECK(tensors > 30);
    }
}

TEST_CASE("typing is typing: neither shortcuts nor Escape do anything else") {
    const Folder folder;
    const Outcome outcome =
        edit(folder, openEditor +
                         "type // x\nkey Space\nkey R\nkey S\nkey P\nkey 1\nkey Enter\ntype // y\n"
                         "key Escape\nframes 2\nstate " +
                         folder.file("s.json") + "\n");
    REQUIRE(outcome.code == 0);
    const Json state = Json::parse(contents(folder.file("s.json")));
    CHECK(state["exhibit"] == "inside");
    CHECK(state["presenter"] == false);
    const Json& lines = state["exhibits"]["inside"]["shaders"]["dense_naive.comp"];
    REQUIRE(lines.size() > 2);
    CHECK(lines[lines.size() - 2] == "// x");
    CHECK(lines.back() == "// y");
}

TEST_CASE("a state with shaders that are none is refused, and changes nothing") {
    const Folder folder;
    std::ofstream(folder.file("name.json"))
        << R"({"lockstep": 1, "exhibits": {"inside": {"batch": 7, "shaders": {"nothing.comp": [""]}}}})";
    std::ofstream(folder.file("text.json"))
        << R"({"lockstep": 1, "exhibits": {"inside": {"batch": 7, "shaders": {"update.comp": 3}}}})";
    const Outcome outcome =
        edit(folder, "state " + folder.file("before.json") + "\ndrop name.json\ndrop text.json\nstate " +
                         folder.file("after.json") + "\n");
    CHECK(outcome.code == 0);
    CHECK(outcome.says("message: the field 'shaders' of 'inside': nothing.comp is not a shader"));
    CHECK(outcome.says("message: the field 'shaders' of 'inside': update.comp must be a list of lines"));
    CHECK(contents(folder.file("before.json")) == contents(folder.file("after.json")));
}

TEST_CASE("a trial and the kernels that passed it are silent under validation") {
    const Folder folder;
    std::ofstream(folder.file("vk_layer_settings.txt"))
        << "khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT:"
           "VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT\n";
    std::ofstream(folder.file("script.txt")) << openEditor +
                                                    "type // the end\nkey Ctrl+Enter\nframes 3\nkey "
                                                    "Escape\ncontrols\nkey S\nframes 2\nkey R\nframes 2\n"
                                                    "click Revert##inside\nframes 3\n";
    const Outcome outcome =
        run("show " + settings + " --headless --mask --validation --script " + folder.file("script.txt"),
            "VK_LAYER_SETTINGS_PATH=" + folder.path.string());
    CHECK(outcome.code == 0);
    CHECK(outcome.says("edited##inside/title"));
    CHECK(outcome.err.find("validation:") == std::string::npos);
}
