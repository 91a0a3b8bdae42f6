// The program in other languages: tables of words against the sources that they translate, translated lessons
// against their originals, and what is shown and kept when the language changes.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "demos/draw/plot_math.h"
#include "demos/exhibits/ladder/rung_words.h"
#include "demos/lab/experiment.h"
#include "demos/lesson/languages.h"
#include "demos/lesson/lesson_desk.h"
#include "demos/lesson/lesson_file.h"
#include "demos/telling/measured_text.h"
#include "demos/words/language.h"
#include "demos/words/text.h"
#include "engine/plan/rounding.h"
#include "tests/environment.h"
#include "tests/show_script.h"

using namespace lockstep::demos;
using namespace lockstep::test;

namespace {

const fs::path root = LOCKSTEP_SOURCE_DIR;

std::vector<fs::path> filesIn(const char* folder, const char* extension) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(root / folder))
        if (entry.path().extension() == extension) files.push_back(entry.path());
    return files;
}

/// The texts in quotes of a C++ source, neighbours joined, with escapes resolved as far as texts use them.
class Literals {
  public:
    explicit Literals(const std::string& source) : source_(source) {
        while (at_ < source_.size()) step();
        flush();
    }
    std::set<std::string> texts;
    /// Those that stand right behind "translated(", "translatedFormat(", a call of a Ui that shows text, or
    /// the making of an error.
    std::set<std::string> shown;

  private:
    void step() {
        begin_ = at_;
        const char letter = source_[at_];
        const std::string_view rest = std::string_view(source_).substr(at_);
        if (rest.starts_with("//")) {
            at_ = std::min(source_.find('\n', at_), source_.size());
        } else if (rest.starts_with("R\"(")) {
            const std::size_t end = source_.find(")\"", at_);
            add(source_.substr(at_ + 3, end - at_ - 3));
            at_ = end + 2;
        } else if (letter == '"') {
            add(quoted());
        } else if (letter == '\'' && at_ + 2 < source_.size()) { // '"' and '\'' begin no text
            at_ += source_[at_ + 1] == '\\' ? 4 : 1;
            if (at_ + 1 < source_.size() && source_[at_ + 1] == '\'') at_ += 2;
        } else {
            if (std::isspace(static_cast<unsigned char>(letter)) == 0) flush();
            ++at_;
        }
    }
    std::string quoted() {
        std::string text;
        for (++at_; at_ < source_.size() && source_[at_] != '"'; ++at_) {
            if (source_[at_] != '\\') {
                text += source_[at_];
                continue;
            }
            ++at_;
            text += source_[at_] == 'n' ? '\n' : source_[at_];
        }
        ++at_;
        return text;
    }
    void add(const std::string& text) {
        if (!any_) {
            constexpr std::size_t longestCall = 80; // with what indents its lines
            std::string before =
                source_.substr(begin_ - std::min(begin_, longestCall), std::min(begin_, longestCall));
            std::erase_if(before, [](unsigned char letter) { return std::isspace(letter) != 0; });
            shown_ = std::ranges::any_of(
                std::array{"translated(", "translatedFormat(", "ui.text(", "ui.muted(", "ui.heading(",
                           "ui.headline(", "ui.paragraph(", "ui_.paragraph(", "ui_.muted(",
                           "invalid_argument(", "runtime_error(", "invalid_argument(fmt::format(",
                           "runtime_error(fmt::format("},
                [&before](std::string_view call) { return before.ends_with(call); });
        }
        text_ += text;
        any_ = true;
    }
    void flush() {
        if (any_) {
            if (shown_) shown.insert(text_);
            texts.insert(text_);
            texts.insert(text_.substr(0, text_.find("##"))); // a label's name is not shown
        }
        text_.clear();
        any_ = false;
    }

    std::string source_;
    std::size_t at_ = 0;
    std::size_t begin_ = 0; // of what is read now
    std::string text_;
    bool any_ = false;
    bool shown_ = false;
};

/// "Press Run to start it.": what people read as a sentence.
bool isSentence(std::string_view text) {
    const bool begins = !text.empty() && text.front() >= 'A' && text.front() <= 'Z';
    return begins && text.find(' ') != std::string_view::npos &&
           std::string_view(".?!").find(text.back()) != std::string_view::npos;
}

/// Whether anything of a format is left to be said in another language: "{:.1f} GiB" is not.
bool hasWords(std::string_view format) {
    std::size_t letters = 0;
    bool within = false; // a placeholder
    for (const char each : format) {
        within = each == '{' || (within && each != '}');
        letters = !within && each >= 'a' && each <= 'z' ? letters + 1 : 0;
        if (letters == 4) return true;
    }
    return false;
}

/// Headings of the list of lessons: their files say them in English.
std::set<std::string> lessonGroups() {
    std::set<std::string> groups;
    for (const LessonEntry& entry : findLessons())
        if (!entry.group.empty()) groups.insert(entry.group);
    return groups;
}

/// Every sentence that the window's sources have, and every text that they hand to be translated or shown.
std::set<std::string> textsToTranslate() {
    // Messages of scripted runs, and of windows that do not open: a terminal gets them.
    const std::set<std::string> ofScripts{"run_headless.cpp", "script_lines.cpp", "window.cpp",
                                          "swapchain.cpp"};
    std::set<std::string> texts;
    for (const char* top : {"demos/exhibits", "demos/lab", "demos/kit", "demos/draw", "demos/shell"})
        for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
            const std::string extension = entry.path().extension().string();
            if (extension != ".h" && extension != ".cpp") continue;
            if (ofScripts.contains(entry.path().filename().string())) continue;
            const Literals literals(contents(entry.path()));
            for (const std::string& text : literals.texts)
                if (isSentence(text)) texts.insert(text);
            for (const std::string& text : literals.shown)
                if (hasWords(text) && !text.ends_with(' ')) texts.insert(text); // else a part of one
        }
    texts.merge(lessonGroups());
    return texts;
}

/// Everything that an experiment shows before it is measured.
std::vector<std::string> textsOf(const Experiment& experiment) {
    std::vector<std::string> texts;
    for (const std::string_view text : {experiment.title, experiment.idea, experiment.question,
                                        experiment.x.title, experiment.y.title, experiment.link.label})
        texts.emplace_back(text);
    for (const std::string_view choice : experiment.choices)
        if (!choice.empty()) texts.emplace_back(choice);
    return texts;
}

std::set<std::string> textsOfPresets() {
    std::set<std::string> texts;
    for (const fs::path& file : filesIn("assets/presets", ".json")) {
        const auto state = nlohmann::json::parse(contents(file));
        for (const char* name : {"title", "about", "task", "answer"})
            texts.insert(state.at(name).get<std::string>());
    }
    return texts;
}

/// What Help, About says of the libraries inside.
std::set<std::string> textsOfLibraries() {
    std::set<std::string> texts;
    for (const auto& row : nlohmann::json::parse(contents(root / "assets/licences/libraries.json")))
        texts.insert(row.at("use").get<std::string>());
    return texts;
}

std::vector<std::string> paragraphsOf(const std::string& markdown) {
    std::vector<std::string> paragraphs;
    for (std::size_t at = 0; at < markdown.size();) {
        const std::size_t end = std::min(markdown.find("\n\n", at), markdown.size());
        paragraphs.push_back(markdown.substr(at, end - at));
        at = end + 2;
    }
    return paragraphs;
}

/// "{if gpu_too_busy < 1} {software} " at its start.
std::string conditionsOf(const std::string& paragraph) {
    std::size_t end = 0;
    while (end < paragraph.size() && paragraph[end] == '{' && paragraph.compare(end, 2, "{{") != 0)
        end = paragraph.find('}', end) + 2;
    return paragraph.substr(0, end);
}

std::set<std::string> textsOfTheProgram() {
    std::set<std::string> texts;
    for (const char* top : {"demos", "engine"})
        for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
            const std::string extension = entry.path().extension().string();
            if (extension == ".h" || extension == ".cpp") texts.merge(Literals(contents(entry.path())).texts);
        }
    texts.merge(lessonGroups());
    texts.merge(textsOfPresets());
    texts.merge(textsOfLibraries());
    return texts;
}

/// Reasons that the system gives.
const std::set<std::string> ofSystem{"No such file or directory", "Permission denied", "Is a directory",
                                     "No space left on device", "Read-only file system"};

/// "cannot read {}: {}", where the program has "cannot read " and ": ": errors of the engine are put together
/// so.
bool isPutTogether(const std::string& format, const std::set<std::string>& texts) {
    if (format == "unknown field of '{}' '{}'") return true; // one quotation mark behind the other
    const std::vector<std::string_view> gaps = placeholders(format);
    if (gaps.empty()) return false;
    std::string_view rest = format;
    const auto known = [&texts](std::string_view piece) {
        const std::size_t begin = std::min(piece.find_first_not_of(' '), piece.size());
        const std::string_view words = piece.substr(begin, piece.find_last_not_of(' ') + 1 - begin);
        return std::ranges::any_of(
            texts, [words](const std::string& text) { return text.find(words) != std::string::npos; });
    };
    for (const std::string_view gap : gaps) {
        const std::size_t at = rest.find(gap);
        if (!known(rest.substr(0, at))) return false;
        rest.remove_prefix(at + gap.size());
    }
    return known(rest);
}

std::vector<std::string> sortedNames(const std::string& markdown) {
    std::vector<std::string> names = quotedNames(markdown);
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

/// Everything but the words.
void compareSteps(const LessonStep& translation, const LessonStep& original) {
    CAPTURE(original.title);
    CAPTURE(translation.title);
    CHECK(translation.state == original.state);
    CHECK(translation.point == original.point);
    CHECK((translation.wait == original.wait));
    CHECK(translation.cover == original.cover);
    CHECK(translation.tries == original.tries);
    CHECK(sortedNames(translation.text) == sortedNames(original.text));
    CHECK(sortedNames(translation.answer) == sortedNames(original.answer));
    CHECK(translation.text.empty() == original.text.empty());
    CHECK(translation.answer.empty() == original.answer.empty());
    CHECK(translation.notes.empty() == original.notes.empty());
    CHECK(
        std::ranges::equal(translation.inputs, original.inputs, {}, &LessonInput::name, &LessonInput::name));
    REQUIRE(translation.ask.has_value() == original.ask.has_value());
    if (!original.ask) return;
    CHECK(sortedNames(translation.ask->text) == sortedNames(original.ask->text));
    CHECK(translation.ask->right == original.ask->right);
    CHECK(translation.ask->value == original.ask->value);
    CHECK(translation.ask->number == original.ask->number);
    CHECK(translation.ask->tolerance == original.ask->tolerance);
    CHECK(translation.ask->sketch == original.ask->sketch);
    CHECK(translation.ask->within == original.ask->within);
    REQUIRE(translation.ask->choices.size() == original.ask->choices.size());
    for (std::size_t i = 0; i < original.ask->choices.size(); ++i)
        CHECK((translation.ask->choices[i].when == original.ask->choices[i].when));
}

Lesson lessonFrom(const std::string& text, const char* file) {
    std::vector<LessonProblem> problems;
    Lesson lesson = lessonFromText(text, file, problems);
    CHECK(problems.empty());
    return lesson;
}

/// Words that English texts have, and neither German ones nor names.
const std::set<std::string> englishWords{
    "the",      "of",      "and",      "with",     "from",  "more",    "first",   "not",      "is",
    "are",      "at",      "by",       "this",     "that",  "it",      "its",     "row",      "rows",
    "column",   "columns", "layer",    "layers",   "steps", "about",   "skipped", "only",     "together",
    "measured", "edited",  "waiting",  "each",     "every", "which",   "your",    "you",      "there",
    "nothing",  "must",    "network",  "networks", "left",  "weights", "example", "examples", "samples",
    "neuron",   "neurons", "expected", "built",    "for"};

/// The lines of the verb `texts` that have such a word, each on a line.
std::string englishIn(const std::string& output) {
    std::istringstream lines(output);
    std::string found;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("text ")) continue;
        std::istringstream words(line.substr(5));
        for (std::string word; words >> word;) {
            const auto isLetter = [](unsigned char letter) { return std::isalpha(letter) != 0; };
            word.erase(std::ranges::find_if(word.rbegin(), word.rend(), isLetter).base(), word.end());
            if (!englishWords.contains(word)) continue;
            found += line + "\n";
            break;
        }
    }
    return found;
}

} // namespace

TEST_CASE("every table of words translates texts that the program has, with their placeholders") {
    const std::set<std::string> texts = textsOfTheProgram();
    CHECK(texts.contains("Start the race")); // the search itself works
    CHECK(texts.contains("Takes back the last change of settings, points, layers, weights or hidden controls "
                         "(Ctrl+Z)."));
    const std::vector<fs::path> tables = filesIn("assets/words", ".yaml");
    CHECK_FALSE(tables.empty());
    for (const fs::path& file : tables) {
        CAPTURE(file.filename().string());
        const WordFile table = readWords(file);
        CHECK(table.words.size() > 300);
        CHECK(table.problems.empty());
        for (const auto& entry : table.words) {
            const auto& [english, translation] = entry;
            CAPTURE(entry.first);
            CHECK((texts.contains(english) || isPutTogether(english, texts) || ofSystem.contains(english)));
            CHECK_FALSE(translation.empty());
            CHECK(placeholders(translation) == placeholders(english));
            CHECK(translation.find("##") == std::string::npos); // it would end a label
            CHECK(english.starts_with(' ') == translation.starts_with(' '));
            CHECK(english.ends_with(' ') == translation.ends_with(' '));
        }
    }
}

TEST_CASE("every table of words has all that the window says") {
    const std::set<std::string> texts = textsToTranslate();
    CHECK(texts.size() > 500);
    CHECK(texts.contains("networks/s, {} in {}"));
    CHECK(texts.contains("Press Run to start it."));
    for (const fs::path& file : filesIn("assets/words", ".yaml")) {
        CAPTURE(file.filename().string());
        const WordFile table = readWords(file);
        const auto has = [&](const std::string& text) {
            return table.words.contains(text) || table.words.contains(text.substr(0, text.find("##")));
        };
        for (const std::string& text : texts) {
            CAPTURE(text);
            CHECK(has(text));
        }
        for (const std::string& text : textsOfPresets()) {
            CAPTURE(text);
            CHECK(has(text));
        }
        for (const std::string& text : textsOfLibraries()) {
            CAPTURE(text);
            CHECK(has(text));
        }
        for (const Experiment* experiment : experiments())
            for (const std::string& text : textsOf(*experiment)) {
                CAPTURE(experiment->name);
                CAPTURE(text);
                CHECK((has(text) || !hasWords(text))); // "GFLOP/s" is the same everywhere
            }
    }
}

TEST_CASE("translated explanations of experiments are the originals in other words") {
    std::size_t compared = 0;
    for (const fs::path& file : filesIn("assets/experiments", ".md")) {
        if (textFileName(file).language.empty()) continue;
        CAPTURE(file.filename().string());
        const std::string original = (textFileName(file).name + ".md");
        const std::vector<std::string> english = paragraphsOf(readExplanation(file.parent_path() / original));
        const std::vector<std::string> other = paragraphsOf(readExplanation(file));
        REQUIRE(other.size() == english.size());
        for (std::size_t i = 0; i < other.size(); ++i) {
            CAPTURE(english[i]);
            CHECK(conditionsOf(other[i]) == conditionsOf(english[i]));
            CHECK(sortedNames(other[i]) == sortedNames(english[i]));
        }
        ++compared;
    }
    CHECK(compared == experiments().size());
}

TEST_CASE("numbers have the decimal sign of the language, and files a point") {
    speak("xx", {{"0.5", "0,5"}, {"1,000", "1.000"}, {"{} of {:.1f} s", "{} von {:.1f} s"}});
    CHECK(threeDigits(0.1234) == "0,123");
    CHECK(threeDigits(12345) == "12.300");
    CHECK(twoDigits(5.5) == "5,5");
    CHECK(percent(0.8832) == "88,32 %");
    CHECK(duration(0.00456) == "4,56 ms");
    CHECK(shortRate(30800) == "30,8k");
    CHECK(scientific(1.94e-5, 3) == "1,94·10⁻⁵");
    CHECK(plotNumber(0.25, true) == "0,2500");
    CHECK(plotTicks({0, 1}, false, 4).at(1).label.find(',') != std::string::npos);
    CHECK(translatedFormat("{} of {:.1f} s", "v1.2", 3.25) == "v1.2 von 3,2 s");
    CHECK(translatedFormat("{:5.2f}|", 1.5f) == " 1,50|");
    CHECK(counted(2, "step") == "2 steps"); // no twin
    {
        const EnglishHere english;
        CHECK(threeDigits(0.1234) == "0.123");
        CHECK(translatedFormat("{} of {:.1f} s", 1, 3.25) == "1 of 3.2 s");
    }
    CHECK(threeDigits(0.1234) == "0,123");
    const double x[] = {0.5}, y[] = {0.25};
    const PlotLine line{.name = "loss", .x = x, .y = y};
    CHECK(plotCsv("step", {&line, 1}).find("0.5,0.25") != std::string::npos);
    speak("en", {});
    CHECK(threeDigits(0.1234) == "0.123");
}

TEST_CASE("what is said of a number format is said in German, too") {
    speak("de", readWords(fs::path(LOCKSTEP_SOURCE_DIR) / "assets/words/de.yaml").words);
    lockstep::PrecisionSettings precision{.format = lockstep::OperandFormat::fp16};
    CHECK(translatedParts(emulationText(precision)) == "fp16, emuliert");
    precision.lossScaling = false;
    CHECK(translatedParts(emulationText(precision)) == "fp16, emuliert, ohne Skalierung des Verlusts");
    precision.masterWeights = false;
    precision.rounding = lockstep::RoundingMode::stochastic;
    CHECK(translatedParts(emulationText(precision)) ==
          "fp16, emuliert, ohne Skalierung des Verlusts, ohne Master-Gewichte, stochastisch gerundet");
    precision = {.format = lockstep::OperandFormat::bf16, .masterWeights = false};
    CHECK(translatedParts(emulationText(precision)) == "bf16, emuliert, ohne Master-Gewichte");
    speak("en", {});
}

TEST_CASE("texts that were put together in English are translated piece by piece") {
    const WordTable words{{"0.5", "0,5"},
                          {"1,000", "1.000"},
                          {"lane", "Bahn"},
                          {"of {} MiB", "mit {} MiB"},
                          {"field '{}': {}", "Feld '{}': {}"},
                          {"must be a text", "muss ein Text sein"},
                          {"must be from 0 to {}", "muss von 0 bis {} gehen"},
                          {"must be from 0 to {} steps", "muss von 0 bis {} Schritte gehen"},
                          {"unknown {} '{}'", "{} '{}' gibt es nicht"},
                          {"did you mean '{}'?", "ist '{}' gemeint?"},
                          {"It took {}.", "Das dauerte {}."},
                          {"{} on {}", "{} auf {}"},
                          {"Wait.", "Warte."}};
    speak("xx", words);
    const std::pair<const char*, const char*> cases[] = {
        {"field 'a': must be a text", "Feld 'a': muss ein Text sein"},
        {"field 'lane': must be a text", "Feld 'lane': muss ein Text sein"}, // what is quoted is a name
        {"field 'a': must be from 0 to 0.8", "Feld 'a': muss von 0 bis 0,8 gehen"},
        {"must be from 0 to 1,000 steps", "muss von 0 bis 1.000 Schritte gehen"},
        {"state.json: field 'a': must be a text", "state.json: Feld 'a': muss ein Text sein"},
        {"unknown lane 'gpu:x'; did you mean 'gpu:y'?", "Bahn 'gpu:x' gibt es nicht; ist 'gpu:y' gemeint?"},
        {"Wait. It took 1.5 ms. Really.", "Warte. Das dauerte 1,5 ms. Really."},
        {"784-256-10", "784-256-10"},
        {"1.3.230", "1.3.230"},
        {"v1.2 of 64.5 MiB", "v1.2 of 64.5 MiB"},
        {"a sentence on something else", "a sentence on something else"}, // "{} on {}" could be anything
        {"1,024", "1.024"},
        {"3:7", "3:7"},
        {"", ""},
    };
    for (const auto& each : cases) {
        CAPTURE(each.first); // clang captures no binding
        const auto& [english, other] = each;
        CHECK(translatedParts(english) == std::string(other));
        CHECK(translatedParts(english) == std::string(other)); // remembered
    }
    {
        const EnglishHere english;
        CHECK(translatedParts("must be a text") == "must be a text");
    }
    speak("en", {});
    CHECK(translatedParts("must be a text") == "must be a text");
}

TEST_CASE("a plot begins with the same two lines in every language") {
    LabView view;
    view.all = false;
    const LabSeries shown{true, "dispatches", {{1, 1, 1, 1}}}, other{false, "function calls", {{1, 1, 1, 1}}};
    const LabResult result{.series = {shown, other}};
    speak("xx", {{"dispatches", "Aufrufe"}, {"function calls", "Funktionsaufrufe"}});
    CHECK(draws(view, experimentFromName("launch"), result, shown));
    CHECK_FALSE(draws(view, experimentFromName("launch"), result, other));
    speak("en", {});
}

TEST_CASE("everything that the ladder says about a rung is translated") {
    for (const fs::path& file : filesIn("assets/words", ".yaml")) {
        CAPTURE(file.filename().string());
        const WordTable words = readWords(file).words;
        const auto check = [&](std::string_view english) {
            CAPTURE(english);
            CHECK((english.empty() || words.contains(english)));
        };
        for (const RungWords& each : allRungWords())
            for (const std::string_view text : {each.plain, each.question, each.answer}) check(text);
        for (const lockstep::RungRow& row : lockstep::rungTable)
            if (row.trains)
                for (const std::string_view text : {row.idea, row.unrecorded, row.needs}) check(text);
    }
}

TEST_CASE("a broken table says where") {
    const Folder folder;
    const std::pair<const char*, const char*> wrong[] = {
        {"words: {Run: Start}", "own name"},
        {"language: X", "'words' must be a map"},
        {"language: X\nwords: {Run: 3}", "xx.yaml:2: the translation of 'Run' must be a text"},
        {"language: X\nwords: {Run: a, Run: b}", "'Run' stands here twice"},
        {"language: X\nwords: {Run: a}\nword: 3", "xx.yaml:3: a table of words has"},
        {"language: [", "not YAML"},
    };
    for (const auto& each : wrong) {
        CAPTURE(each.first);
        std::ofstream(folder.file("xx.yaml")) << each.first;
        const std::string says = each.second;
        CHECK_THROWS_WITH_AS(readWords(folder.file("xx.yaml")), doctest::Contains(says.c_str()),
                             std::invalid_argument);
    }
}

TEST_CASE("a translation with other placeholders is named with its line, and is not used") {
    const Folder folder;
    std::ofstream(folder.file("xx.yaml")) << "language: X\nwords:\n  Run: Los\n"
                                          << "  \"{} hidden layers\": \"{} {} verborgene Schichten\"\n"
                                          << "  \"{} of {}\": \"{} von {\"\n  \"{:.1f} s\": \"{:.2f} s\"\n"
                                          << "  \"{{x}} {}\": \"{{y}} {}\"\n  Walk: \"{}\"\n";
    const WordFile table = readWords(folder.file("xx.yaml"));
    REQUIRE(table.problems.size() == 4);
    CHECK(table.problems[0].find("xx.yaml") != std::string::npos);
    for (std::size_t i = 0; i < 4; ++i) {
        CAPTURE(table.problems[i]);
        const std::string line = std::to_string(std::array{4, 5, 6, 8}[i]);
        CHECK(table.problems[i].find(line + ": '") != std::string::npos);
        CHECK(table.problems[i].find("has other placeholders than") != std::string::npos);
    }
    CHECK(table.words.size() == 2);
    CHECK(placeholders("a {} b {:.6g} {{c}} {") == std::vector<std::string_view>{"{}", "{:.6g}", "{"});
    CHECK(placeholders("}").size() == 1);
    CHECK(placeholders("").empty());
}

TEST_CASE("labels keep their identity in every language") {
    speak("xx", {{"Run", "Los"}, {"{} of {}", "{} von {}"}, {"Open##file", "Aufmachen"}, {"Open", "Auf"}});
    CHECK(translated("Run") == "Los");
    CHECK(translated("Walk") == "Walk");
    CHECK(translatedLabel("Run") == "Los###Run");
    CHECK(translatedLabel("Run##menu") == "Los###Run##menu");
    CHECK(translatedLabel("Open##file") == "Aufmachen###Open##file");
    CHECK(translatedLabel("Open##other") == "Auf###Open##other");
    CHECK(translatedLabel("##rate") == "##rate");
    CHECK(translatedLabel("Walk##menu") == "Walk##menu");
    CHECK(translatedFormat("{} of {}", 2, 7) == "2 von 7");
    CHECK(grouped(1234567) == "1,234,567");
    speak("xx", {{"Run", "Los"}, {"1,000", "1\u00A0000"}});
    CHECK(grouped(1234567) == "1\u00A0234\u00A0567");
    CHECK(grouped(999) == "999");
    const std::string_view kept = translated("Run");
    speak("en", {});
    CHECK(kept == "Los");
    CHECK(translated("Run") == "Run");
    CHECK(translatedLabel("Run") == "Run");
    CHECK(translatedFormat("{} of {}", 2, 7) == "2 of 7");
}

TEST_CASE("translated lessons are the originals in other words") {
    std::size_t compared = 0;
    for (const fs::path& file : filesIn("assets/lessons", ".md")) {
        if (textFileName(file).language.empty()) continue;
        CAPTURE(file.filename().string());
        const Lesson translation = readLesson(file);
        const Lesson original = readLesson(file.parent_path() / (translation.name + ".md"));
        CHECK(translation.title != original.title);
        CHECK(translation.minutes == original.minutes);
        CHECK(translation.place == original.place);
        CHECK(translation.group == original.group);
        CHECK(translation.needs == original.needs);
        CHECK(translation.sources == original.sources);
        REQUIRE(translation.steps.size() == original.steps.size());
        for (std::size_t i = 0; i < original.steps.size(); ++i)
            compareSteps(translation.steps[i], original.steps[i]);
        ++compared;
    }
    CHECK(compared == filesIn("assets/lessons", ".md").size() - findLessons().size());
}

TEST_CASE("the list has one entry for a lesson and its translations") {
    const Folder folder;
    std::ofstream(folder.file("a.md")) << "---\ntitle: A\n---\n## One\nText\n";
    std::ofstream(folder.file("a.de.md")) << "---\ntitle: Ah\n---\n## Eins\nText\n";
    std::ofstream(folder.file("b.de.md")) << "---\ntitle: Be\n---\n## Eins\nText\n";
    CHECK(textFileName("x/a.de.md").name == "a");
    CHECK(textFileName("x/a.de.md").language == "de");
    CHECK(textFileName("x/a.v2.md").name == "a.v2");
    CHECK(textFileName("x/a.md").language.empty());
    CHECK(fileInLanguage(folder.file("a.de.md")) == folder.file("a.md"));
    CHECK(fileInLanguage(folder.file("b.de.md")) == folder.file("b.de.md"));
    speak("de", {});
    CHECK(fileInLanguage(folder.file("a.md")) == folder.file("a.de.md"));
    speak("en", {});
}

TEST_CASE("answers go from one language to another by number, and within one by their texts") {
    const std::string english =
        "---\ntitle: T\n---\n## One\n```step\nask: Q\nchoices: [a, b, c]\nright: 2\n```\n"
        "## Two\nText\n## Three\n```step\nask: N\nright: 12\n```\n";
    const std::string german =
        "---\ntitle: T\n---\n## Eins\n```step\nask: F\nchoices: [x, y, z]\nright: 2\n```\n"
        "## Zwei\nText\n## Drei\n```step\nask: N\nright: 12\n```\n";
    LessonRun first(lessonFrom(english, "l.md"));
    first.answer().choice = 2;
    first.go(2);
    first.answer().number = 11.5;
    LessonRun other(lessonFrom(german, "l.de.md"));
    other.resume(first.progress());
    CHECK(other.lesson().name == first.lesson().name);
    CHECK(other.at() == 2);
    CHECK(other.answers() == first.answers());
    LessonRun again(lessonFrom(english, "l.md"));
    again.resume(other.progress());
    CHECK(again.answers() == first.answers());

    // The author has rewritten the choices: what was answered is no longer there.
    LessonRun rewritten(lessonFrom("---\ntitle: T\n---\n## One\n```step\nask: Q\nchoices: [a, b, d]\nright: "
                                   "2\n```\n## Two\nText\n## Three\nText\n",
                                   "l.md"));
    rewritten.resume(first.progress());
    CHECK_FALSE(rewritten.answers()[0].given());
    // Nothing can be taken over from a translation with other steps.
    LessonRun shorter(lessonFrom("---\ntitle: T\n---\n## Eins\n```step\nask: F\nchoices: [x, y, z]\nright: "
                                 "2\n```\n",
                                 "l.de.md"));
    shorter.resume(first.progress());
    CHECK_FALSE(shorter.answers()[0].given());
}

TEST_CASE("the window speaks the language that is asked for, and English without") {
    const Folder folder;
    const std::string script = "click menu/View\nhover menu/Language\nframes 5\nclick menu/Language/de\n"
                               "frames 3\nlesson what-is-a-gpu\ntell\nstate " +
                               folder.file("german.json") +
                               "\nclick menu/View\nhover menu/Language\nframes 5\nclick menu/Language/en\n"
                               "frames 3\ntell\ncontrols\n";
    const Outcome chosen = showScript(folder, "race", script);
    INFO(chosen.out << chosen.err);
    REQUIRE(chosen.code == 0);
    CHECK(nlohmann::json::parse(contents(folder.file("german.json")))["language"] == "de");
    const std::size_t german = chosen.out.find("1 von ");
    const std::size_t english = chosen.out.find("1 of ");
    CHECK(german != std::string::npos);
    CHECK(english != std::string::npos);
    CHECK(german < english);
    CHECK(chosen.out.find(" Run\n") != std::string::npos); // scripts name controls as ever

    const Outcome option =
        showScript(folder, "race", "lesson what-is-a-gpu\ntell\nclick Run\n", "--language de");
    CHECK(option.code == 0);
    CHECK(option.out.find("1 von ") != std::string::npos);
    const Outcome list = run("lesson list --language de");
    CHECK(list.code == 0);
    CHECK(run("show race --headless --language dd --frames 1").says("language"));
    CHECK(run("show race --headless --language dd --frames 1").says("did you mean 'de'"));
}

TEST_CASE("what exhibits say in German has no English in it") {
    const Folder folder;
    const std::pair<const char*, const char*> scripts[] = {
        {"race", "click Start the race\nframes 60\ntry Time\nframes 3\ntry Result\nframes 3\n"},
        {"playground", "click Step\nframes 3\nhover neuron/1.1\nframes 40\nclick ##answer/Layer\nframes 3\n"},
        {"inside", "click Step\nframes 20\nclick Next operation\nclick ##inside/tab/Tensors\nframes 5\n"
                   "hover A[1]\nframes 40\nclick A[1]\nframes 5\nclick ##inside/tab/Workgroups\nframes 5\n"
                   "click ##inside/tab/Source\nframes 5\n"},
        {"ladder", "try Measure all rungs\nframes 20\nhover "
                   "rung/gpu:naive\nframes 40\n"
                   "click ##ladder/tab/Memory\nframes 5\nclick ##ladder/tab/Crossover\nframes 3\n"},
        {"memory", "hover memory/step\nframes 3\nclick Run\nframes 3\nhover memory/together\nframes 40\n"},
        {"precision", "hover precision/e4m3 bits\nframes 40\nclick Run\nframes 3\nclick precision/e4m3 bits\n"
                      "frames 3\nhover precision/numbers\nframes 40\n"},
        {"mosaic", "click Run\nframes 20\nhover mosaic/tiles CPU\nframes 40\n"},
        {"map", "click Run\nframes 10\nhover map/GPU\nframes 40\nclick Bookmarks##map\nframes 3\n"},
        {"devices",
         "click Run\nframes 3\nhover devices/gantt\nframes 40\nclick End a rank##devices\nframes 3\n"
         "click Measure##devices\nframes 5\nhover devices/all-reduce\nframes 40\n"},
        {"parallelism", "click Measure##parallelism\nframes 5\n"},
    };
    for (const auto& each : scripts) {
        CAPTURE(each.first); // clang captures no binding
        const auto& [exhibit, script] = each;
        const Outcome outcome = showScript(
            folder, exhibit, "texts\n" + unfoldSettings(exhibit) + script + "texts\n", "--language de");
        CAPTURE(outcome.err);
        REQUIRE(outcome.code == 0);
        CHECK(outcome.out.find("text Start\n") != std::string::npos); // the search itself works
        CHECK(englishIn(outcome.out) == "");
    }
}

TEST_CASE("messages about a state are German, and name its fields as the file does") {
    const Folder folder;
    const std::pair<const char*, const char*> states[] = {
        {R"("exhibits":{"playground":{"noise":3}})", "'noise' der Spielwiese muss von 0 bis 0,8 gehen"},
        {R"("exhibits":{"inside":{"hidden":[1,2,3,4,5,6,7,8,9,10,11,12,13]}})",
         "Feld 'hidden': höchstens 8 verborgene Schichten, nicht 13"},
        {R"("exhibits":{"race":{"lanes":["gpu:nave"]}})",
         "Feld 'lanes': Bahn 'gpu:nave' gibt es nicht; ist 'gpu:naive' gemeint? (bekannt: "},
        {R"("exhibits":{"race":{"foo":1}})", "in 'race' gibt es kein Feld 'foo' (bekannt: "},
        {R"("presenter":1)", "das Feld 'presenter' des Zustands hat den falschen Typ"},
    };
    for (const auto& each : states) {
        CAPTURE(each.first); // clang captures no binding
        const auto& [state, message] = each;
        std::ofstream(folder.file("state.json")) << "{\"lockstep\":1," << state << "}";
        const Outcome outcome =
            showScript(folder, "map", "drop " + folder.file("state.json") + "\n", "--language de");
        CAPTURE(outcome.out);
        CHECK(outcome.says(message));
    }
}

TEST_CASE("the environment chooses a language for which there is a table") {
    const auto asked = [](const char* all, const char* messages, const char* lang) {
        setVariable("LC_ALL", all);
        setVariable("LC_MESSAGES", messages);
        setVariable("LANG", lang);
        return environmentLanguage();
    };
    CHECK(asked("", "", "de_AT.UTF-8") == "de");
    CHECK(asked("", "de", "en_US") == "de");
    CHECK(asked("C.UTF-8", "de", "de") == "en");
    CHECK(asked("", "", "fr_FR") == "en");
    CHECK(asked("", "", "") == "en");
    CHECK(asked("", "", "../x") == "en");
}
