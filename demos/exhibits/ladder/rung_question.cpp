#include "demos/exhibits/ladder/rung_question.h"

#include <string>

#include "demos/exhibits/ladder/rung_words.h"
#include "demos/words/language.h"

namespace lockstep::demos {

namespace {

void drawAnswerToggle(Ui& ui, bool& answerShown) {
    if (ui.toggle("Answer##ladder", "Shows or hides the answer to the question.", answerShown))
        answerShown = !answerShown;
}

} // namespace

void drawQuestion(Ui& ui, const RungRow& rung, bool& answerShown) {
    const RungWords words = wordsOf(rung);
    ImGui::AlignTextToFramePadding();
    if (words.question.empty() || ui.lessonAsks) {
        ui.muted(fittedText(rung.idea, ImGui::GetContentRegionAvail().x));
        return;
    }
    const float answer = textWidth(translated("Answer")) + 2 * ImGui::GetStyle().FramePadding.x + ui.px(8);
    ui.text(fittedText(words.question, ImGui::GetContentRegionAvail().x - answer), ui.theme.accent);
    ImGui::SameLine();
    drawAnswerToggle(ui, answerShown);
    if (answerShown) ui.paragraph(words.answer);
}

void drawIdea(Ui& ui, const RungRow& rung, bool& answerShown) {
    const RungWords words = wordsOf(rung);
    ui.heading(std::string(rung.lane));
    // The answer takes the place of the idea: both would be more than a panel should say.
    if (!answerShown || words.question.empty()) ui.paragraph(rung.idea);
    if (words.question.empty() || ui.lessonAsks) return;
    ImGui::Dummy({0, ui.px(2)});
    ui.paragraph(words.question, ui.theme.accent);
    drawAnswerToggle(ui, answerShown);
    if (answerShown) ui.paragraph(words.answer);
}

} // namespace lockstep::demos
