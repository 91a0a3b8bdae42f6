// What lessons work out of measured values, and what becomes of answers: sheets, a class's table, notes.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "demos/lesson/class_results.h"
#include "demos/lesson/lesson_answers.h"
#include "demos/lesson/lesson_desk.h"
#include "demos/lesson/lesson_ending.h"
#include "demos/lesson/lesson_file.h"
#include "demos/lesson/lesson_text.h"
#include "demos/telling/measured_text.h"
#include "tests/sanitized.h"
#include "tests/show_script.h"

using namespace lockstep::demos;
using namespace lockstep::test;

namespace {

MeasuredValues values(std::initializer_list<std::pair<const char*, double>> numbers) {
    MeasuredValues result;
    for (const auto& [name, number] : numbers) result[name].number = number;
    return result;
}

Lesson lessonOf(const std::string& text) {
    std::vector<LessonProblem> problems;
    Lesson lesson = lessonFromText(text, "prices.md", problems);
    for (const LessonProblem& problem : problems) FAIL_CHECK(describe("prices.md", problem));
    return lesson;
}

std::string shown(const char* markdown, const MeasuredValues& known) {
    std::string text;
    for (const TextBlock& block : filledBlocks(markdown, known)) text += plainText(block) + "\n";
    return text;
}

constexpr const char* prices = R"(---
title: Prices
values:
  my.hours: my.examples / race.gpu:best.samples_per_second / 3600
  my.cost_euros: my.hours * my.price
---
## First

{{my.hours}} at {{my.price | euro | euros}}: {{my.cost_euros}}

```step
inputs:
  - {name: my.price, label: Rent, unit: euros per hour, value: 2, about: a guess}
  - {name: my.examples, label: Examples, value: 7.2e6}
ask: More than 1 euro?
choices: [{text: yes, when: my.cost_euros > 1}, {text: no, when: my.cost_euros <= 1}]
wait: race.gpu:best.samples_per_second
```

## Second

```step
ask: Why, in a number?
right: 3
```
)";

} // namespace

TEST_CASE("expressions follow arithmetic, and are unknown where a value is") {
    const MeasuredValues known =
        values({{"a.b", 6}, {"lab.one-to-all.x", 2}, {"1:race.cpu:best.seconds", 4}});
    const auto result = [&](const char* text) { return Expression::fromText(text).evaluate(known); };
    CHECK(result("a.b") == 6);
    CHECK(result("2 + 3 * a.b") == 20);
    CHECK(result("(2 + 3) * a.b - 1") == 29);
    CHECK(result("a.b / lab.one-to-all.x / 3") == 1);
    CHECK(result("a.b - lab.one-to-all.x - 1") == 3);
    CHECK(result("1e3 * -0.5") == -500);
    CHECK(result("1:race.cpu:best.seconds") == 4);
    CHECK(std::isinf(result("a.b / 0")));
    CHECK(std::isnan(result("a.b + nothing.here")));
    for (const char* wrong : {"", "2 +", "* 2", "(2", "2)", "a.b a.b", "2 3", "+", "a.b -1"})
        CHECK_THROWS_AS(Expression::fromText(wrong), std::invalid_argument);
    CHECK_THROWS_AS(Expression::fromText(std::string(100, '(') + "1" + std::string(100, ')')),
                    std::invalid_argument);
    CHECK(conditionFromText("a.b > 2 * lab.one-to-all.x").holds(known));
    CHECK_FALSE(conditionFromText("a.b > 3 * lab.one-to-all.x").holds(known));
    CHECK_FALSE(conditionFromText("a.b > nothing.here").holds(known));
    CHECK_FALSE(conditionFromText("nothing.here <= a.b").holds(known));
}

TEST_CASE("texts count, compute and depend on comparisons; tables are filled, too") {
    const MeasuredValues known =
        values({{"v.one", 1}, {"v.many", 12}, {"v.cost_euros", 3.5}, {"v.hours", 0.25}});
    CHECK(shown("{{v.one | thread | threads}}, {{v.many | thread | threads}}", known) ==
          "1 thread, 12 threads\n");
    CHECK(shown("{{v.many / 4}} {{v.many / v.none}}", known) == "3 not measured yet\n");
    CHECK(shown("{{v.cost_euros}} {{v.hours}}", known) == "3.50 € 0.25 h\n");
    CHECK(shown("{if v.many > 5} many\n\n{if v.many < 5} few\n\n{if v.none < 5} none", known) == "many\n");
    CHECK(shown("| a | b |\n|---|---|\n| c | {{v.many}} |", known) == "a  b\nc  12\n");
    CHECK(quotedNames("| a |\n|---|\n| {{v.x + v.y}} |\n\n{if v.z > 1} z") ==
          std::vector<std::string>{"v.x", "v.y", "v.z"});
}

TEST_CASE("inputs are a reader's own numbers, and formulas follow them") {
    LessonRun lesson(lessonOf(prices));
    MeasuredValues known = values({{"race.gpu:best.samples_per_second", 1000}});
    lesson.look(known);
    CHECK(known.at("my.hours").number == doctest::Approx(2));
    CHECK(shown(lesson.step().text.c_str(), known) == "2 h at 2 euros: 4.00 €\n");
    lesson.setInput("my.price", 0.25);
    lesson.look(known);
    CHECK(known.at("my.cost_euros").number == doctest::Approx(0.5));
    CHECK(stepText(lesson, known).find("Rent: 0.25 euros per hour (a guess)") != std::string::npos);
    LessonRun again(lesson.lesson());
    again.resume(nlohmann::ordered_json::parse(lesson.progress().dump()));
    CHECK(again.input(again.step().inputs[0]) == 0.25);
    again.setInput("my.price", std::nullopt);
    CHECK(again.input(again.step().inputs[0]) == 2);
}

TEST_CASE("a sketch is judged by the factor that it is off by, once that is measured") {
    LessonRun lesson(
        lessonOf("---\ntitle: T\n---\n## One\n```step\nask: Draw\nsketch: launch\nwithin: 3\n```\n"));
    MeasuredValues known;
    const auto verdict = [&] {
        lesson.look(known);
        return lesson.verdict(0);
    };
    CHECK(verdict() == AnswerVerdict::none);
    known["lab.launch.sketched"].number = 1;
    CHECK(verdict() == AnswerVerdict::waiting);
    known["lab.launch.sketch_factor"].number = 2.5;
    CHECK(verdict() == AnswerVerdict::right);
    CHECK(verdictText(*lesson.step().ask, lesson.answer(), known) == "Right: within a factor of 2.5.");
    known["lab.launch.sketch_factor"].number = 4;
    CHECK(verdict() == AnswerVerdict::wrong);
    known.clear(); // it was wrong when it was measured
    CHECK(verdict() == AnswerVerdict::wrong);
}

TEST_CASE("answers become a file, and a folder of them the table of a class") {
    const Folder folder;
    LessonRun lesson(lessonOf(prices));
    MeasuredValues known = values({{"race.gpu:best.samples_per_second", 1000}});
    lesson.answer().choice = 1;
    lesson.look(known);
    REQUIRE(lesson.go(1));
    lesson.answer().number = 3;
    lesson.look(known);
    const AnswerSheet sheet = answerSheet(lesson, known, "Ada / L.", "0a1b2c");
    CHECK(sheet.right() == 1);
    const fs::path file = folder.file(answerFileName(sheet));
    writeAnswerSheet(sheet, file);
    CHECK(file.filename().string().starts_with("answers-Ada---L--0a1b-"));
    nlohmann::ordered_json other = nlohmann::ordered_json::parse(contents(file));
    CHECK(other["answers"][0]["verdict"] == "wrong");
    CHECK(other["answers"][1]["verdict"] == "right");
    CHECK(other["values"][0] == nlohmann::ordered_json{{"name", "1:race.gpu:best.samples_per_second"},
                                                       {"number", 1000.0},
                                                       {"title", ""},
                                                       {"unit", "samples/s"}});
    const auto write = [&](const char* name, const std::string& text) {
        std::ofstream(folder.file(name)) << text;
    };
    other["learner"] = "=Bob\x1b[2J";
    other["pupil"] = "b0b";
    other["answers"][0] = {
        {"step", "First"}, {"question", "More than 1 euro?"}, {"answer", "yes"}, {"verdict", "right"}};
    write("bob.json", other.dump());
    write("state.json", "{\"lockstep\": 1}");
    write("broken.json", "{");
    other["answers"][0]["verdict"] = "splendid";
    write("wrong.json", other.dump());
    std::vector<std::string> problems;
    const std::vector<AnswerSheet> sheets = readAnswerSheets(folder.file(""), problems);
    CHECK(problems.size() == 2);
    REQUIRE(sheets.size() == 2);
    const Outcome outcome = run("lesson results " + folder.file("") + " --csv " + folder.file("class.csv"));
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code == 0);
    CHECK(outcome.err.find("wrong.json: ") != std::string::npos);
    CHECK(outcome.err.find("splendid") != std::string::npos);
    for (const char* line :
         {"learner   Q1     Q2", "=Bob[2J   right  right  2 of 2", "Ada / L.  wrong  right  1 of 2",
          "1 of 2 right; most often wrong: no (1)", "2 of 2 right", "? not decided"})
        CHECK(outcome.says(line));
    const std::string csv = contents(folder.file("class.csv"));
    CHECK(csv.find(",Prices,b0b,'=Bob[2J,") != std::string::npos);
    CHECK(std::ranges::count(csv, '\n') == 3);
    CHECK(run("lesson results").says("needs the folder with the answer files"));
    CHECK(run("lesson results " + folder.file("nowhere")).says("cannot read the folder"));
    const Folder empty;
    CHECK(run("lesson results " + empty.file("")).says("there are no answer files"));
}

TEST_CASE("the first answer is the prediction, and stays so when it is corrected, kept and told in German") {
    LessonRun lesson(lessonOf(prices));
    MeasuredValues known;
    lesson.answer().choice = 0;
    lesson.look(known); // not measured yet
    CHECK(lesson.predictionVerdict(0) == AnswerVerdict::waiting);
    known = values({{"race.gpu:best.samples_per_second", 1000}});
    lesson.look(known);
    CHECK(lesson.predictionVerdict(0) == AnswerVerdict::right);
    lesson.answer().choice = 1;
    lesson.look(known);
    CHECK(lesson.prediction(0).choice == 0);
    CHECK(lesson.predictionVerdict(0) == AnswerVerdict::right);
    CHECK(lesson.verdict(0) == AnswerVerdict::wrong);
    const auto progress = nlohmann::ordered_json::parse(lesson.progress().dump());
    LessonRun again(lesson.lesson());
    again.resume(progress);
    CHECK(again.prediction(0).choice == 0);
    CHECK(again.answers()[0].choice == 1);
    std::string german = prices;
    for (const auto& [english, word] :
         {std::pair("## First", "## Zuerst"), std::pair("text: yes", "text: ja"),
          std::pair("text: no", "text: nein")})
        german.replace(german.find(english), std::string(english).size(), word);
    std::vector<LessonProblem> problems;
    LessonRun translation(lessonFromText(german, "prices.de.md", problems));
    CHECK(problems.empty());
    translation.resume(progress);
    CHECK(translation.prediction(0).choice == 0);
    CHECK(translation.predictionVerdict(0) == AnswerVerdict::right);
    CHECK(translation.answers()[0].choice == 1);
    for (const char* foreign : {"3", "{\"One\": 3}", "{\"First\": {\"answer\": [], \"verdict\": 99}}",
                                "{\"x\": {\"step\": 77, \"number\": -1}}"}) {
        LessonRun fresh(lesson.lesson());
        auto damaged = progress;
        damaged["predictions"] = nlohmann::ordered_json::parse(foreign);
        fresh.resume(damaged);
        CHECK(fresh.answers()[0].choice == 1);
    }
}

namespace {

/// As a learner's file says it: a lesson of two questions.
nlohmann::ordered_json sheetOf(const std::string& learner, const std::string& pupil, bool german = false) {
    return {{"lockstep_answers", 1},
            {"learner", learner},
            {"pupil", pupil},
            {"lesson", german ? "Preise" : "Prices"},
            {"lesson_name", "prices"},
            {"language", german ? "de" : ""},
            {"date", "2026-03-01 10:15"},
            {"machine", "AMD Ryzen 9 9950X, NVIDIA GeForce RTX 4090"},
            {"answers",
             {{{"number", 1},
               {"step", german ? "Zuerst" : "First"},
               {"question", german ? "Mehr als 1 Euro?" : "More than 1 euro?"},
               {"prediction", german ? "nein" : "no"},
               {"prediction_choice", 2},
               {"prediction_verdict", "wrong"},
               {"answer", german ? "ja" : "yes"},
               {"choice", 1},
               {"verdict", "right"}},
              {{"number", 2},
               {"step", german ? "Dann" : "Second"},
               {"question", "Q"},
               {"prediction", "3"},
               {"prediction_choice", 0},
               {"prediction_verdict", "open"},
               {"answer", "3"},
               {"choice", 0},
               {"verdict", "open"}}}},
            {"values",
             {{{"name", "1:race.ratio"}, {"number", 2.5}, {"unit", ""}},
              {{"name", "1:race.gpu:best.seconds"}, {"number", 0.25}, {"unit", "s"}},
              {{"name", "1:race.faster"}, {"text", "GPU"}, {"unit", ""}}}}};
}

/// The same as versions before predictions have written it.
nlohmann::ordered_json oldSheetOf(const std::string& learner, bool german) {
    nlohmann::ordered_json sheet = sheetOf(learner, "", german);
    for (const char* name : {"pupil", "lesson_name", "language", "values"}) sheet.erase(name);
    for (auto& each : sheet["answers"])
        for (const char* name : {"number", "prediction", "prediction_choice", "prediction_verdict", "choice"})
            each.erase(name);
    return sheet;
}

} // namespace

TEST_CASE("a measured value goes by the sentence that shows it; what only decides has no plot") {
    const Lesson lesson = lessonOf("---\ntitle: T\n---\n## One\n```step\nask: Faster, or {{race.x}}?\nvalue: "
                                   "race.ratio\nwait: race.finished\n"
                                   "answer: |\n  {measured race.y} First. A took {{race.a_seconds}}, B "
                                   "{{race.b_seconds}}.\n\n  Ten: {{10 * "
                                   "race.c}} µs.\n```\n");
    const LessonStep& first = lesson.steps.front();
    CHECK(valueTitle(first, "race.ratio") == "Faster, or …?");
    CHECK(valueTitle(first, "race.a_seconds") == "A took ___, B ….");
    CHECK(valueTitle(first, "race.b_seconds") == "A took …, B ___.");
    CHECK(valueTitle(first, "race.c") == "Ten: ___ µs.");
    CHECK(valueTitle(first, "race.x") == "Faster, or ___?");
    CHECK(valueTitle(first, "race.y").empty());
    CHECK(valueTitle(first, "race.finished").empty());
    const Folder folder;
    nlohmann::ordered_json sheet = sheetOf("Anna", "11aa22bb");
    for (auto& value : sheet["values"]) value["title"] = "";
    sheet["values"][1]["title"] = "A took ___.";
    std::ofstream(folder.file("1.json")) << sheet;
    REQUIRE(run("lesson results " + folder.file("") + " --html " + folder.file("c.html")).code == 0);
    const std::string page = contents(folder.file("c.html"));
    CHECK(page.find("<h3>Step 1: A took ___., s</h3>") != std::string::npos);
    CHECK(page.find("<svg ") == page.rfind("<svg "));
}

TEST_CASE("two Annas stay two, and sheets in two languages are one table, with legend, CSV and page") {
    const Folder folder;
    const auto write = [&](const std::string& name, const nlohmann::ordered_json& sheet) {
        std::ofstream(folder.file(name)) << sheet;
    };
    write("1.json", sheetOf("Anna", "11aa22bb"));
    write("2.json", sheetOf("Anna", "33cc44dd", true));
    nlohmann::ordered_json slow = sheetOf("Carl", "55ee");
    slow["machine"] = "Intel N100, llvmpipe (software, not a GPU)";
    slow["values"][1]["number"] = 100.0;
    slow["answers"][0]["prediction"] = slow["answers"][0]["answer"] = "yes";
    slow["answers"][0]["prediction_choice"] = 1;
    slow["answers"][0]["prediction_verdict"] = "right";
    write("3.json", slow);
    slow["date"] = "2026-03-01 11:00"; // the same pupil once more: the first sheet has the predictions
    slow["answers"][0]["prediction"] = slow["answers"][0]["answer"] = "no";
    slow["answers"][0]["prediction_verdict"] = slow["answers"][0]["verdict"] = "wrong";
    write("4.json", slow);
    std::vector<std::string> problems;
    const std::vector<AnswerSheet> sheets = readAnswerSheets(folder.file(""), problems);
    CHECK(problems.empty());
    REQUIRE(sheets.size() == 3);
    const Outcome outcome = run("lesson results " + folder.file("") + " --csv " + folder.file("c.csv") +
                                " --html " + folder.file("c.html"));
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    for (const char* line :
         {"Anna (11aa)  wrong > right  ?", "Anna (33cc)  wrong > right  ?", "Carl         right > wrong  ?",
          "1 of 3 right; most often wrong: no (2)", "Q1  Step 1, First: More than 1 euro?",
          "? not decided by a measurement yet", "- no answer"})
        CHECK(outcome.says(line));
    CHECK(outcome.out.find("Prices") == outcome.out.rfind("Prices")); // one table
    CHECK(outcome.out.find("Preise") == std::string::npos);
    const std::string csv = contents(folder.file("c.csv"));
    CHECK(std::ranges::count(csv, '\n') == 4);
    CHECK(
        csv.find("lesson,title,pupil,learner,date,machine,right,step 1 prediction,step 1 prediction verdict,"
                 "step 1 answer,step 1 answer verdict,step 2 prediction") == 0);
    CHECK(csv.find("1:race.faster,1:race.gpu:best.seconds (s),1:race.ratio\n") != std::string::npos);
    CHECK(csv.find("prices,Preise,33cc44dd,Anna,") != std::string::npos);
    CHECK(csv.find(",0,nein,wrong,ja,right,3,?,3,?,GPU,0.25,2.5\n") != std::string::npos);
    const std::string page = contents(folder.file("c.html"));
    CHECK(page.find("<script") == std::string::npos);
    const auto count = [&](std::string_view part) {
        std::size_t found = 0;
        for (std::size_t at = page.find(part); at != std::string::npos; at = page.find(part, at + 1)) ++found;
        return found;
    };
    CHECK(count("<svg ") == 2); // of the numbers
    CHECK(count("race.gpu:best.seconds, s</h3>") == 1);
    CHECK(count("AMD Ryzen 9 9950X, NVIDIA GeForce RTX 4090 (2)</text>") == 2);
    CHECK(count("llvmpipe (software, not a GPU)</text>") == 2);
    CHECK(count("The axis is logarithmic.") == 1); // 0.25 and 100 seconds
    CHECK(count("250 ms</text>") > 0);
    CHECK(count("Anna (33cc)") == 1);
}

TEST_CASE("sheets of earlier versions are read, and find their lesson and step by their titles") {
    const Folder folder;
    std::ofstream(folder.file("new.json")) << sheetOf("Anna", "11aa22bb");
    std::ofstream(folder.file("new-german.json")) << sheetOf("Berta", "22bb", true);
    std::ofstream(folder.file("old.json")) << oldSheetOf("Carl", false);
    std::ofstream(folder.file("old-german.json")) << oldSheetOf("Dora", true);
    std::vector<std::string> problems;
    std::vector<AnswerSheet> sheets = readAnswerSheets(folder.file(""), problems);
    CHECK(problems.empty());
    REQUIRE(sheets.size() == 4);
    for (const AnswerSheet& sheet : sheets) {
        CAPTURE(sheet.learner);
        CHECK(sheet.lesson == "prices");
        CHECK(sheet.questions[1].step == 2);
    }
    CHECK(sheets[2].questions[0].prediction.text == "yes");
    CHECK(sheets[2].questions[0].prediction.verdict == AnswerVerdict::right);
    // Without any new sheet, the lessons that come with the program tell.
    const Folder shipped;
    nlohmann::ordered_json alone = oldSheetOf("Eve", false);
    const Lesson lesson = readLesson(fs::path(LOCKSTEP_SOURCE_DIR) / "assets/lessons/what-is-a-gpu.de.md");
    alone["lesson"] = lesson.title;
    alone["answers"][1]["step"] = lesson.steps[3].title;
    std::ofstream(shipped.file("old.json")) << alone;
    sheets = readAnswerSheets(shipped.file(""), problems);
    REQUIRE(sheets.size() == 1);
    CHECK(sheets[0].lesson == "what-is-a-gpu");
    CHECK(sheets[0].questions[1].step == 4);
}

TEST_CASE("nine thousand sheets take seconds, however different they are") {
    const Folder folder;
    for (int i = 0; i < 9000; ++i) {
        nlohmann::ordered_json sheet = oldSheetOf("P" + std::to_string(i), false);
        nlohmann::ordered_json answer = sheet["answers"][0];
        for (int j = 0; j < 8; ++j) {
            answer["step"] = "S" + std::to_string(i) + "." + std::to_string(j);
            sheet["answers"].push_back(answer);
        }
        std::ofstream(folder.file("a" + std::to_string(i) + ".json")) << sheet;
    }
    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome = run("lesson results " + folder.file("") + " --csv " + folder.file("c.csv"));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    CHECK(outcome.code == 0);
    CHECK(outcome.out.find("P8999") != std::string::npos);
    CHECK(seconds.count() < (lockstep::test::sanitized ? 80 : 20));
}

TEST_CASE("a learner's mark is made once for each name, and kept") {
    const Folder folder;
    std::string anna, berta;
    {
        LessonDesk desk;
        desk.keepIn(folder.file("lessons.json"));
        desk.decline();
        desk.learner = "Anna";
        anna = desk.pupil();
        CHECK(desk.pupil() == anna);
        desk.learner = "Berta";
        berta = desk.pupil();
        desk.save();
    }
    CHECK(anna.size() == 16);
    CHECK(anna != berta);
    LessonDesk again;
    again.keepIn(folder.file("lessons.json"));
    CHECK(again.learner == "Berta");
    CHECK(again.pupil() == berta);
    again.learner = "Anna";
    CHECK(again.pupil() == anna);
    LessonDesk elsewhere;
    elsewhere.learner = "Anna";
    CHECK(elsewhere.pupil() != anna);
}

TEST_CASE("in the window, inputs are typed, links open lessons, and answers are saved") {
    const Folder folder;
    std::ofstream(folder.file("prices.md")) << prices << "\n## Third\n\nSee [the other](other.md).\n";
    std::ofstream(folder.file("other.md")) << "---\ntitle: O\n---\n## Elsewhere\n\nText\n";
    std::ofstream(folder.file("s.txt"))
        << "frames 2\nclick ##input/my.price\ntype 0,5\nkey Enter\nframes 2\ntell\nclick answer/2\n"
        << "key PageDown\nkey 3\nframes 3\nkey Enter\nkey PageDown\nframes 2\n"
        << "key PageDown\nframes 2\nclick ##lesson/name\ntype Ada\nkey Enter\nframes 2\n"
        << "click Save answers##lesson\nframes 2\nclick Save picture##ending\nframes 2\nkey PageUp\nframes "
           "2\n"
        << "click link/other.md\nframes 2\ntell\n";
    const Outcome outcome =
        run("show " + folder.file("prices.md") + " --headless --script " + folder.file("s.txt"),
            "cd " + folder.file("") + " &&");
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(outcome.out.find("Rent: 0.5 euros per hour") != std::string::npos);
    CHECK(outcome.out.find("1 of 1  Elsewhere") != std::string::npos);
    std::vector<std::string> problems;
    const std::vector<AnswerSheet> sheets = readAnswerSheets(folder.file(""), problems);
    REQUIRE(sheets.size() == 1);
    CHECK(sheets[0].learner == "Ada");
    CHECK(sheets[0].lesson == "prices");
    CHECK(sheets[0].pupil.size() == 16);
    REQUIRE(sheets[0].questions.size() == 2);
    CHECK(sheets[0].questions[0].answer.text == "no");
    CHECK(sheets[0].questions[1].answer.verdict == AnswerVerdict::right);
    CHECK(contents(folder.file("lesson-prices.png")).starts_with("\x89PNG"));
}

TEST_CASE("a lesson ends with its score, and with what was measured in each step") {
    LessonRun lesson(lessonOf(
        "---\ntitle: T\n---\n## Race\n```step\nask: Q\nchoices: [{text: CPU, when: race.x < 1}, {text: GPU, "
        "when: race.x >= 1}]\nwait: race.x\nanswer: |\n  No GPU is needed. It took {{race.x_seconds}}, e.g. "
        "here. More.\n```\n## Sum\n```step\nask: N\nright: 3\nanswer: So.\n```\n## Text\nNothing.\n## "
        "Later\n```step\nask: M\nvalue: race.y\nanswer: It was {{1:race.x}} first. It is "
        "{{race.y}}.\n```\n"));
    MeasuredValues known;
    lesson.answer().choice = 1;
    lesson.look(known);
    known = values({{"race.x", 2}, {"race.x_seconds", 2}});
    lesson.look(known);
    known = values({{"race.x_seconds", 7}}); // measured again elsewhere
    REQUIRE(lesson.go(1));
    lesson.answer().number = 4;
    lesson.look(known);
    CHECK(lesson.score().right == 1);
    CHECK(lesson.score().questions == 3);
    REQUIRE(lesson.end());
    CHECK(lesson.ended());
    const LessonEnding ending = endingOf(lesson, known);
    CHECK(scoreText(ending) == "1 of 2 right; 1 not answered");
    CHECK(openText(ending) == "Not answered: 4. Later");
    REQUIRE(ending.rows.size() == 3); // nothing to say of a text
    CHECK(ending.rows[0].verdict == AnswerVerdict::right);
    CHECK(rightText(ending.rows[0]) == "Right: GPU");
    CHECK(ending.rows[0].result == "It took 2.00 s, e.g. here.");
    CHECK(predictionText(ending.rows[0]) == "You predicted: GPU");
    CHECK(ending.rows[1].verdict == AnswerVerdict::wrong);
    CHECK(rightText(ending.rows[1]) == "Right: 3");
    CHECK(ending.rows[1].result.empty());
    CHECK(ending.rows[2].open()); // neither answered nor measured: not given away
    const Pixels picture = endingPicture(ending);
    CHECK(picture.width == 1200);
    CHECK(picture.rgba.size() == std::size_t{4} * picture.width * picture.height);
    CHECK(picture.rgba !=
          endingPicture({.title = "T", .machine = "", .date = "", .score = {}, .rows = {}}).rgba);
}

TEST_CASE("the last page quotes no other step's value in place of the answer") {
    LessonRun lesson(
        lessonOf("---\ntitle: T\n---\n## Race\n```step\nwait: race.x\n```\n## Then\n```step\nask: M\n"
                 "value: race.y\nwait: race.y\nanswer: It was {{1:race.x}} first. It is {{race.y}} "
                 "now, not {{1:race.x}}.\n```\n"));
    MeasuredValues known = values({{"race.x", 2}});
    lesson.look(known);
    REQUIRE(lesson.go(1));
    lesson.answer().number = 4;
    lesson.look(known);
    known = values({{"race.x", 3}, {"race.y", 5}});
    lesson.look(known);
    REQUIRE(lesson.end());
    const LessonEnding ending = endingOf(lesson, known);
    REQUIRE(ending.rows.size() == 1);
    CHECK(rightText(ending.rows[0]) == "Right: 5");
    CHECK(ending.rows[0].result == "It is 5 now, not 2.");
    CHECK(scoreText(ending) == "0 of 1 as predicted");
}

TEST_CASE("an answer leaves what stands below it where it is, for the press that has ended its typing") {
    const Folder folder;
    std::ofstream(folder.file("l.md")) << "---\ntitle: T\n---\n## One\nGuess, then press "
                                          "**Run**.\n```step\nstate: {exhibit: race}\npoint: Run\n"
                                          "wait: race.finished\nask: How many?\nvalue: race.ratio\nanswer: "
                                          "It is {{race.ratio}}.\n```\n## Two\n";
    std::ofstream(folder.file("s.txt"))
        << "frames 3\ncontrols\nkey 4\nframes 3\nkey 2\nframes 3\nkey Enter\nframes 3\ncontrols\n";
    const Outcome outcome =
        run("show " + folder.file("l.md") + " --headless --script " + folder.file("s.txt"));
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    std::vector<std::string> places;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);)
        if (line.ends_with("Check answer##lesson")) places.push_back(line);
    REQUIRE(places.size() == 2);
    CHECK(places[0] == places[1]);
}

TEST_CASE("a prediction may be changed until its measurement begins") {
    LessonRun lesson(lessonOf(prices));
    MeasuredValues none;
    lesson.answer().choice = 0;
    lesson.look(none);
    lesson.answer().choice = 1;
    lesson.look(none);
    CHECK(lesson.prediction(0).choice == 1);
    CHECK_FALSE(lesson.frozen(0));
    lesson.look(none, true);
    CHECK(lesson.frozen(0));
    LessonRun again(lesson.lesson());
    again.resume(nlohmann::ordered_json::parse(lesson.progress().dump()));
    CHECK(again.frozen(0));
    for (LessonRun* each : {&lesson, &again}) {
        each->answer().choice = 0;
        each->look(none);
        CHECK(each->prediction(0).choice == 1);
    }
}

TEST_CASE("a teacher's notes follow the window's lesson, and can be printed") {
    const Folder folder;
    std::ofstream(folder.file("l.md"))
        << "---\ntitle: T\n---\n## One\n## Two\n```step\nnotes: Let them guess.\nask: Q\nchoices: [a, b]\n"
           "right: 2\n```\n## Three\n```step\nask: N\nvalue: race.x\nanswer: It is {{race.x}} here.\n```\n";
    const Outcome printed = run("lesson notes " + folder.file("l.md"));
    CHECK(printed.out.find("Notes: Let them guess.") != std::string::npos);
    CHECK(printed.out.find("2. b  <- here") != std::string::npos);
    CHECK(printed.out.find("Answer: It is ____ here.") != std::string::npos);
    {
        LessonDesk desk;
        desk.keepIn(folder.file("lessons.json"));
        desk.start(readLesson(fs::path(folder.file("l.md"))));
        desk.open()->go(1);
        desk.save();
        CHECK(openStepIn(folder.file("lessons.json"))->progress["at"] == 1);
        setenv("LOCKSTEP_STATE_FILE", folder.file("state.json").c_str(), 1);
        const Outcome followed = interrupted({"lesson", "notes"}, "Next: Three");
        unsetenv("LOCKSTEP_STATE_FILE");
        INFO(followed.out);
        CHECK(followed.out.find("2 of 3  Two") != std::string::npos);
        CHECK(followed.out.find("Let them guess.") != std::string::npos);
        desk.close();
    }
    CHECK_FALSE(openStepIn(folder.file("lessons.json")));
    CHECK_FALSE(openStepIn(folder.file("nowhere.json")));
}
