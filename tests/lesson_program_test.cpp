// Lessons as the program does them: those that come with it, in the terminal, in the window and on paper.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "demos/lesson/lesson_desk.h"
#include "demos/lesson/lesson_file.h"
#include "tests/show_script.h"

using namespace lockstep::demos;
using namespace lockstep::test;

namespace {

const std::string step = "---\ntitle: T\n---\n## One\n"; // the title is line 4

/// A step with these fields, which begin in line 6.
std::string with(const std::string& fields) { return step + "```step\n" + fields + "\n```\n"; }

std::vector<fs::path> shippedLessons() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(fs::path(LOCKSTEP_SOURCE_DIR) / "assets/lessons"))
        if (entry.path().extension() == ".md") files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

} // namespace

TEST_CASE("the program names what only it knows to be wrong: states, values and controls") {
    const Folder folder;
    std::ofstream(folder.file("wrong.md"))
        << step
        << "{{race.ratios}} {{lab.launch.nothing}} {{lab.lanch.finished}} {{rase.ratio}}\n```step\nstate: "
           "{exhibit: race, exhibits: {race: {hiden: "
           "[3]}}}\n```\n"
        << "## Two\n```step\nstate: {exhibit: race}\npoint: No such button\nwait: 1:race.ratio\n```\n"
        << "## Three\n[a](nowhere.md) [b](ftp://x.y) {{my.price}}\n";
    std::ofstream(folder.file("loop.md")) << "---\ntitle: T\nneeds: [wrong-way]\n---\n## One\nText\n";
    std::ofstream(folder.file("wrong-way.md")) << "---\ntitle: T\nneeds: [loop]\n---\n## One\nText\n";
    const Outcome loop = run("lesson check " + folder.file("loop.md"));
    INFO(loop.out);
    CHECK(loop.out.find("loop.md:3: this lesson needs itself") != std::string::npos);
    const Outcome outcome = run("lesson check " + folder.file("wrong.md"));
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code == 1);
    for (const char* message :
         {"wrong.md:4: nothing measures 'race.ratios'; did you mean 'race.ratio'? (known: race.ratio, ",
          "wrong.md:4: nothing measures 'lab.lanch.finished'; did you mean 'lab.launch'? (known: "
          "lab.launch, ",
          "wrong.md:4: nothing measures 'rase.ratio'; did you mean 'race'? (known: race, ",
          "wrong.md:4: nothing measures 'lab.launch.nothing'", "lab.launch.microseconds_per_dispatch",
          "wrong.md:7: unknown field of 'race' 'hiden'",
          "wrong.md:12: no control is called 'No such button' here", "wrong.md:15: unknown lesson 'nowhere'",
          "wrong.md:15: the link 'ftp://x.y' must be", "wrong.md:15: nothing measures 'my.price'",
          "wrong.md:13: '1:' must be the number of a step that waits"})
        CHECK(outcome.out.find(message) != std::string::npos);
    CHECK(run("lesson dance").says("action of 'lesson'"));
    CHECK(run("lesson show").says("needs the name of a lesson"));
    CHECK(run("lesson show why-is-my-gpu-slow").says("did you mean 'why-is-my-gpu-slower'"));
}

TEST_CASE(
    "every lesson that comes with the program is right, can be read, and can be done without a window") {
    std::string names;
    for (const fs::path& file : shippedLessons()) names += " " + file.stem().string();
    const Outcome checked = run("lesson check" + names);
    INFO(checked.out << checked.err);
    CHECK(checked.code == 0);
    for (const fs::path& file : shippedLessons()) {
        CAPTURE(file.filename().string());
        const Lesson lesson = readLesson(file);
        CHECK(lesson.about.size() > 20);
        CHECK(lesson.minutes > 0);
        for (const LessonStep& each : lesson.steps) {
            CAPTURE(each.title);
            std::size_t words = 0;
            for (const TextBlock& block : lessonBlocks(each.text, {}))
                words += static_cast<std::size_t>(std::ranges::count(plainText(block), ' ')) + 1;
            CHECK(words > 5);
            CHECK(words <= 100);
        }
        for (const std::string& needed : lesson.needs) CHECK_NOTHROW(lessonFile(needed));
        if (lesson.name == "first-hour") continue; // states to look at: nothing in it waits
        const Outcome done = run("lesson run --quick " + file.stem().string());
        INFO(done.out << done.err);
        CHECK(done.code == 0);
        for (const LessonStep& each : lesson.steps) CHECK(done.out.find(each.title) != std::string::npos);
    }
}

TEST_CASE(
    "in the window a lesson sets the exhibits up, takes answers, and gives a person's own settings back") {
    const Folder folder;
    std::ofstream(folder.file("l.md"))
        << with("state: {exhibit: playground, exhibits: {playground: {data: xor, hidden: [4]}}}\nask: Q\n"
                "choices: [a, b]\nright: 2\nwait: playground.steps > 20\npoint: Run")
        << "## Two\nText\n```step\nstate: {exhibit: map, hidden: [Reset]}\nask: N\nright: 12\n```\n## "
           "Three\nText\n";
    const auto saved = [&](const char* name) { return "frames 2\nstate " + folder.file(name) + "\n"; };
    const std::string script =
        saved("before.json") + "drop l.md\n" + saved("one.json") +
        "tell\nclick answer/1\ntell\nclick answer/2\nawait\ntell\n" + "key PageDown\n" + saved("two.json") +
        "click ##lesson/number\ntype 11.5\nkey Enter\nframes 2\nprose\nclick Race\n" +
        "click Back to the lesson\nkey PageDown\nkey PageDown\ncontrols\nkey PageUp\n" + saved("back.json") +
        "click ×##lesson\n" + saved("after.json");
    const Outcome outcome = showScript(folder, "ladder", script);
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    const auto state = [&](const char* name) { return nlohmann::json::parse(contents(folder.file(name))); };
    CHECK(state("one.json")["exhibit"] == "playground");
    CHECK(state("one.json")["exhibits"]["playground"]["data"] == "xor");
    CHECK(state("two.json")["exhibit"] == "map");
    CHECK(state("two.json")["hidden"] == nlohmann::json{"Reset"});
    CHECK(state("back.json")["exhibit"] == "map");
    CHECK(state("after.json") == state("before.json"));
    CHECK(outcome.out.find("2. b  <- here") != std::string::npos);
}

TEST_CASE("of a lesson with a wrong state nothing is taken, and the message has its line") {
    for (const char* state :
         {"{exhibit: moon}", "{theme: 3}", "{exhibits: {race: {lanes: 3}}}", "other.json"}) {
        CAPTURE(state);
        const Folder folder;
        std::ofstream(folder.file("l.md"))
            << with("state: {exhibit: map}") << "## Two\n```step\nstate: " << state << "\n```\n";
        const auto saved = [&](const char* name) { return "state " + folder.file(name) + "\n"; };
        const Outcome outcome = showScript(
            folder, "ladder", saved("before.json") + "drop l.md\nframes 2\n" + saved("after.json"));
        INFO(outcome.out << outcome.err);
        REQUIRE(outcome.code == 0);
        CHECK(outcome.says("l.md:10:"));
        CHECK(contents(folder.file("before.json")) == contents(folder.file("after.json")));
    }
}

TEST_CASE("a handout has every step with its picture; only the teacher's copy has the answers") {
    const Folder folder;
    std::ofstream(folder.file("l.md"))
        << step << "Text & `co<de`.\n```step\nstate: {exhibit: playground}\nask: Q\nchoices: [no, yes]\n"
        << "right: 2\nanswer: The reason.\n```\n";
    const auto page = [&](const std::string& more) {
        const Outcome outcome =
            run("lesson print " + folder.file("l.md") + " --html " + folder.file("p.html") + more);
        INFO(outcome.out << outcome.err);
        CHECK(outcome.code == 0);
        return contents(folder.file("p.html"));
    };
    const std::string handout = page("");
    CHECK(handout.find("<h2>1. One</h2>") != std::string::npos);
    CHECK(handout.find("data:image/png;base64,iVBORw0KGgo") != std::string::npos);
    CHECK(handout.find("☐ yes") != std::string::npos);
    CHECK(handout.find("The reason.") == std::string::npos);
    const std::string teacher = page(" --answers");
    CHECK(teacher.find("☑ yes") != std::string::npos);
    CHECK(teacher.find("The reason.") != std::string::npos);
    CHECK_FALSE(fs::exists(folder.file("p.html.png")));
    CHECK(run("lesson print " + folder.file("l.md")).says("needs --html FILE"));
}
