#include "demos/exhibits/ladder/rung_question.h"

#include <algorithm>
#include <string>

#include "demos/exhibits/ladder/rung_words.h"
#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

void drawAnswerToggle(Ui& ui, bool& answerShown) {
    if (ui.toggle("Answer##ladder", "Shows or hides the answer to the question.", answerShown))
        answerShown = !answerShown;
}

/// Where a lesson asks, the ladder does not.
bool asksAbout(const Ui& ui, const RungRow& rung) {
    return !wordsOf(rung).question.empty() && !ui.lessonAsks;
}

float toggleWidth(const Ui& ui) {
    return textWidth("Answer") + 2 * ImGui::GetStyle().FramePadding.x + ui.px(8);
}

} // namespace

void drawQuestion(Ui& ui, const RungRow& rung, bool& answerShown) {
    const RungWords words = wordsOf(rung);
    const bool asks = asksAbout(ui, rung);
    const float width = ImGui::GetContentRegionAvail().x;
    ImGui::AlignTextToFramePadding();
    ImGui::BeginGroup();
    ui.paragraph(asks ? words.question : rung.idea, asks ? ui.theme.accent : ui.theme.muted,
                 asks ? width - toggleWidth(ui) : width);
    ImGui::EndGroup();
    if (!asks) return;
    ImGui::SameLine();
    drawAnswerToggle(ui, answerShown);
    if (answerShown) ui.paragraph(words.answer);
}

float questionHeight(Ui& ui, const RungRow& rung, bool answerShown, float used, float width) {
    const RungWords words = wordsOf(rung);
    const bool asks = asksAbout(ui, rung);
    const auto heightOf = [](std::string_view text, float room) {
        const auto lines = linesAtBlanks(translated(text), std::max(room, 1.0f) + 1, lettersWidth);
        return static_cast<float>(lines.size()) * ImGui::GetTextLineHeight();
    };
    const ImGuiStyle& style = ImGui::GetStyle();
    const float beside =
        heightOf(asks ? words.question : rung.idea, width - used - (asks ? toggleWidth(ui) : 0));
    float height = std::max(beside + style.FramePadding.y, ImGui::GetFrameHeight());
    if (asks && answerShown) height += style.ItemSpacing.y + heightOf(words.answer, width);
    return height;
}

void drawIdea(Ui& ui, const RungRow& rung, bool& answerShown) {
    const RungWords words = wordsOf(rung);
    ui.heading(std::string(rung.lane));
    // The answer takes the place of the idea: both would be more than a panel should say.
    if (!answerShown || words.question.empty()) ui.paragraph(rung.idea);
    if (!asksAbout(ui, rung)) return;
    ImGui::Dummy({0, ui.px(2)});
    ui.paragraph(words.question, ui.theme.accent);
    drawAnswerToggle(ui, answerShown);
    if (answerShown) ui.paragraph(words.answer);
}

} // namespace lockstep::demos
