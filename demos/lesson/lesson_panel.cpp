#include "demos/lesson/lesson_panel.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>

#include <fmt/format.h>

#include "demos/lesson/markdown_view.h"

namespace lockstep::demos {

namespace {

constexpr const char* closeLabel = "×##lesson";

float buttonWidth(const char* label) {
    return textWidth(shownLabel(label)) + 2 * ImGui::GetStyle().FramePadding.x;
}

std::string placeText(const LessonRun& run) {
    return fmt::format("{} of {}", run.at() + 1, run.lesson().steps.size());
}

bool turns(const LessonRun& run) { return run.lesson().steps.size() > 1; }

// "Back", "Next" and "2 of 7" in the present line. Next is the main button once the step is done.
LessonPress drawTurning(Ui& ui, const LessonRun& run) {
    LessonPress press = LessonPress::none;
    if (ui.button("Back##lesson", !run.first())) press = LessonPress::back;
    ImGui::SameLine();
    const bool done = !run.waits() && !run.last();
    if (done ? ui.primaryButton("Next##lesson") : ui.button("Next##lesson", !run.last()))
        press = LessonPress::next;
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    ui.muted(placeText(run));
    return press;
}

void drawAnswerButton(Ui& ui, LessonRun& run) {
    if (ui.toggle("Answer##lesson", run.answerShown)) run.answerShown = !run.answerShown;
}

void drawChoices(Ui& ui, LessonRun& run, const MeasuredValues& values) {
    const Question& question = *run.step().ask;
    LessonAnswer& answer = run.answer();
    const std::optional<std::size_t> right = answer.choice ? rightChoice(question, values) : std::nullopt;
    for (std::size_t i = 0; i < question.choices.size(); ++i) {
        const std::string name = fmt::format("answer/{}", i + 1);
        const std::string label = question.choices[i].text + "##" + name;
        if (i > 0) {
            ImGui::SameLine();
            if (ImGui::GetContentRegionAvail().x < buttonWidth(label.c_str())) ImGui::NewLine();
        }
        const bool chosen = answer.choice == i;
        if (chosen ? ui.primaryButton(label.c_str(), true, name.c_str())
                   : ui.namedButton(label.c_str(), name.c_str()))
            answer.choice = i;
        if (right == i)
            ImGui::GetWindowDrawList()->AddRect(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(),
                                                ui.theme.good, ui.px(4), 0, ui.line(2.5f));
    }
}

void drawNumber(Ui& ui, LessonAnswer& answer) {
    ImGui::SetNextItemWidth(ui.px(120));
    const std::string shown = answer.number ? fmt::format("{:.6g}", *answer.number) : std::string();
    const auto typed = ui.typedText("##lesson/number", shown);
    if (!typed || typed->empty()) return;
    char* end = nullptr;
    const double number = std::strtod(typed->c_str(), &end);
    if (*end != '\0' || !std::isfinite(number))
        ui.say(Severity::warning, fmt::format("'{}' is not a number.", *typed), "Write it like 0.25 or 3e6.");
    else
        answer.number = number;
}

void drawQuestion(Ui& ui, LessonRun& run, const MeasuredValues& values) {
    if (!run.step().ask) return;
    const Question& question = *run.step().ask;
    ui.paragraph(filledText(question.text, values), ui.theme.accent);
    if (question.choices.empty())
        drawNumber(ui, run.answer());
    else
        drawChoices(ui, run, values);
    const std::string verdict = verdictText(question, run.answer(), values);
    const bool right = judge(question, run.answer(), values) == AnswerVerdict::right;
    if (!verdict.empty()) ui.paragraph(ui.timing(verdict), right ? ui.theme.good : ui.theme.text);
}

void drawAnswer(Ui& ui, LessonRun& run, const MeasuredValues& values) {
    const LessonStep& step = run.step();
    if (step.answer.empty()) return;
    // Who has answered may read on; who has not asks for it.
    if (!step.ask || !run.answer().given()) drawAnswerButton(ui, run);
    if (run.answerShown || (step.ask && run.answer().given()))
        drawBlocks(ui, lessonBlocks(step.answer, values));
}

} // namespace

LessonPress drawLesson(Ui& ui, LessonRun& run, const MeasuredValues& values) {
    const LessonStep& step = run.step();
    LessonPress press = LessonPress::none;
    const float right = ImGui::GetContentRegionMax().x - buttonWidth(closeLabel);
    const auto title = [&](float wrapAt) {
        ImGui::PushTextWrapPos(wrapAt);
        ui.text(step.title, 0, ui.fonts.strong);
        ImGui::PopTextWrapPos();
    };
    if (turns(run)) {
        press = drawTurning(ui, run);
    } else {
        ImGui::AlignTextToFramePadding();
        title(right - ui.px(6));
    }
    ImGui::SameLine(right);
    if (ui.button(closeLabel)) press = LessonPress::close;
    if (turns(run)) {
        ui.muted(fittedText(run.lesson().title, ImGui::GetContentRegionAvail().x));
        title(0);
    }
    std::vector<TextBlock> blocks = lessonBlocks(step.text, values);
    // The answer takes the place of all but the task: both would be more than a panel should say.
    const std::span<const TextBlock> all = blocks;
    drawBlocks(ui, run.answerShown && !step.ask && !all.empty() ? all.last(1) : all);
    drawQuestion(ui, run, values);
    drawAnswer(ui, run, values);
    ImGui::Dummy({0, ui.px(2)});
    ImGui::Separator();
    ImGui::Dummy({0, ui.px(2)});
    return press;
}

LessonPress drawLessonLine(Ui& ui, LessonRun& run, const MeasuredValues& values) {
    const LessonStep& step = run.step();
    LessonPress press = LessonPress::none;
    const float gap = ImGui::GetStyle().ItemSpacing.x;
    float buttons = buttonWidth(closeLabel) + gap;
    const bool answers = !step.answer.empty() && !step.ask;
    if (answers) buttons += buttonWidth("Answer") + gap;
    if (turns(run))
        buttons += buttonWidth("Back") + buttonWidth("Next") + textWidth(placeText(run)) + 3 * gap;
    const float right = ImGui::GetContentRegionMax().x;
    ImGui::AlignTextToFramePadding();
    ImGui::PushFont(ui.fonts.strong);
    ui.text(fittedText(step.title, right - ImGui::GetCursorPosX() - buttons));
    ImGui::PopFont();
    ImGui::SameLine(right - buttons + gap);
    if (turns(run)) {
        press = drawTurning(ui, run);
        ImGui::SameLine();
    }
    if (answers) {
        drawAnswerButton(ui, run);
        ImGui::SameLine();
    }
    if (ui.button(closeLabel)) press = LessonPress::close;
    // A class reads one paragraph: of a state's texts the task, which is the last one.
    const std::vector<TextBlock> blocks = lessonBlocks(step.text, values);
    const std::span<const TextBlock> all = blocks;
    if (!all.empty()) drawBlocks(ui, turns(run) ? all.first(1) : all.last(1));
    drawQuestion(ui, run, values);
    if (run.answerShown || (step.ask && run.answer().given()))
        drawBlocks(ui, lessonBlocks(step.answer, values));
    return press;
}

void drawLessonRing(const Ui& ui, const LessonStep& step) {
    const auto found = ui.controls.find(step.point);
    if (step.point.empty() || found == ui.controls.end()) return;
    const float edge = ui.px(4);
    const auto& [min, max] = found->second;
    ImGui::GetForegroundDrawList()->AddRect({min.x - edge, min.y - edge}, {max.x + edge, max.y + edge},
                                            ui.theme.warning, ui.px(8), 0, ui.line(3));
}

} // namespace lockstep::demos
