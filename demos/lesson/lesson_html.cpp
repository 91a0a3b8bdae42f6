#include "demos/lesson/lesson_html.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "demos/words/html.h"
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
    const std::string text = htmlText(span.text);
    switch (span.style) {
    case TextStyle::emphasis: return "<em>" + text + "</em>";
    case TextStyle::strong: return "<strong>" + text + "</strong>";
    case TextStyle::code: return "<code>" + text + "</code>";
    case TextStyle::plain: break;
    }
    return text;
}

std::string blocksHtml(std::string_view markdown, const MeasuredValues& values) {
    std::string html;
    for (const TextBlock& block : lessonBlocks(markdown, values)) {
        std::string inside;
        for (const TextSpan& span : block.spans) inside += spanHtml(span);
        switch (block.kind) {
        case BlockKind::paragraph: html += fmt::format("<p>{}</p>\n", inside); break;
        case BlockKind::heading: html += fmt::format("<h3>{}</h3>\n", inside); break;
        case BlockKind::code: html += fmt::format("<pre>{}</pre>\n", htmlText(plainText(block))); break;
        case BlockKind::quote: html += fmt::format("<blockquote>{}</blockquote>\n", inside); break;
        case BlockKind::item:
            html += fmt::format("<p style=\"margin:0 0 0 {}em\">{} {}</p>\n", 1 + block.depth, block.bullet,
                                inside);
            break;
        }
    }
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
    if (!question.choices.empty()) return html;
    const double number = rightNumber(question, values);
    if (!answers || std::isnan(number)) return html + "<p class=\"line\"></p>\n";
    return html + fmt::format("<p class=\"right\">{}</p>\n",
                              question.value.empty() ? fmt::format("{:.6g}", number)
                                                     : htmlText(valueText(values, question.value)));
}

} // namespace

std::string stepHtml(const LessonRun& run, const MeasuredValues& values, const std::filesystem::path& picture,
                     bool answers) {
    const LessonStep& step = run.step();
    std::string html = fmt::format("<section>\n<h2>{}. {}</h2>\n{}", run.at() + 1, htmlText(step.title),
                                   blocksHtml(step.text, values));
    html += fmt::format("<img alt=\"{}\" src=\"data:image/png;base64,{}\">\n", htmlText(step.title),
                        base64(readFileBytes(picture)));
    if (step.ask) html += questionHtml(*step.ask, values, answers);
    if (answers && !step.answer.empty()) html += blocksHtml(step.answer, values);
    return html + "</section>\n";
}

} // namespace lockstep::demos
