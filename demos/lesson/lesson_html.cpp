#include "demos/lesson/lesson_html.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <ctime>
#include <span>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/lesson/lesson_text.h"
#include "demos/telling/measured_text.h"
#include "demos/words/html.h"
#include "demos/words/language.h"
#include "engine/files/file_bytes.h"

namespace lockstep::demos {

namespace {

std::string base64(std::span<const std::byte> bytes) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        for (std::size_t j = 0; j < 3; ++j)
            group = group << 8 | (i + j < bytes.size() ? static_cast<std::uint32_t>(bytes[i + j]) : 0);
        for (std::size_t j = 0; j < 4; ++j)
            text += i + j > bytes.size() ? '=' : digits[group >> (18 - 6 * j) & 63];
    }
    return text;
}

std::string spanHtml(const TextSpan& span) {
    std::string text = htmlText(span.text);
    if (span.link.starts_with("http")) text = fmt::format("<a href=\"{}\">{}</a>", htmlText(span.link), text);
    switch (span.style) {
    case TextStyle::emphasis: return "<em>" + text + "</em>";
    case TextStyle::strong: return "<strong>" + text + "</strong>";
    case TextStyle::code: return "<code>" + text + "</code>";
    case TextStyle::plain: break;
    }
    return text;
}

std::string pictureHtml(const std::filesystem::path& file, const std::string& description) {
    return fmt::format("<img alt=\"{}\" src=\"data:image/png;base64,{}\">\n", htmlText(description),
                       base64(readFileBytes(file)));
}

std::string spansHtml(const TextBlock& block) {
    std::string html;
    for (const TextSpan& span : block.spans) html += spanHtml(span);
    return html;
}

std::string tableHtml(const TextBlock& block) {
    std::string html = "<table>\n";
    for (const std::vector<TextBlock>& row : block.rows) {
        const char* cell = &row == &block.rows.front() ? "th" : "td";
        html += "<tr>";
        for (const TextBlock& each : row) html += fmt::format("<{0}>{1}</{0}>", cell, spansHtml(each));
        html += "</tr>\n";
    }
    return html + "</table>\n";
}

/// `folder` is that of the lesson's file.
std::string blocksHtml(const std::vector<TextBlock>& blocks, const std::filesystem::path& folder) {
    std::string html;
    for (const TextBlock& block : blocks) {
        const std::string inside = spansHtml(block);
        switch (block.kind) {
        case BlockKind::paragraph: html += fmt::format("<p>{}</p>\n", inside); break;
        case BlockKind::heading: html += fmt::format("<h3>{}</h3>\n", inside); break;
        case BlockKind::code: html += fmt::format("<pre>{}</pre>\n", htmlText(plainText(block))); break;
        case BlockKind::quote: html += fmt::format("<blockquote>{}</blockquote>\n", inside); break;
        case BlockKind::item:
            html += fmt::format("<p style=\"margin:0 0 0 {}em\">{} {}</p>\n", 1 + block.depth, block.bullet,
                                inside);
            break;
        case BlockKind::table: html += tableHtml(block); break;
        case BlockKind::picture: html += pictureHtml(folder / block.file, plainText(block)); break;
        }
    }
    return html;
}

/// The picture of the step would have the names of this machine, which is the teacher's.
bool showsMachine(const LessonRun& run) {
    return !run.state().empty() &&
           nlohmann::json::parse(run.state()).value("exhibit", std::string()) == "machine";
}

std::string inputsHtml(const LessonRun& run) {
    std::string html;
    for (const LessonInput& input : run.step().inputs)
        html += fmt::format("<p>{}: <strong>{} {}</strong>{}</p>\n", htmlText(input.label),
                            translatedFormat("{:.6g}", run.input(input)), htmlText(input.unit),
                            input.about.empty() ? "" : fmt::format(" ({})", htmlText(input.about)));
    return html;
}

std::string questionHtml(const Question& question, const MeasuredValues& values, bool answers) {
    std::string html =
        fmt::format("<p><strong>{}</strong></p>\n", htmlText(filledText(question.text, values)));
    const std::size_t none = question.choices.size();
    const std::size_t right = answers ? rightChoice(question, values).value_or(none) : none;
    for (std::size_t i = 0; i < question.choices.size(); ++i)
        html += fmt::format("<p{}>{} {}</p>\n", right == i ? " class=\"right\"" : "", right == i ? "☑" : "☐",
                            htmlText(question.choices[i].text));
    if (!question.choices.empty() || !question.sketch.empty()) return html; // sketched over the picture
    const double number = rightNumber(question, values);
    if (!answers || std::isnan(number)) return html + "<p class=\"line\"></p>\n";
    return html + fmt::format("<p class=\"right\">{}</p>\n",
                              question.value.empty() ? translatedFormat("{:.6g}", number)
                                                     : htmlText(valueText(values, question.value)));
}

} // namespace

std::string headerHtml(const Lesson& lesson, bool answers) {
    std::string html = fmt::format("<p class=\"head\"><span>{}</span><span>{}</span></p>\n",
                                   translated("Name:"), translated("Class:"));
    if (!answers) html += fmt::format("<p>{} {}</p>\n", translated("Our device:"), leftBlank);
    if (!lesson.about.empty()) html += fmt::format("<p>{}</p>\n", htmlText(lesson.about));
    return html +
           fmt::format("<p><small>{}{:%Y-%m-%d}</small></p>\n",
                       lesson.minutes > 0 ? translatedFormat("{} minutes", lesson.minutes) + " · " : "",
                       fmt::localtime(std::time(nullptr)));
}

namespace {

/// What a class knows before it does anything: the numbers that a reader chooses. What steps measure, or ask
/// for, is to be filled in, and so is the machine: this one is the teacher's.
MeasuredValues valuesOnPaper(const LessonRun& run, const MeasuredValues& all) {
    MeasuredValues values;
    const Measured unknown{.text = leftBlank};
    const auto isOfStep = [](const std::string& name) {
        return std::isdigit(static_cast<unsigned char>(name.front())) != 0;
    };
    for (const auto& [name, value] : all)
        if (name.starts_with("machine.") && name != "machine.gpu.software") values[name] = unknown;
    for (const LessonStep& step : run.lesson().steps) {
        for (const LessonInput& input : step.inputs) values[input.name].number = run.input(input);
        for (const std::string* text : {&step.text, &step.answer, &step.notes})
            for (const std::string& name : quotedNames(*text))
                if (isOfStep(name)) values[name] = unknown;
        if (!step.ask) continue;
        for (const std::string& name : quotedNames(step.ask->text))
            if (isOfStep(name)) values[name] = unknown;
    }
    for (const LessonFormula& formula : run.lesson().formulas) {
        Measured& value = values[formula.name];
        value.number = formula.expression.evaluate(values);
        if (std::isnan(value.number)) value.text = leftBlank;
    }
    for (const LessonStep& step : run.lesson().steps)
        if (step.ask && !step.ask->value.empty()) values[step.ask->value] = unknown;
    return values;
}

} // namespace

std::string stepHtml(const LessonRun& run, const MeasuredValues& all, const std::filesystem::path& picture,
                     bool answers) {
    const LessonStep& step = run.step();
    const MeasuredValues values = answers ? all : valuesOnPaper(run, all);
    const std::filesystem::path folder = run.lesson().file.parent_path();
    std::string html = fmt::format("<section>\n<h2>{}. {}</h2>\n{}", run.at() + 1, htmlText(step.title),
                                   blocksHtml(filledBlocks(step.text, values), folder));
    if (answers && !step.notes.empty())
        html += fmt::format("<aside>{}</aside>\n", blocksHtml(filledBlocks(step.notes, values), folder));
    html += inputsHtml(run);
    if (answers || !showsMachine(run)) html += pictureHtml(picture, step.title);
    if (step.ask)
        html += "<div class=\"question\">\n" + questionHtml(*step.ask, values, answers) + "</div>\n";
    if (!answers && step.wait) html += fmt::format("<p>{} {}</p>\n", translated("Measured:"), leftBlank);
    if (answers && !step.answer.empty()) html += blocksHtml(knownBlocks(step.answer, values), folder);
    return html + "</section>\n";
}

std::string endingHtml(const Lesson& lesson) {
    const auto questions =
        std::ranges::count_if(lesson.steps, [](const LessonStep& step) { return step.ask.has_value(); });
    return questions == 0 ? std::string()
                          : fmt::format("<p><strong>{}</strong></p>\n",
                                        translatedFormat("{} of {} as predicted", leftBlank, questions));
}

} // namespace lockstep::demos
