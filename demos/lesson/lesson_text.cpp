#include "demos/lesson/lesson_text.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "demos/telling/measured_text.h"
#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t lineWidth = 90;

std::string indented(const std::string& text, const std::string& first, const std::string& others) {
    std::string result = first;
    for (const char letter : text) {
        result += letter;
        if (letter == '\n') result += others;
    }
    return result;
}

std::string tableText(const TextBlock& block) {
    std::vector<std::vector<std::string>> rows;
    rows.reserve(block.rows.size());
    for (const std::vector<TextBlock>& row : block.rows) {
        std::vector<std::string>& cells = rows.emplace_back();
        for (const TextBlock& cell : row) cells.push_back(plainText(cell));
    }
    return table(rows, rows.empty() ? 0 : rows.front().size());
}

std::string blocksText(const std::vector<TextBlock>& blocks) {
    std::string text;
    for (const TextBlock& block : blocks) {
        const std::string indent(2 * block.depth, ' ');
        const std::string plain = plainText(block);
        if (block.kind == BlockKind::table)
            text += tableText(block);
        else if (block.kind == BlockKind::picture)
            text += wrapped(fmt::format("[Picture: {}]", plain), lineWidth);
        else if (block.kind == BlockKind::code)
            text += indented(plain, "    ", "    ");
        else if (block.kind == BlockKind::item)
            text += indented(wrapped(plain, lineWidth - 4), indent + block.bullet + " ", indent + "  ");
        else
            text += wrapped(plain, lineWidth);
        text += block.kind == BlockKind::item ? "\n" : "\n\n";
    }
    return text;
}

} // namespace

std::string questionText(const Question& question, const MeasuredValues& values) {
    std::string text = wrapped(filledText(question.text, values), lineWidth) + "\n";
    if (!question.sketch.empty()) return text + "  A curve to sketch.\n\n";
    const std::optional<std::size_t> right = rightChoice(question, values);
    for (std::size_t i = 0; i < question.choices.size(); ++i)
        text += fmt::format("  {}. {}{}\n", i + 1, question.choices[i].text,
                            right == i ? translated("  <- here") : "");
    const std::string missing = "  " + std::string(translated("Not measured yet.")) + "\n\n";
    if (!question.choices.empty()) return text + (right ? "\n" : missing);
    const double number = rightNumber(question, values);
    if (std::isnan(number)) return text + missing;
    return text + translatedFormat("  Here: {}\n\n", question.value.empty()
                                                         ? translatedFormat("{:.6g}", number)
                                                         : valueText(values, question.value));
}

std::vector<std::string_view> sentencesOf(std::string_view text) {
    std::vector<std::string_view> found;
    std::size_t begin = 0;
    for (std::size_t at = 0; at + 2 < text.size(); ++at) {
        const auto next = static_cast<unsigned char>(text[at + 2]);
        const bool ends = std::string_view(".!?").find(text[at]) != std::string_view::npos;
        if (!ends || text[at + 1] != ' ' || (std::islower(next) != 0)) continue;
        found.push_back(text.substr(begin, at + 1 - begin));
        begin = at + 2;
    }
    if (begin < text.size()) found.push_back(text.substr(begin));
    return found;
}

MeasuredValues blanksOf(const Lesson& lesson) {
    MeasuredValues values;
    for (const UsedValue& used : usedValues(lesson))
        if (used.name != "machine.gpu.software") values[used.name].text = leftBlank;
    for (const LessonFormula& formula : lesson.formulas) values[formula.name].text = leftBlank;
    for (const LessonStep& step : lesson.steps)
        for (const LessonInput& input : step.inputs)
            values[input.name] = {.number = input.number, .text = {}};
    return values;
}

std::string valueTitle(const LessonStep& step, const std::string& name) {
    constexpr const char* others = "…";
    constexpr const char* mark = "___";
    MeasuredValues values;
    const auto quote = [&](const std::string& text) {
        for (const std::string& each : quotedNames(text)) values[each].text = each == name ? mark : others;
    };
    quote(step.answer);
    if (step.ask) quote(step.ask->text);
    values.erase("machine.gpu.software");
    if (step.ask && step.ask->value == name) return filledText(step.ask->text, values);
    const auto shows = [&](std::string_view text) { return text.find(mark) != std::string_view::npos; };
    for (const TextBlock& block : filledBlocks(step.answer, values)) {
        const std::string text = plainText(block);
        for (const std::string_view sentence : sentencesOf(text))
            if (shows(sentence)) return std::string(sentence);
    }
    const std::string question = step.ask ? filledText(step.ask->text, values) : std::string();
    return shows(question) ? question : std::string();
}

std::string notesText(const LessonRun& run) {
    const LessonStep& step = run.step();
    const MeasuredValues known = run.valuesOf(run.at(), {});
    MeasuredValues filled = blanksOf(run.lesson());
    for (const auto& [name, value] : known)
        if (value.known()) filled[name] = value;
    std::string text =
        step.notes.empty() ? "No notes.\n\n" : "Notes: " + blocksText(filledBlocks(step.notes, filled));
    if (step.ask) text += questionText(*step.ask, known);
    if (!step.answer.empty())
        text += std::string(translated("Answer: ")) + blocksText(filledBlocks(step.answer, filled));
    return text;
}

std::string stepText(const LessonRun& run, const MeasuredValues& values) {
    const LessonStep& step = run.step();
    std::string text =
        translatedFormat("{} of {}  {}\n\n", run.at() + 1, run.lesson().steps.size(), step.title);
    text += blocksText(filledBlocks(step.text, values));
    for (const LessonInput& input : step.inputs)
        text += wrapped(fmt::format("{}: {}{}{}{}", input.label, translatedFormat("{:.6g}", run.input(input)),
                                    input.unit.empty() ? "" : " ", input.unit,
                                    input.about.empty() ? "" : fmt::format(" ({})", input.about)),
                        lineWidth) +
                "\n";
    if (!step.inputs.empty()) text += "\n";
    if (step.ask) text += questionText(*step.ask, values);
    if (const std::string answer = blocksText(knownBlocks(step.answer, values)); !answer.empty())
        text += std::string(translated("Answer: ")) + answer;
    return text;
}

} // namespace lockstep::demos
