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

std::string blocksText(std::string_view markdown, const MeasuredValues& values) {
    std::string text;
    for (const TextBlock& block : filledBlocks(markdown, values)) {
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

std::string notesText(const LessonRun& run, const MeasuredValues& values) {
    const std::string& notes = run.step().notes;
    return notes.empty() ? std::string() : "Notes: " + blocksText(notes, values);
}

std::string stepText(const LessonRun& run, const MeasuredValues& values) {
    const LessonStep& step = run.step();
    std::string text =
        translatedFormat("{} of {}  {}\n\n", run.at() + 1, run.lesson().steps.size(), step.title);
    text += blocksText(step.text, values);
    for (const LessonInput& input : step.inputs)
        text += wrapped(fmt::format("{}: {}{}{}{}", input.label, translatedFormat("{:.6g}", run.input(input)),
                                    input.unit.empty() ? "" : " ", input.unit,
                                    input.about.empty() ? "" : fmt::format(" ({})", input.about)),
                        lineWidth) +
                "\n";
    if (!step.inputs.empty()) text += "\n";
    if (step.ask) text += questionText(*step.ask, values);
    if (!step.answer.empty()) text += std::string(translated("Answer: ")) + blocksText(step.answer, values);
    return text;
}

} // namespace lockstep::demos
