#include "demos/lesson/ending_page.h"

#include <algorithm>
#include <cmath>

namespace lockstep::demos {

namespace {

constexpr float mostPageUnits = 860; // longer lines are hard to read
constexpr float signColumn = 26;     // units

ImU32 verdictColour(const Ui& ui, AnswerVerdict verdict) {
    if (verdict == AnswerVerdict::right) return ui.theme.good;
    return verdict == AnswerVerdict::wrong ? ui.theme.bad : ui.theme.muted;
}

const char* verdictSign(const EndingRow& row) {
    if (row.verdict == AnswerVerdict::right) return "✓";
    if (row.verdict == AnswerVerdict::wrong) return "✗";
    return row.asks ? "–" : "•";
}

// A square for each question, in the order of the steps.
void drawSquares(Ui& ui, const LessonEnding& ending) {
    const float size = ui.px(24);
    const float gap = ui.px(6);
    const float room = ImGui::GetContentRegionAvail().x;
    const ImVec2 start = ImGui::GetCursorScreenPos();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    float x = 0;
    float y = 0;
    for (const EndingRow& row : ending.rows) {
        if (!row.asks) continue;
        if (x + size > room) x = 0, y += size + gap;
        const ImVec2 at{start.x + x, start.y + y};
        const char* sign = verdictSign(row);
        draw.AddRectFilled(at, {at.x + size, at.y + size}, verdictColour(ui, row.verdict), ui.px(4));
        draw.AddText({at.x + (size - lettersWidth(sign)) / 2, at.y + (size - ImGui::GetTextLineHeight()) / 2},
                     ui.theme.background, sign);
        x += size + gap;
    }
    ImGui::Dummy({room, y + size});
}

void drawRow(Ui& ui, const EndingRow& row) {
    const float indent = ui.px(signColumn);
    ui.text(verdictSign(row), verdictColour(ui, row.verdict), ui.fonts.strong);
    ImGui::SameLine(indent);
    ImGui::BeginGroup();
    ImGui::PushFont(ui.fonts.strong);
    ui.paragraph(row.title);
    ImGui::PopFont();
    if (row.asks) ui.paragraph(predictionText(row), ui.theme.muted);
    if (!row.result.empty()) ui.paragraph(ui.timing(translatedFormat("Here: {}", row.result)));
    ImGui::EndGroup();
    ImGui::Dummy({0, ui.px(3)});
}

// What takes the page elsewhere; a button that has no room goes into the next line.
EndingPress drawEndingButtons(Ui& ui, const LessonEnding& ending, const LessonEntry* next,
                              std::string& learner) {
    EndingPress press = EndingPress::none;
    if (next != nullptr) {
        const std::string room = fittedText(next->title, ImGui::GetContentRegionAvail().x - ui.px(120));
        const std::string label = translatedFormat("Next lesson: {}", room) + "##ending";
        if (ui.primaryButton(label.c_str(), "Opens the next lesson of the list that you have not done yet.",
                             true, "Next lesson##ending"))
            press = EndingPress::nextLesson;
    }
    if (ui.button("Save picture##ending", "Saves this page as a picture to share, without your name."))
        press = EndingPress::savePicture;
    if (ending.score.questions == 0) return press;
    const float nameWidth = ui.px(150);
    const float gap = ImGui::GetStyle().ItemSpacing.x;
    ImGui::SameLine(0, ui.px(16));
    if (ImGui::GetContentRegionAvail().x <
        nameWidth + textWidth("Your name") + textWidth("Save answers") + 4 * gap)
        ImGui::NewLine();
    ImGui::SetNextItemWidth(nameWidth);
    if (const auto typed = ui.typedText(
            "Your name##lesson", "The name in the file of your answers. It stays on this machine.", learner))
        learner = *typed;
    ImGui::SameLine();
    if (ui.button("Save answers##lesson",
                  "Writes your answers to a file for your teacher, in the folder that you choose.",
                  !learner.empty()))
        press = EndingPress::saveAnswers;
    return press;
}

} // namespace

EndingPress drawEnding(Ui& ui, const LessonEnding& ending, const LessonEntry* next, std::string& learner) {
    const float width = std::min(ImGui::GetContentRegionAvail().x, ui.px(mostPageUnits));
    ImGui::BeginChild("ending", {width, 0});
    ui.muted(fittedText(ending.title, width));
    ui.headline(scoreText(ending), width);
    if (ending.score.questions > 0) drawSquares(ui, ending);
    ui.paragraph(ui.timing(translatedFormat("Measured on {}.", ending.machine)), ui.theme.muted);
    ImGui::Dummy({0, ui.px(4)});
    const EndingPress press = drawEndingButtons(ui, ending, next, learner);
    ImGui::Dummy({0, ui.px(4)});
    ImGui::Separator();
    ImGui::Dummy({0, ui.px(4)});
    for (const EndingRow& row : ending.rows) drawRow(ui, row);
    ImGui::EndChild();
    return press;
}

} // namespace lockstep::demos
