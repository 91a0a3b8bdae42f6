#include "demos/lesson/class_results.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/lesson/lesson_desk.h"
#include "demos/lesson/lesson_file.h"
#include "demos/lesson/machine_plot.h"
#include "demos/telling/measured_text.h"
#include "demos/words/html.h"
#include "demos/words/language.h"
#include "demos/words/text.h"
#include "engine/files/json_text.h"

namespace lockstep::demos {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t largestSheet = 1u << 19;
constexpr std::size_t mostSheets = 10'000;
constexpr std::size_t mostColumns = 1000; // of measured values
constexpr std::size_t mostPlots = 60;     // of a lesson
constexpr std::size_t longestCell = 40;   // characters, of a table in a terminal

constexpr std::string_view verdictSigns[] = {"-", "?", "right", "wrong"}; // by AnswerVerdict
constexpr const char* signLegend = "Signs: the first answer; > what it was corrected to; ? not decided by a "
                                   "measurement yet; - no answer.";

std::string_view signOf(const SheetAnswer& answer) {
    return verdictSigns[static_cast<std::size_t>(answer.verdict)];
}

/// "wrong", or "wrong > right" where another answer came later.
std::string signsOf(const SheetQuestion& question) {
    const bool corrected = question.answer.text != question.prediction.text;
    return std::string(signOf(question.prediction)) +
           (corrected ? " > " + std::string(signOf(question.answer)) : "");
}

/// A spreadsheet must not take a text for a formula.
std::string cellText(const std::string& text) {
    const bool formula =
        !text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos;
    return csvField(formula ? "'" + text : text);
}

/// Lessons by their titles, and steps by theirs, in all languages: for sheets of earlier versions, which know
/// nothing else.
class KnownLessons {
  public:
    void add(const AnswerSheet& sheet) {
        if (sheet.lesson.empty()) return;
        names_.emplace(sheet.title, sheet.lesson);
        for (const SheetQuestion& each : sheet.questions)
            if (each.step > 0) steps_.emplace(std::pair(sheet.lesson, each.title), each.step);
    }
    void addAll() {
        for (const fs::path& file : allLessonFiles()) try {
                const Lesson lesson = readLesson(file);
                names_.emplace(lesson.title, lesson.name);
                for (std::size_t i = 0; i < lesson.steps.size(); ++i)
                    steps_.emplace(std::pair(lesson.name, lesson.steps[i].title), i + 1);
            } catch (const std::exception&) {
                // The list of lessons says what is wrong with it.
            }
    }
    void complete(AnswerSheet& sheet) const {
        const auto name = names_.find(sheet.title);
        // No lesson's name has a blank and quotes in front.
        if (sheet.lesson.empty()) sheet.lesson = name == names_.end() ? " '" + sheet.title : name->second;
        for (std::size_t i = 0; i < sheet.questions.size(); ++i) {
            if (sheet.questions[i].step > 0) continue;
            const auto step = steps_.find({sheet.lesson, sheet.questions[i].title});
            sheet.questions[i].step = step == steps_.end() ? i + 1 : step->second;
        }
    }

  private:
    std::map<std::string, std::string> names_;
    std::map<std::pair<std::string, std::string>, std::size_t> steps_;
};

/// Adds what an earlier sheet of the same pupil and lesson says to the later one.
void addEarlier(AnswerSheet& later, const AnswerSheet& earlier) {
    for (SheetQuestion& question : later.questions) {
        const auto before = std::ranges::find(earlier.questions, question.step, &SheetQuestion::step);
        if (before != earlier.questions.end() && !before->prediction.text.empty())
            question.prediction = before->prediction;
    }
    for (const SheetValue& value : earlier.values)
        if (std::ranges::find(later.values, value.name, &SheetValue::name) == later.values.end())
            later.values.push_back(value);
}

std::vector<fs::path> sheetFiles(const fs::path& folder, std::vector<std::string>& problems) {
    std::error_code failure;
    std::vector<fs::path> files;
    for (fs::directory_iterator entry(folder, failure); !failure && entry != fs::directory_iterator();
         entry.increment(failure))
        if (entry->path().extension() == ".json") files.push_back(entry->path());
    if (failure)
        throw std::runtime_error(
            fmt::format("cannot read the folder '{}': {}", folder.string(), failure.message()));
    std::ranges::sort(files);
    if (files.size() > mostSheets) {
        problems.push_back(fmt::format("only the first {} of {} files are read", mostSheets, files.size()));
        files.resize(mostSheets);
    }
    return files;
}

/// A column of a lesson's table.
struct Column {
    std::string title; ///< of the step
    std::string text;
    std::map<std::size_t, std::string> choices; ///< by their numbers
};

/// Sheets of one lesson, in words of the language spoken now, where some sheet has them.
struct LessonTable {
    std::span<const AnswerSheet> sheets;
    std::string title;
    std::map<std::size_t, Column> columns;     ///< by the number of the step
    std::map<std::string, std::string> units;  ///< of measured values, by name
    std::map<std::string, std::string> titles; ///< likewise

    explicit LessonTable(std::span<const AnswerSheet> all) : sheets(all), title(all.front().title) {
        const std::string spoken = spokenLanguage() == "en" ? "" : spokenLanguage();
        for (const bool preferred : {true, false})
            for (const AnswerSheet& sheet : sheets)
                if ((sheet.language == spoken) == preferred) add(sheet, preferred);
    }

    /// "Anna", or "Anna (3f0c)" where another pupil is called the same.
    std::string nameOf(const AnswerSheet& sheet) const {
        const std::string name = cut(sheet.learner, longestCell);
        return names_.at(sheet.learner) > 1 && !sheet.pupil.empty()
                   ? fmt::format("{} ({})", name, sheet.pupil.substr(0, 4))
                   : name;
    }
    static const SheetQuestion* find(const AnswerSheet& sheet, std::size_t step) {
        const auto found = std::ranges::find(sheet.questions, step, &SheetQuestion::step);
        return found == sheet.questions.end() ? nullptr : &*found;
    }

  private:
    void add(const AnswerSheet& sheet, bool preferred) {
        if (names_.empty() && preferred) title = sheet.title;
        ++names_[sheet.learner];
        for (const SheetQuestion& each : sheet.questions) {
            Column& column = columns.try_emplace(each.step, Column{each.title, each.text, {}}).first->second;
            for (const SheetAnswer& answer : {each.prediction, each.answer})
                if (answer.choice > 0) column.choices.emplace(answer.choice, answer.text);
        }
        for (const SheetValue& value : sheet.values)
            if (units.size() < mostColumns) {
                units.emplace(value.name, value.unit);
                titles.emplace(value.name, value.title);
            }
    }

    std::map<std::string, std::size_t> names_; // how many pupils are called that
};

std::vector<LessonTable> tablesOf(std::span<const AnswerSheet> sheets) {
    std::vector<LessonTable> tables;
    while (!sheets.empty()) {
        std::size_t count = 1;
        while (count < sheets.size() && sheets[count].lesson == sheets.front().lesson) ++count;
        tables.emplace_back(sheets.first(count));
        sheets = sheets.subspan(count);
    }
    return tables;
}

/// "3 of 4 right; most often wrong: The CPU (1)"
std::string columnResult(const LessonTable& lesson, std::size_t step, const Column& column) {
    std::size_t given = 0, right = 0;
    std::map<std::string, std::size_t> wrong;
    for (const AnswerSheet& sheet : lesson.sheets) {
        const SheetQuestion* question = LessonTable::find(sheet, step);
        if (question == nullptr || question->prediction.text.empty()) continue;
        const SheetAnswer& answer = question->prediction;
        ++given;
        if (answer.verdict == AnswerVerdict::right) ++right;
        if (answer.verdict == AnswerVerdict::wrong)
            ++wrong[answer.choice > 0 ? column.choices.at(answer.choice) : answer.text];
    }
    std::string text = fmt::format("{} of {} right", right, given);
    const auto most = std::ranges::max_element(wrong, {}, [](const auto& entry) { return entry.second; });
    if (most != wrong.end()) text += fmt::format("; most often wrong: {} ({})", most->first, most->second);
    return text;
}

/// The first row has the columns' names.
std::vector<std::vector<std::string>> tableRows(const LessonTable& lesson) {
    std::vector<std::vector<std::string>> rows;
    std::vector<std::string>& header = rows.emplace_back();
    header.emplace_back("learner");
    for (std::size_t i = 0; i < lesson.columns.size(); ++i) header.push_back(fmt::format("Q{}", i + 1));
    header.emplace_back("right");
    for (const AnswerSheet& sheet : lesson.sheets) {
        std::vector<std::string>& row = rows.emplace_back();
        row.push_back(lesson.nameOf(sheet));
        for (const auto& [step, column] : lesson.columns) {
            const SheetQuestion* question = LessonTable::find(sheet, step);
            row.push_back(question == nullptr ? std::string(verdictSigns[0]) : signsOf(*question));
        }
        row.push_back(fmt::format("{} of {}", sheet.right(), lesson.columns.size()));
    }
    return rows;
}

/// "Q2  Step 3, Title: Question", for the column of that place.
std::string columnName(std::size_t place, std::size_t step, const Column& column) {
    return fmt::format("Q{}  Step {}, {}: {}", place, step, column.title, column.text);
}

std::string numberCell(double number) { return std::isfinite(number) ? fmt::format("{}", number) : ""; }

std::string valueCell(const AnswerSheet& sheet, const std::string& name) {
    const auto found = std::ranges::find(sheet.values, name, &SheetValue::name);
    if (found == sheet.values.end()) return {};
    return found->text.empty() ? numberCell(found->number) : cellText(found->text);
}

/// One plot for each value that is a number, and that a question or answer shows.
std::string plotsHtml(const LessonTable& lesson) {
    std::map<std::string, std::vector<MachineNumber>> numbers;
    for (const AnswerSheet& sheet : lesson.sheets)
        for (const SheetValue& value : sheet.values)
            if (std::isfinite(value.number) && lesson.titles.contains(value.name) &&
                !lesson.titles.at(value.name).empty())
                numbers[value.name].push_back({sheet.machine, value.number});
    std::string html;
    std::size_t drawn = 0;
    for (const auto& [name, all] : numbers) {
        if (drawn++ == mostPlots) {
            html += fmt::format("<p>{} more values are in the table for a spreadsheet (--csv).</p>\n",
                                numbers.size() - mostPlots);
            break;
        }
        const std::size_t colon = name.find(':');
        const std::string base = colon == std::string::npos ? name : name.substr(colon + 1);
        const std::string& unit = lesson.units.at(name);
        html += fmt::format(
            "<section><h3>Step {}: {}{}</h3>\n{}</section>\n", htmlText(name.substr(0, colon)),
            htmlText(lesson.titles.at(name) == name ? base : lesson.titles.at(name)),
            unit.empty() ? "" : ", " + htmlText(unit), machinePlotSvg(all, [&base](double number) {
                const MeasuredValues one{{base, Measured{.number = number}}};
                return valueText(one, base);
            }));
    }
    return html;
}

} // namespace

std::vector<AnswerSheet> readAnswerSheets(const fs::path& folder, std::vector<std::string>& problems) {
    std::vector<AnswerSheet> all;
    KnownLessons known;
    bool old = false;
    for (const fs::path& file : sheetFiles(folder, problems)) try {
            const nlohmann::ordered_json json = readJsonFile(file, largestSheet);
            if (!isAnswerSheet(json)) continue;
            known.add(all.emplace_back(sheetFromJson(json)));
            old = old || all.back().lesson.empty();
        } catch (const std::exception& error) {
            const std::string text = withoutControls(error.what());
            const std::string name = withoutControls(file.filename().string());
            problems.push_back(text.find(name) == std::string::npos ? name + ": " + text : text);
        }
    if (old) known.addAll();
    for (AnswerSheet& sheet : all) known.complete(sheet);
    std::ranges::stable_sort(all, {}, &AnswerSheet::date); // before: by the files' names, which have seconds
    std::map<std::tuple<std::string, std::string, std::string>, AnswerSheet> latest;
    for (AnswerSheet& sheet : all) {
        AnswerSheet& kept = latest[{sheet.lesson, sheet.learner, sheet.pupil}];
        addEarlier(sheet, kept);
        kept = std::move(sheet);
    }
    std::vector<AnswerSheet> sheets;
    sheets.reserve(latest.size());
    for (auto& entry : latest) sheets.push_back(std::move(entry.second));
    return sheets;
}

std::string resultsText(std::span<const AnswerSheet> sheets) {
    std::string text;
    for (const LessonTable& lesson : tablesOf(sheets)) {
        text += fmt::format("{}{}\n\n{}\n", text.empty() ? "" : "\n", lesson.title,
                            table(tableRows(lesson), lesson.columns.size() + 1));
        std::size_t place = 0;
        for (const auto& [step, column] : lesson.columns)
            text += fmt::format("{}\n    {}\n", columnName(++place, step, column),
                                columnResult(lesson, step, column));
    }
    return text + "\n" + wrapped(signLegend, 90) + "\n";
}

std::string resultsCsv(std::span<const AnswerSheet> sheets) {
    std::set<std::size_t> steps;
    std::map<std::string, std::string> units;
    for (const LessonTable& lesson : tablesOf(sheets)) {
        for (const auto& entry : lesson.columns) steps.insert(entry.first);
        for (const auto& entry : lesson.units)
            if (units.size() < mostColumns) units.insert(entry);
    }
    std::string text = "lesson,title,pupil,learner,date,machine,right";
    for (const std::size_t step : steps)
        text += fmt::format(",step {0} prediction,step {0} prediction verdict,step {0} answer,"
                            "step {0} answer verdict",
                            step);
    for (const auto& [name, unit] : units)
        text += "," + cellText(unit.empty() ? name : fmt::format("{} ({})", name, unit));
    text += "\n";
    for (const AnswerSheet& sheet : sheets) {
        const bool known = !sheet.lesson.starts_with(' ');
        for (const std::string& field : {known ? sheet.lesson : std::string(), sheet.title, sheet.pupil,
                                         sheet.learner, sheet.date, sheet.machine})
            text += cellText(field) + ",";
        text += fmt::format("{}", sheet.right());
        for (const std::size_t step : steps) {
            const SheetQuestion* question = LessonTable::find(sheet, step);
            if (question == nullptr) {
                text += ",,,,";
                continue;
            }
            for (const SheetAnswer& answer : {question->prediction, question->answer})
                text +=
                    fmt::format(",{},{}", cellText(answer.text), answer.text.empty() ? "" : signOf(answer));
        }
        for (const auto& entry : units) text += "," + valueCell(sheet, entry.first);
        text += "\n";
    }
    return text;
}

std::string resultsHtml(std::span<const AnswerSheet> sheets) {
    std::string html;
    for (const LessonTable& lesson : tablesOf(sheets)) {
        html += fmt::format("<h2>{}</h2>\n<table>\n", htmlText(lesson.title));
        const char* cell = "th";
        for (const std::vector<std::string>& row : tableRows(lesson)) {
            html += "<tr>";
            for (const std::string& each : row) html += fmt::format("<{0}>{1}</{0}>", cell, htmlText(each));
            html += "</tr>\n";
            cell = "td";
        }
        html += "</table>\n";
        std::size_t place = 0;
        for (const auto& [step, column] : lesson.columns)
            html += fmt::format("<p>{}<br>{}</p>\n", htmlText(columnName(++place, step, column)),
                                htmlText(columnResult(lesson, step, column)));
        html += plotsHtml(lesson);
    }
    return htmlPage("Results of a class", html + fmt::format("<p>{}</p>\n", htmlText(signLegend)));
}

} // namespace lockstep::demos
