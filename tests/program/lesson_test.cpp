// Lessons without their looks: files and what is wrong with them, values, answers, progress.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "demos/draw/read_png.h"

#include "demos/lesson/languages.h"
#include "demos/lesson/lesson_desk.h"
#include "demos/lesson/lesson_file.h"
#include "demos/lesson/lesson_pictures.h"
#include "demos/lesson/lesson_text.h"
#include "demos/telling/measured_text.h"
#include "demos/words/language.h"
#include "demos/words/typed_number.h"
#include "tests/data_files.h"
#include "tests/show_script.h"

using namespace lockstep::demos;
using namespace lockstep::test;

namespace {

const std::string head = "---\ntitle: T\n---\n"; // three lines
const std::string step = head + "## One\n";      // the title is line 4

/// A step with these fields, which begin in line 6.
std::string with(const std::string& fields) { return step + "```step\n" + fields + "\n```\n"; }

std::vector<LessonProblem> problemsOf(const std::string& text) {
    std::vector<LessonProblem> problems;
    lessonFromText(text, fs::path(LOCKSTEP_SOURCE_DIR) / "assets/lessons/x.md", problems);
    return problems;
}

Lesson lessonOf(const std::string& text) {
    std::vector<LessonProblem> problems;
    Lesson lesson = lessonFromText(text, "x.md", problems);
    CHECK(problems.empty());
    return lesson;
}

/// One of those that come with the program, read once for all that is asked about it.
const Lesson& shippedLesson(const std::string& name) {
    static std::map<std::string, Lesson> read;
    const auto found = read.find(name);
    return found != read.end() ? found->second
                               : read.emplace(name, readLesson(lessonFile(name))).first->second;
}

std::string repeated(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
}

} // namespace

TEST_CASE("a lesson is read with its steps, their texts and what they do") {
    const Lesson lesson = lessonOf(
        "---\ntitle: A title\nabout: It says.\nminutes: 7\nneeds: [one]\nsources: [\"Me, 2026\"]\n"
        "place: 3\n---\n\n## First\n\nSome **text**.\n\n```c\n## no title\n```\n\n```step\n"
        "state: {exhibit: map}\npoint: Run\nwait: race.ratio > 1:race.ratio\nask: How many?\nright: 12\n"
        "tolerance: 0.2\nanswer: |\n  Twelve.\ntry: [key R]\n```\n## Second\n");
    CHECK(lesson.title == "A title");
    CHECK(lesson.minutes == 7);
    CHECK(lesson.place == 3);
    CHECK(lesson.needs == std::vector<std::string>{"one"});
    REQUIRE(lesson.steps.size() == 2);
    const LessonStep& first = lesson.steps[0];
    CHECK(first.text == "\nSome **text**.\n\n```c\n## no title\n```\n\n");
    CHECK(nlohmann::json::parse(first.state) ==
          nlohmann::json{{"exhibit", "map"}, {"lockstep", 1}, {"hidden", nlohmann::json::array()}});
    CHECK(first.point == "Run");
    CHECK(first.wait->right.name() == "1:race.ratio");
    CHECK(first.ask->number == 12);
    CHECK(first.ask->tolerance == 0.2);
    CHECK(first.answer == "Twelve.\n");
    CHECK(first.tries == std::vector<std::string>{"key R"});
    CHECK(first.line == 10);
    CHECK(lesson.steps[1].title == "Second");
}

TEST_CASE("a step without words has those of its state") {
    std::vector<LessonProblem> problems;
    const Lesson lesson = lessonFromText(with("state: race-tiny.json"), "x.md", problems);
    REQUIRE(problems.empty());
    CHECK(lesson.steps[0].text.find("Press Run.") != std::string::npos);
    CHECK_FALSE(lesson.steps[0].answer.empty());
    CHECK_FALSE(nlohmann::json::parse(lesson.steps[0].state).contains("task"));
    const Lesson own =
        lessonFromText(step + "Mine.\n```step\nstate: race-tiny.json\n```\n", "x.md", problems);
    CHECK(own.steps[0].text == "Mine.\n");
}

TEST_CASE("a state whose texts cannot be drawn is refused when it is read") {
    for (const char* text : {"<b>bold</b>", "{{race.ratio", "{x} y", "![p](p.png)"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(lessonOfState({{"title", "T"}, {"about", text}}), std::invalid_argument);
        CHECK_THROWS_AS(lessonOfState({{"title", "T"}, {"answer", text}}), std::invalid_argument);
    }
}

TEST_CASE("what is wrong with a file is said with its line") {
    struct Wrong {
        std::string text;
        std::size_t line;
        std::string says;
    };
    const std::string question = "ask: Q\n";
    const Wrong wrong[] = {
        {"", 1, "begins with '---'"},
        {"# A title\n", 1, "begins with '---'"},
        {"---\ntitle: T\n", 1, "second '---' is missing"},
        {"---\nabout: x\n---\n## One\n", 1, "'title' is missing"},
        {"---\ntitle: T\ntitel: U\n---\n## One\n", 3, "titel"},
        {"---\ntitle: T\ntitle: U\n---\n## One\n", 3, "twice"},
        {"---\ntitle: [1\n---\n## One\n", 3, "not YAML"},
        {"---\ntitle: T\nminutes: soon\n---\n## One\n", 3, "minutes"},
        {"---\ntitle: T\nplace: 3.5\n---\n## One\n", 3, "'place' must be a whole number, 0 or more"},
        {"---\ntitle: T\nneeds: one\n---\n## One\n", 3, "needs"},
        {"---\ntitle: 12\n---\n## One\n", 2, "title"},
        {"---\ntitle: T\nsources: me\n---\n## One\n", 3, "list of texts"},
        {"---\n- a\n---\n## One\n", 2, "fields are expected"},
        {head, 0, "no step"},
        {head + "Hello.\n## One\n", 4, "nothing else may come before"},
        {repeated("## x\n", 0) + head + repeated("## x\n", 101), 104, "more than 100 steps"},
        {step + "```step\npoint: Run\n", 5, "no end"},
        {step + "```c\nint x;\n", 4, "no end"},
        {with("point: Run") + "```step\npoint: Run\n```\n", 8, "at most one block"},
        {with("piont: Run"), 6, "did you mean 'point'"},
        {with("point: [Run"), 7, "not YAML"},
        {with("point: 3"), 6, "point"},
        {with("state: nowhere.json"), 6, "there is no state 'nowhere.json'"},
        {with("state: ../presets/race-tiny.json"), 6, "without a folder"},
        {with("state: /etc/passwd"), 6, "without a folder"},
        {with("state: [1, 2]"), 6, "fields of a state"},
        {with("a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, "
              "*b, *b, *b, *b, *b]\n"
              "d: &d [*c, *c, *c, *c, *c, *c, *c, *c]\ne: [*d, *d, *d, *d, *d, *d, *d]"),
         6, "too many values"},
        {with("point: " + repeated("[", 40) + repeated("]", 40)), 6, "nested"},
        {with("wait: race.ratio >"), 6, "compare with something"},
        {with("wait: the race is over"), 6, "no name of a value"},
        {with("choices: [a, b]"), 6, "there is no 'ask'"},
        {with(question + "choices: [a]\nright: 1"), 7, "two to six"},
        {with(question + "choices: [a, b]\nright: 3"), 8, "from 1 to 2"},
        {with(question + "choices: [a, b]"), 6, "either 'right"},
        {with(question + "choices: [{txt: a, when: x.y}, b]"), 7, "txt"},
        {with(question + "tolerance: -1\nright: 2"), 7, "negative"},
        {with(question), 6, "either 'right' or"},
        {step + "![a picture](x.png)\n", 4, "there is no picture 'x.png' beside the lesson"},
        {step + "![a picture](../pictures/race.png)\n", 4, "name of a PNG file beside the lesson"},
        {step + "![a picture](x.jpg)\n", 4, "name of a PNG file beside the lesson"},
        {step + "Words ![a picture](x.png)\n", 4, "a picture is a paragraph by itself"},
        {step + "![a picture](x.png)\nwords\n", 4, "a picture is a paragraph by itself"},
        {step + "<b>bold</b>\n", 4, "HTML"},
        {step + "| a | {{b |\n|---|---|\n| c | d |\n", 4, "has no '}}'"},
        {step + "{{race.ratio\n", 4, "has no '}}'"},
        {step + "a \xFF\n", 5, "not UTF-8"},
        {step + "a\n## One\n", 6, "another step is called 'One'"},
        {step + std::string(2001, 'a') + "\n", 4, "more than 2000 bytes"},
        {with(question + "choices: [{text: a, when: x.y}, b]"), 6, "either all choices have a condition"},
        {with(question + "choices: [a, b]\nright: 1\nvalue: x.y"), 6, "asks for no 'value'"},
        {step + "{softwear} No.\n", 4, "must be software, hardware"},
        {step + "{if a b} No.\n", 4, "'a b' is no name of a value"},
        {step + "{{a +}}\n", 4, "neither the name of a value nor arithmetic"},
        {step + "{{(v.a}}\n", 4, "neither the name of a value nor arithmetic"},
        {step + "{{v.a | thread}}\n", 4, "NAME | thread | threads"},
        {with("answer: \"{{v.a b}}\""), 6, "neither the name of a value nor arithmetic"},
        {with("notes: \"<b>\""), 6, "HTML"},
        {with("wait: race.ratio > 2 *"), 6, "neither the name of a value nor arithmetic"},
        {with("inputs: {name: my.x}"), 6, "list of at most 8"},
        {with("inputs: [{name: price, label: P, value: 1}]"), 6, "'price' must begin with 'my.'"},
        {with("inputs: [{name: my.price, label: P}]"), 6, "'value' is missing"},
        {with("inputs: [{name: my.price, lable: P, value: 1}]"), 6, "did you mean 'label'"},
        {with(question + "sketch: launch\nright: 2"), 8, "a sketch has no 'right'"},
        {with(question + "sketch: launch\nwithin: 0.5"), 8, "at least 1"},
        {with(question + "right: 2\nwithin: 3"), 8, "belongs to a 'sketch'"},
        {"---\ntitle: T\nvalues:\n  hours: 3\n---\n## One\n", 3, "'hours' must begin with 'my.'"},
        {"---\ntitle: T\nvalues:\n  my.hours: 3 +\n---\n## One\n", 3, "neither the name"},
        {step + "{software No.\n", 4, "has no end"},
        {with("ask: \"{{x\"\nright: 1"), 6, "has no '}}'"},
        {with("try: [picture /tmp/x.png]"), 6, "command of 'try'"},
        {with("try: [\"key Ctrl+S\"]"), 6, "no key with Ctrl"},
        {with("point: " + repeated("[", 5000) + repeated("]", 5000)), 6, "nested"},
        {with("point: \"\\e[2J\""), 6, "control terminals"},
        {step + "a \x1b[2J\n", 0, "control terminals"},
        {with("try: [key Ctrl+S]"), 6, "no key with Ctrl"},
        {with("try: [\"type a\\nstate /tmp/x\"]"), 6, "is one line"},
    };
    for (const Wrong& each : wrong) {
        CAPTURE(each.text.substr(0, 200));
        const std::vector<LessonProblem> problems = problemsOf(each.text);
        std::string all;
        for (const LessonProblem& problem : problems) all += describe("x.md", problem) + "\n";
        CAPTURE(all);
        CHECK(std::ranges::any_of(problems, [&](const LessonProblem& problem) {
            return problem.line == each.line && problem.text.find(each.says) != std::string::npos;
        }));
    }
}

TEST_CASE("a 'try' may speak of what it does not do: saving is refused while it is done") {
    const Lesson lesson =
        lessonOf(with("try: [\"click Save the bus\", \"type Ctrl\", \"hover Record##race\"]"));
    CHECK(lesson.steps[0].tries.size() == 3);
}

TEST_CASE("what cannot be read as YAML is one problem, and no other field is missed") {
    const std::string deep = repeated("{a: ", 2000) + repeated("}", 2000);
    const std::vector<LessonProblem> problems =
        problemsOf("---\ntitle: T\nvalues: " + deep + "\n---\n## One\n");
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].line == 3);
    CHECK(problems[0].text == "too many values, or too deeply nested");
    CHECK(problemsOf("---\ntitle: \"\"\n---\n## One\n").at(0).text == "the title is empty");
}

TEST_CASE("a damaged picture is named with what is wrong, and a small file cannot become gigabytes") {
    const auto refused = [](const std::string& file, const char* why) {
        CHECK_THROWS_WITH_AS(decodePng(std::as_bytes(std::span(file)), "p.png"),
                             doctest::Contains((std::string("cannot read the PNG p.png: ") + why).c_str()),
                             std::runtime_error);
    };
    const std::string right = pngFile(4, 4, 4 * 17);
    CHECK(decodePng(std::as_bytes(std::span(right)), "p.png").rgba.size() == 64);
    std::string endless = right; // the library knows no reason for this one
    endless.replace(endless.find("IDAT") - 4, 4, "\xFF\xFF\xFF\xFF");
    refused(endless, "it is damaged");
    refused(right.substr(0, 20), "it is damaged");
    refused(right.substr(0, right.size() - 20), "it is damaged");
    refused("", "it is no PNG file");
    refused("GIF89a", "it is no PNG file");
    refused(pngFile(5000, 1, 20'001), "it has more than 4096 pixels a side");
    refused(pngFile(4096, 4096, 100), "it has 4096x4096 pixels; at most 8388608 can be shown");
    refused(pngFile(1, 1, std::size_t{300} << 20), "it is damaged"); // 300 kB unfold to 300 MB
}

TEST_CASE("a lesson has tables, pictures beside it, and links") {
    const Folder folder;
    fs::copy_file(fs::path(LOCKSTEP_SOURCE_DIR) / "assets/pictures/race.png", folder.file("race.png"));
    std::ofstream(folder.file("torn.png")) << contents(folder.file("race.png")).substr(0, 999);
    std::vector<LessonProblem> problems;
    const std::string text = step + "![The race](race.png)\n\n| a | b |\n|---|---|\n| **c** | d |\n\nSee "
                                    "[there](https://example.org).\n";
    const Lesson lesson = lessonFromText(text, folder.file("x.md"), problems);
    CHECK(problems.empty());
    const std::vector<TextBlock> blocks = filledBlocks(lesson.steps[0].text, {});
    REQUIRE(blocks.size() == 3);
    CHECK(blocks[0].kind == BlockKind::picture);
    CHECK(blocks[0].file == "race.png");
    CHECK(plainText(blocks[0]) == "The race");
    REQUIRE(blocks[1].rows.size() == 2);
    CHECK(blocks[1].rows[1][0].spans[0].style == TextStyle::strong);
    CHECK(blocks[2].spans[1].link == "https://example.org");
    CHECK(readLessonPicture(folder.path, "race.png").width > 1000);
    lessonFromText(step + "![Torn](torn.png)\n", folder.file("x.md"), problems);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].text.find("torn.png") != std::string::npos);
}

TEST_CASE("all that is wrong is said at once, and a huge file is refused") {
    CHECK(
        problemsOf("---\ntitle: T\nx: 1\n---\n## One\n```step\ny: 1\nwait: a b\n```\n## Two\n{{\n").size() ==
        4);
    const Folder folder;
    std::ofstream(folder.file("huge.md")) << head << "## One\n" << repeated("long text ", 40'000);
    CHECK_THROWS(readLesson(folder.file("huge.md")));
    CHECK_THROWS(readLesson(folder.file("missing.md")));
}

TEST_CASE("values stand in texts, with their units, and paragraphs depend on them") {
    MeasuredValues values;
    values["race.gpu:best.samples_per_second"].number = 289'000;
    values["race.cpu:best.seconds"].number = 0.00194;
    values["race.faster"].text = "CPU";
    values["race.ratio"];
    values["machine.gpu.software"].number = 1;
    CHECK(valueText(values, "race.gpu:best.samples_per_second") == "289k");
    CHECK(valueText(values, "race.cpu:best.seconds") == "1.94 ms");
    CHECK(valueText(values, "race.faster") == "CPU");
    CHECK(valueText(values, "race.ratio") == "not measured yet");
    const auto shown = [&](const char* markdown) {
        std::string text;
        for (const TextBlock& block : filledBlocks(markdown, values)) text += plainText(block) + "|";
        return text;
    };
    CHECK(shown("The {{race.faster}} won in **{{race.cpu:best.seconds}}**.") == "The CPU won in 1.94 ms.|");
    CHECK(shown("{software} a\n\n{hardware} b\n\n- {measured race.ratio} c\n- {unmeasured race.ratio} d") ==
          "a|d|");
    values.erase("machine.gpu.software");
    CHECK(shown("{software} a\n\n{hardware} b\n\nc") == "c|");
    CHECK(conditionFromText("race.cpu:best.seconds < 0.002").holds(values));
    CHECK_FALSE(conditionFromText("race.cpu:best.seconds >= 0.002").holds(values));
    CHECK(conditionFromText("race.faster").holds(values));
    CHECK_FALSE(conditionFromText("race.ratio").holds(values));
    CHECK_FALSE(conditionFromText("race.ratio < 5").holds(values));
}

TEST_CASE("answers are judged by what was measured, and what was measured then is kept") {
    LessonRun run(
        lessonOf(with("ask: Q\nchoices: [{text: a, when: v.x < 1}, {text: b, when: v.x >= 1}]\nwait: v.x") +
                 "## Two\n```step\nask: N\nvalue: v.x\ntolerance: 0.1\n```\n## Three\n{{1:v.x}}\n"));
    MeasuredValues values;
    const auto verdict = [&] { return judge(*run.step().ask, run.answer(), values); };
    CHECK(verdict() == AnswerVerdict::none);
    run.answer().choice = 0;
    run.look(values);
    CHECK(run.waits());
    CHECK(verdict() == AnswerVerdict::waiting);
    values["v.x"].number = 2;
    run.look(values);
    CHECK_FALSE(run.waits());
    CHECK(verdict() == AnswerVerdict::wrong);
    CHECK(verdictText(*run.step().ask, run.answer(), values) == "Not this time. Measured here: b.");
    run.answer().choice = 1;
    CHECK(verdict() == AnswerVerdict::right);
    values["v.x"].number = 3; // it goes on after that
    run.look(values);
    values["v.x"].number = 2;
    REQUIRE(run.go(1));
    run.answer().number = 2.3;
    CHECK(verdict() == AnswerVerdict::wrong);
    run.answer().number = 2.1;
    CHECK(verdict() == AnswerVerdict::right);
    REQUIRE(run.go(2));
    CHECK_FALSE(run.go(3));
    values["v.x"].number = 7;
    run.look(values);
    CHECK(stepText(run, values).find("\n2\n") != std::string::npos); // as it was in step 1

    SUBCASE("progress comes back, as far as it fits") {
        LessonRun other(run.lesson());
        other.resume(nlohmann::ordered_json::parse(run.progress().dump()));
        CHECK(other.at() == 2);
        CHECK(other.answers() == run.answers());
        for (const char* foreign : {"3", "{\"at\": -1}", "{\"at\": 99, \"answers\": 3}",
                                    "{\"answers\": {\"One\": \"c\", \"Two\": []}}"}) {
            LessonRun fresh(run.lesson());
            fresh.resume(nlohmann::ordered_json::parse(foreign));
            CHECK(fresh.at() == 0);
            CHECK_FALSE(fresh.answer().given());
        }
    }
    SUBCASE("what steps have measured comes back, too; where it is missing, no choice is right") {
        MeasuredValues later;
        later["v.y"].number = 1;
        Question question;
        question.choices = {{"more", conditionFromText("v.y > 1:v.x")},
                            {"finished", conditionFromText("v.y")}};
        CHECK_FALSE(rightChoice(question, later).has_value());
        LessonRun other(run.lesson());
        other.resume(nlohmann::ordered_json::parse(run.progress().dump()));
        other.look(later);
        CHECK(later.at("1:v.x").number == 2);
        CHECK(rightChoice(question, later) == 1);
    }
    SUBCASE("a lesson is done at its last step, and stays so") {
        CHECK(run.done());
        REQUIRE(run.go(0));
        CHECK(run.done());
    }
    SUBCASE("the last step is followed by a page, which only a lesson of several steps has") {
        REQUIRE(run.end());
        CHECK(run.ended());
        CHECK(run.at() == 2);
        REQUIRE(run.go(2));
        CHECK_FALSE(run.ended());
        CHECK_FALSE(LessonRun(lessonOf(step)).end());
    }
    SUBCASE("a step that finds done what it waits for says so") {
        CHECK_FALSE(run.heldBefore());
        REQUIRE(run.go(0));
        run.look(values);
        CHECK(run.heldBefore());
    }
    SUBCASE("what a step itself has not measured is not called another step's") {
        MeasuredValues later;
        later[presentStepName].number = 4;
        CHECK(valueText(later, "4:v.z") == "not measured yet");
        CHECK(valueText(later, "3:v.z") == "not measured yet (step 3)");
    }
    SUBCASE("a step without a state has the one before it") {
        LessonRun states(lessonOf(
            head +
            "## A\n```step\nstate: {exhibit: map}\n```\n## B\n## C\n```step\nstate: {exhibit: race}\n```\n"));
        REQUIRE(states.go(1));
        CHECK(states.state().find("map") != std::string::npos);
    }
}

TEST_CASE("a step that was done shows what it has measured, though its exhibit has lost that") {
    LessonRun run(
        lessonOf(with("ask: Q\nchoices: [{text: a, when: v.x < 1}, {text: b, when: v.x >= 1}]\nwait: "
                      "v.done\nanswer: It was {{v.x}}.") +
                 "## Two\n```step\nstate: {exhibit: map}\n```\n"));
    MeasuredValues values;
    run.answer().choice = 1;
    run.look(values);
    values["v.x"].number = 2;
    values["v.done"].number = 1;
    run.look(values);
    CHECK_FALSE(run.recalls());
    REQUIRE(run.go(1));
    MeasuredValues elsewhere;
    run.look(elsewhere);
    CHECK_FALSE(run.recalls());
    REQUIRE(run.go(0));
    MeasuredValues lost;
    lost["v.x"] = {};
    run.look(lost);
    CHECK(run.recalls());
    CHECK_FALSE(run.waits());
    CHECK(judge(*run.step().ask, run.answer(), lost) == AnswerVerdict::right);
    CHECK(stepText(run, lost).find("Answer: It was 2.") != std::string::npos);
    MeasuredValues again; // measured once more: the earlier values would stand among the new ones
    run.look(again, true);
    CHECK_FALSE(run.recalls());
    CHECK_FALSE(isMeasured(again, "v.x"));
    CHECK(stepText(run, again).find("Answer") == std::string::npos);
}

TEST_CASE("a covered exhibit is to be seen once its question is answered, or where nothing is measured") {
    LessonRun run(lessonOf(with("cover: true\nask: N\nvalue: v.x\nwait: v.x") + "## Two\n"));
    MeasuredValues values;
    run.look(values);
    CHECK_FALSE(run.covers(values));
    values["v.x"].number = 2;
    CHECK(run.covers(values));
    run.answerShown = true; // it was asked for
    CHECK_FALSE(run.covers(values));
    run.answerShown = false;
    run.answer().number = 3;
    CHECK_FALSE(run.covers(values));
    const std::vector<LessonProblem> problems = problemsOf(with("cover: true"));
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].text == "'cover' belongs to a question, and there is no 'ask'");
}

TEST_CASE("the list says how far somebody has come, and how many predictions were right") {
    const Folder folder;
    const fs::path file = folder.file("mine.md");
    std::ofstream(file) << with("ask: N\nright: 3") << "## Two\n```step\nask: M\nright: 4\n```\n## Three\n";
    const LessonEntry entry{.file = file,
                            .name = "mine",
                            .title = "T",
                            .about = {},
                            .minutes = 0,
                            .place = 0,
                            .group = {},
                            .steps = 3,
                            .questions = 2,
                            .problem = {}};
    {
        LessonDesk desk;
        desk.keepIn(folder.file("lessons.json"));
        CHECK(progressText(entry, desk).empty());
        CHECK(progressText(std::vector{entry}, desk).empty());
        desk.start(readLesson(file));
        MeasuredValues values;
        desk.open()->answer().number = 3;
        desk.open()->look(values);
        REQUIRE(desk.open()->go(1));
        desk.open()->answer().number = 5;
        desk.open()->look(values);
        desk.save();
        CHECK(progressText(entry, desk) == "step 2 of 3");
        CHECK(desk.stepsDone("mine") == 2);
        REQUIRE(desk.open()->go(2));
        desk.open()->look(values);
    }
    LessonDesk desk;
    desk.keepIn(folder.file("lessons.json"));
    desk.start(readLesson(file));
    MeasuredValues values;
    REQUIRE(desk.open()->go(2));
    desk.open()->look(values);
    desk.save();
    CHECK(desk.stepsDone("mine") == 3);
    CHECK(progressText(entry, desk) == "done, 1 of 2 as predicted");
    CHECK(progressText(std::vector{entry}, desk) ==
          "1 of 1 lessons done. In those that you began, 1 of 2 questions as predicted.");
}

TEST_CASE("a desk keeps how far somebody has come, and reads a lesson again that its author has changed") {
    const Folder folder;
    const fs::path file = folder.file("mine.md");
    std::ofstream(file) << step << "## Two\n## Three\n";
    {
        LessonDesk desk;
        desk.keepIn(folder.file("lessons.json"));
        CHECK(desk.offers());
        desk.start(readLesson(file));
        CHECK_FALSE(desk.offers());
        REQUIRE(desk.open()->go(1));
        desk.save();
    }
    LessonDesk desk;
    desk.keepIn(folder.file("lessons.json"));
    CHECK_FALSE(desk.offers());
    REQUIRE(desk.left()); // the program ended with the lesson open
    CHECK(desk.left()->lesson == file);
    CHECK(desk.reached("mine") == 1);
    desk.start(readLesson(file));
    CHECK(desk.open()->at() == 1);
    CHECK_FALSE(desk.left());
    CHECK_FALSE(desk.reload());
    std::ofstream(file) << step << "## Second\n";
    fs::last_write_time(file, fs::last_write_time(file) + std::chrono::seconds(2));
    CHECK(desk.reload());
    CHECK(desk.open()->step().title == "Second");
    std::ofstream(file) << "nothing";
    fs::last_write_time(file, fs::last_write_time(file) + std::chrono::seconds(4));
    CHECK_THROWS(desk.reload());
    CHECK(desk.open()->step().title == "Second");
    LessonDesk broken;
    std::ofstream(folder.file("broken.json")) << "[";
    broken.keepIn(folder.file("broken.json"));
    CHECK(broken.offers());
    broken.decline();
    LessonDesk again;
    again.keepIn(folder.file("broken.json"));
    CHECK_FALSE(again.offers());
}

TEST_CASE("a typed number has a decimal point or a decimal comma; thousands are the language's") {
    const std::vector<std::pair<const char*, const char*>> always{
        {"0.5", "0.5"},       {"0,5", "0.5"},     {"-0,5", "-0.5"},   {"3,5e6", "3.5e6"},
        {"85,5%", "85.5%"},   {"0,125", "0.125"}, {"60000", "60000"}, {"60 000", "60000"},
        {"1,2345", "1.2345"}, {"1,2,3", "1,2,3"}, {"a,b,c", "a,b,c"}, {"", ""}};
    const auto read = [](const std::vector<std::pair<const char*, const char*>>& typed) {
        for (const auto& [text, number] : typed) CHECK(withDecimalPoint(text) == number);
    };
    read(always);
    read({{"60,000", "60000"}, {"1,234,567.5", "1234567.5"}, {"1,50", "1.50"}, {"12,500%", "12500%"}});
    speak("de", {{"1,000", "1\u00a0000"}});
    read(always);
    read({{"60,000", "60.000"}, {"1.234,5", "1234.5"}, {"1\u00a0234,5", "1234.5"}, {"1.234", "1.234"}});
    speak("en", {});
}

// A ratio is the quotient of rates; seconds to the finish line may divide to another one.
TEST_CASE("where a lesson quotes a race's ratio, it quotes no seconds of a race beside it") {
    std::size_t quoted = 0;
    for (const LessonEntry& entry : findLessons()) {
        const Lesson& lesson = shippedLesson(entry.name);
        for (const LessonStep& each : lesson.steps) {
            CAPTURE(lesson.name + ": " + each.title);
            std::string all = each.text + each.answer;
            if (each.ask) all += each.ask->text;
            bool ratio = false, seconds = false;
            for (const std::string& name : quotedNames(all)) {
                if (name.find("race.") == std::string::npos) continue;
                ratio = ratio || name.ends_with(".ratio") || name.ends_with(".gpu_to_cpu");
                seconds = seconds || name.ends_with(".seconds");
            }
            CHECK_FALSE((ratio && seconds));
            quoted += ratio ? 1 : 0;
        }
        for (const LessonFormula& formula : lesson.formulas)
            for (const std::string& name : formula.expression.names())
                CHECK_FALSE((name.find("race.") != std::string::npos && name.ends_with(".seconds")));
    }
    CHECK(quoted > 5);
}

TEST_CASE("the teacher's map of the lessons has each with its minutes and what it needs") {
    const std::string page = contents(fs::path(LOCKSTEP_SOURCE_DIR) / "docs/teaching.md");
    for (const LessonEntry& entry : findLessons()) {
        const Lesson& lesson = shippedLesson(entry.name);
        std::string needs;
        for (const std::string& needed : lesson.needs)
            needs += (needs.empty() ? "" : ", ") + shippedLesson(needed).title;
        if (!needs.empty()) needs += " ";
        const std::string row = "| [" + lesson.title + "](../assets/lessons/" + lesson.name + ".md) | " +
                                std::to_string(lesson.minutes) + " | " + needs + "| ";
        INFO(row);
        CHECK(page.find(row) != std::string::npos);
    }
}

TEST_CASE("the list has its lessons in groups, which their files name") {
    std::vector<std::string> groups;
    for (const LessonEntry& entry : findLessons()) {
        CAPTURE(entry.name);
        CHECK_FALSE(entry.group.empty());
        if (groups.empty() || groups.back() != entry.group) groups.push_back(entry.group);
    }
    CHECK(groups.front() == "Begin here");
    CHECK(groups.size() == std::set<std::string>(groups.begin(), groups.end()).size()); // each in one piece
}

// A class that looks at a projector reads no more than that.
TEST_CASE("where a step asks and waits for a button, its first paragraph names the button") {
    std::size_t named = 0;
    for (const fs::path& file : allLessonFiles()) {
        const Lesson lesson = readLesson(file);
        REQUIRE(chooseLanguage(lesson.language.empty() ? "en" : lesson.language).empty());
        for (const LessonStep& each : lesson.steps) {
            if (!each.ask || !each.wait || each.point.empty()) continue;
            CAPTURE(file.filename().string() + ": " + each.title);
            const std::string button(
                translated(std::string_view(each.point).substr(0, each.point.find("##"))));
            const std::vector<TextBlock> blocks = markdownBlocks(each.text);
            REQUIRE_FALSE(blocks.empty());
            CHECK(std::ranges::any_of(blocks.front().spans, [&](const TextSpan& span) {
                return span.style == TextStyle::strong && span.text == button;
            }));
            ++named;
        }
    }
    speak("en", {});
    CHECK(named > 80);
}

TEST_CASE("every lesson has notes for the teacher") {
    for (const LessonEntry& entry : findLessons()) {
        CAPTURE(entry.name);
        const Lesson& lesson = shippedLesson(entry.name);
        CHECK(std::ranges::any_of(lesson.steps, [](const LessonStep& each) { return !each.notes.empty(); }));
    }
}
