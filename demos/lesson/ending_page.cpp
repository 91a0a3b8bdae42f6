#include "demos/lesson/ending_page.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

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
    if (!row.right.empty()) ui.paragraph(ui.timing(rightText(row)));
    if (!row.result.empty()) ui.paragraph(ui.timing(translatedFormat("Here: {}", row.result)));
    ImGui::EndGroup();
    ImGui::Dummy({0, ui.px(3)});
}

// In one line, each leading back. Returns the one that was pressed, from 0.
std::optional<std::size_t> drawOpenSteps(Ui& ui, const LessonEnding& ending) {
    std::optional<std::size_t> pressed;
    bool first = true;
    for (const EndingRow& row : ending.rows) {
        if (!row.open()) continue;
        if (std::exchange(first, false)) {
            ImGui::AlignTextToFramePadding();
            ui.muted("Not answered:");
        }
        const std::string label = fmt::format("{}. {}", row.step, row.title);
        const float width = lettersWidth(label) + 2 * ImGui::GetStyle().FramePadding.x;
        ImGui::SameLine();
        if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
        const std::string name = fmt::format("ending/{}", row.step);
        if (ui.namedButton((label + "##" + name).c_str(), name.c_str(),
                           "Goes back to this step, to answer its question."))
            pressed = row.step - 1;
    }
    return pressed;
}

// What takes the page elsewhere; a button that has no room goes into the next line.
EndingAct drawEndingButtons(Ui& ui, const LessonEnding& ending, const LessonEntry* next,
                            std::string& learner) {
    EndingAct press = EndingAct::none;
    if (next != nullptr) {
        const std::string room = fittedText(next->title, ImGui::GetContentRegionAvail().x - ui.px(120));
        const std::string label = translatedFormat("Next lesson: {}", room) + "##ending";
        if (ui.primaryButton(label.c_str(), "Opens the next lesson of the list that you have not done yet.",
                             true, "Next lesson##ending"))
            press = EndingAct::nextLesson;
    }
    if (ui.button("Save picture##ending", "Saves this page as a picture to share, without your name."))
        press = EndingAct::savePicture;
    if (ending.score.questions == 0) return press;
    const float nameWidth = ui.px(150);
    const float gap = ImGui::GetStyle().ItemSpacing.x;
    ImGui::SameLine(0, ui.px(16));
    if (ImGui::GetContentRegionAvail().x <
        nameWidth + textWidth("Your name") + textWidth("Save answers") + 4 * gap)
        ImGui::NewLine();
    ImGui::AlignTextToFramePadding();
    ui.text("Your name");
    ImGui::SameLine();
    ImGui::SetNextItemWidth(nameWidth);
    if (const auto typed = ui.typedText(
            "##lesson/name", "The name in the file of your answers. It stays on this machine.", learner))
        learner = *typed;
    ImGui::SameLine();
    if (ui.button("Save answers##lesson",
                  "Writes your answers to a file for your teacher, in the folder that you choose.",
                  !learner.empty()))
        press = EndingAct::saveAnswers;
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
    EndingPress press{.act = drawEndingButtons(ui, ending, next, learner)};
    ImGui::Dummy({0, ui.px(4)});
    ImGui::Separator();
    ImGui::Dummy({0, ui.px(4)});
    for (const EndingRow& row : ending.rows)
        if (!row.open()) drawRow(ui, row);
    if (const std::optional<std::size_t> step = drawOpenSteps(ui, ending))
        press = {.act = EndingAct::goBack, .step = *step};
    ImGui::EndChild();
    return press;
}

} // namespace lockstep::demos
