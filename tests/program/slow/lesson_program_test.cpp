// Lessons as the program does them: those that come with it, in the terminal, in the window and on paper.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "demos/lesson/languages.h"
#include "demos/lesson/lesson_desk.h"
#include "demos/lesson/lesson_file.h"
#include "demos/telling/measured_text.h"
#include "tests/sanitized.h"
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
    int number = 0;
    for (const fs::path& file : shippedLessons()) {
        CAPTURE(file.filename().string());
        const Lesson lesson = readLesson(file);
        CHECK(lesson.about.size() > 20);
        CHECK(lesson.minutes > 0);
        for (const LessonStep& each : lesson.steps) {
            CAPTURE(each.title);
            std::size_t words = 0;
            for (const TextBlock& block : filledBlocks(each.text, {}))
                words += static_cast<std::size_t>(std::ranges::count(plainText(block), ' ')) + 1;
            CHECK(words > 5);
            CHECK(words <= 100);
        }
        for (const std::string& needed : lesson.needs) CHECK_NOTHROW(lessonFile(needed));
        if (lesson.name == "first-hour") continue;      // states to look at: nothing in it waits
        if (file.stem().extension() == ".de") continue; // measures what its English twin does
        if (sanitized && number++ % 3 != 0) continue;   // minutes there, and the same code
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
    CHECK(handout.find("____ of 1 as predicted") != std::string::npos);
    CHECK(handout.find("<h2>1. One</h2>") != std::string::npos);
    CHECK(handout.find("data:image/png;base64,iVBORw0KGgo") != std::string::npos);
    CHECK(handout.find("☐ yes") != std::string::npos);
    CHECK(handout.find("The reason.") == std::string::npos);
    const std::string teacher = page(" --answers");
    CHECK(teacher.find("☑ yes") != std::string::npos);
    CHECK(teacher.find("as predicted") == std::string::npos);
    CHECK(teacher.find("The reason.") != std::string::npos);
    CHECK_FALSE(fs::exists(folder.file("p.html.png")));
    CHECK(run("lesson print " + folder.file("l.md")).says("needs --html FILE"));
}

namespace {

/// The handout, or the teacher's copy, without its pictures; those in the order of the steps.
struct Paper {
    std::string text;
    std::vector<std::string> pictures;

    explicit Paper(std::string html) : text(std::move(html)) {
        constexpr std::string_view begin = "src=\"data:image/png;base64,";
        for (std::size_t at = 0; (at = text.find(begin, at)) != std::string::npos;) {
            const std::size_t end = text.find('"', at + begin.size());
            pictures.push_back(text.substr(at, end - at));
            text.erase(at, end - at);
        }
    }
};

Paper paperOf(const std::string& lesson, const std::string& more = "") {
    const Folder folder;
    const Outcome outcome = run("lesson print " + lesson + " --html " + folder.file("p.html") + more);
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code == 0);
    return Paper(contents(folder.file("p.html")));
}

/// What stands in a Markdown text as it is and is long enough to be told from others.
std::vector<std::string> passagesOf(const std::string& markdown) {
    std::vector<std::string> passages;
    for (const TextBlock& block : markdownBlocks(markdown))
        for (const TextSpan& span : block.spans)
            for (std::size_t at = 0; at < span.text.size();) {
                const std::size_t end = std::min(span.text.find_first_of("{}<>&\"", at), span.text.size());
                if (end - at >= 30) passages.push_back(span.text.substr(at, end - at));
                at = end + 1;
            }
    return passages;
}

} // namespace

TEST_CASE("what a step measures and explains is in no handout, though a later one shows the same exhibit") {
    const Folder folder;
    std::ofstream(folder.file("l.md"))
        << "---\ntitle: T\nvalues:\n  my.more: 1:playground.steps + 1\n  my.sum: my.price + 1\n---\n## One\n"
        << "Text\n```step\nstate: {exhibit: playground, exhibits: {playground: {data: xor, hidden: [4]}}}\n"
        << "inputs: [{name: my.price, label: P, value: 41}]\nask: N\nvalue: playground.train_loss\n"
        << "wait: playground.steps > 20\nanswer: The loss is {{playground.train_loss}} by now.\n```\n## Two\n"
        << "Steps: {{1:playground.steps}}; one more: {{my.more}}; sum: {{my.sum}}.\n\n"
        << "{measured 1:playground.steps} Then.\n\n{unmeasured playground.train_loss} Not yet.\n\n"
        << "Loss: {{playground.train_loss}}\n";
    const Paper handout = paperOf(folder.file("l.md"));
    const Paper teacher = paperOf(folder.file("l.md"), " --answers");
    REQUIRE(handout.pictures.size() == 2);
    REQUIRE(teacher.pictures.size() == 2);
    CHECK(handout.pictures[0] == handout.pictures[1]);
    CHECK(handout.pictures[0] != teacher.pictures[0]); // that would have been told
    INFO(handout.text);
    CHECK(handout.text.find("Steps: ____; one more: ____; sum: 42.") != std::string::npos);
    CHECK(handout.text.find("Then.") != std::string::npos);
    CHECK(handout.text.find("Loss: ____") != std::string::npos);
    CHECK(handout.text.find("by now") == std::string::npos);
    CHECK(teacher.text.find("by now") != std::string::npos);
    CHECK(teacher.text.find("____") == std::string::npos);
}

TEST_CASE("no handout of a lesson that comes with the program gives an answer away") {
    int number = 0;
    for (const fs::path& file : shippedLessons()) {
        if (textFileName(file).language == "de") continue; // the same steps and pictures
        if (sanitized && number++ % 6 != 0) continue;      // minutes there, and the same code
        CAPTURE(file.filename().string());
        const Lesson lesson = readLesson(file);
        const Paper handout = paperOf(file.string());
        // A handout shows no machine: it would be the teacher's.
        const auto ofMachine = [](const LessonStep& each) {
            return each.state.find("\"exhibit\":\"machine\"") != std::string::npos;
        };
        const auto drawn =
            lesson.steps.size() - static_cast<std::size_t>(std::ranges::count_if(lesson.steps, ofMachine));
        REQUIRE(handout.pictures.size() >= drawn);
        for (const LessonStep& each : lesson.steps) {
            CAPTURE(each.title);
            for (const std::string* text : {&each.answer, &each.notes})
                for (const std::string& passage : passagesOf(*text)) {
                    CAPTURE(passage);
                    CHECK(handout.text.find(passage) == std::string::npos);
                }
        }
        const bool onlyExhibits = handout.pictures.size() == lesson.steps.size();
        for (std::size_t i = 1; onlyExhibits && i < lesson.steps.size(); ++i) {
            CAPTURE(lesson.steps[i].title);
            // But for the ring around what a step points at, and an exhibit's own question, which is not
            // asked beside a lesson's.
            const LessonStep& now = lesson.steps[i];
            const LessonStep& before = lesson.steps[i - 1];
            const bool alike = now.point == before.point && now.ask.has_value() == before.ask.has_value();
            if (lesson.steps[i].state.empty() && alike)
                CHECK((handout.pictures[i] == handout.pictures[i - 1])); // in brackets: a message of a MB
        }
    }
}

TEST_CASE("while a lesson's 'try' is done, nothing is saved") {
    const std::string state = "state: {exhibit: playground}\n";
    const auto lessonWith = [&](const std::string& fields) {
        return step + "Text.\n```step\n" + fields + "\n```\n## Two\nText.\n```step\nask: Q\nright: 1\n" +
               "try: [\"click ##lesson/number\", type 1, key Enter, key PageDown, \"click Your "
               "name##lesson\", type Ada, key Enter, \"click Save answers##lesson\", \"click Save "
               "picture##ending\"]\n```\n";
    };
    const auto filesOf = [](const fs::path& path) {
        std::vector<std::string> files;
        for (const auto& entry : fs::recursive_directory_iterator(path))
            files.push_back(entry.path().string() +
                            (entry.is_regular_file() ? ": " + contents(entry.path()) : ""));
        std::ranges::sort(files);
        return files;
    };
    const Folder folder;
    fs::create_directories(folder.path / "work");
    std::ofstream(folder.file("work/precious.json")) << "{\"precious\": 1}";
    const std::string saveAs = "click menu/File, click menu/Save as, \"click ##file/folder\", type " +
                               folder.file("work") + ", key Enter, \"click ##file/name\", type ";
    const std::string tries[] = {
        state + "try: [" + saveAs + "precious, \"click Save##file\", \"try Replace##file\"]",
        state + "try: [" + saveAs + "new/other, \"click Save##file\", \"try Replace##file\"]",
        state + "try: [key F12, key Shift+F12, click menu/File, click menu/Save state, click menu/File, "
                "click menu/Save picture, click menu/File, click menu/Record]",
        "state: {exhibit: map}\ntry: [\"click Save##map\", \"click Save##map\"]",
    };
    for (const std::string& each : tries) {
        CAPTURE(each);
        std::ofstream(folder.file("evil.md")) << lessonWith(each);
        const std::vector<std::string> before = filesOf(folder.path / "work");
        const std::string there = "cd " + folder.file("work") + " &&";
        const Outcome done = run("lesson run " + folder.file("evil.md"), there);
        INFO(done.out << done.err);
        CHECK(filesOf(folder.path / "work") == before);
        if (each.starts_with(state)) CHECK(done.says("nothing is saved while a lesson's 'try' is done"));
        run("lesson print " + folder.file("evil.md") + " --answers --html " + folder.file("p.html"), there);
        CHECK(filesOf(folder.path / "work") == before);
    }
    run("lesson check " + folder.file("evil.md"), "cd " + folder.file("work") + " &&");
    CHECK(filesOf(folder.path / "work").size() == 1);
}
