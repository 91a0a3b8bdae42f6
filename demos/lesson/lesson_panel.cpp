#include "demos/lesson/lesson_panel.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "demos/lesson/markdown_view.h"
#include "demos/telling/measured_text.h"
#include "demos/words/text.h"
#include "demos/words/typed_number.h"

namespace lockstep::demos {

namespace {

constexpr const char* closeLabel = "×##lesson";
constexpr const char* nextLabel = "Next##lesson";
constexpr std::string_view closeWords =
    "Closes the lesson and restores your settings; for a preset, hides its texts.";
constexpr std::string_view choiceWords =
    "Your answer. It is judged once this machine has measured what it is about.";

float buttonWidth(const char* label) {
    return textWidth(shownLabel(label)) + 2 * ImGui::GetStyle().FramePadding.x;
}

/// "2 of 7", for a presenter with the time that the step has taken.
std::string placeText(const Ui& ui, const LessonRun& run) {
    const std::string place = run.ended()
                                  ? std::string(translated("The end"))
                                  : translatedFormat("{} of {}", run.at() + 1, run.lesson().steps.size());
    return ui.presenter ? place + "  " + ui.timing(clockTime(run.secondsOnStep())) : place;
}

bool turns(const LessonRun& run) { return run.lesson().steps.size() > 1; }

// "Back", "Next" and "2 of 7" in the present line. Next is the main button once the step is done.
LessonPress drawTurning(Ui& ui, const LessonRun& run) {
    LessonPress press = LessonPress::none;
    if (ui.button("Back##lesson", "The lesson's step before this one (Page Up).", !run.first()))
        press = LessonPress::back;
    ImGui::SameLine();
    const std::string_view nextWords =
        run.last() ? "What became of your predictions (Page Down)." : "The lesson's next step (Page Down).";
    if (!run.waits() && !run.ended() ? ui.primaryButton(nextLabel, nextWords)
                                     : ui.button(nextLabel, nextWords, !run.ended()))
        press = LessonPress::next;
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    ui.muted(placeText(ui, run));
    return press;
}

const char* answerLabel(const LessonRun& run) {
    return run.step().ask ? "Check answer##lesson" : "Answer##lesson";
}

/// The answer would say what is to be measured first.
bool keepsAnswer(const LessonRun& run) { return run.step().ask && run.waits(); }

void drawAnswerButton(Ui& ui, LessonRun& run) {
    if (!run.step().ask) {
        if (ui.toggle(answerLabel(run), "Shows or hides the answer.", run.answerShown))
            run.answerShown = !run.answerShown;
        return;
    }
    const bool ready = !keepsAnswer(run) && (run.answer().given() || ui.presenter);
    const std::string_view words = ready                  ? "Shows or hides the answer."
                                   : run.answer().given() ? "The answer follows the measurement."
                                                          : "Shows the answer once you have given yours.";
    if (ui.primaryButton(answerLabel(run), words, ready)) run.answerShown = !run.answerShown;
}

/// Below the others where it is too long for a line: it is wrapped, never cut.
bool drawLongChoice(Ui& ui, const std::string& text, const std::string& name, bool chosen) {
    const ImVec2 padding = ImGui::GetStyle().FramePadding;
    const float room = ImGui::GetContentRegionAvail().x;
    const float wrap = room - 2 * padding.x;
    const ImVec2 letters = ImGui::CalcTextSize(text.c_str(), nullptr, false, wrap);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const bool pressed = ui.tile(name.c_str(), choiceWords, {room, letters.y + 2 * padding.y});
    if (ui.hidden(name.c_str())) return false;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImU32 ground = ImGui::GetColorU32(chosen                   ? ImGuiCol_ButtonActive
                                            : ImGui::IsItemHovered() ? ImGuiCol_ButtonHovered
                                                                     : ImGuiCol_Button);
    draw.AddRectFilled(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), ground,
                       ImGui::GetStyle().FrameRounding);
    draw.AddText(ImGui::GetFont(), ImGui::GetFontSize(), {at.x + padding.x, at.y + padding.y},
                 ImGui::GetColorU32(ImGuiCol_Text), text.c_str(), nullptr, wrap);
    return pressed;
}

bool drawChoice(Ui& ui, const std::string& text, const std::string& name, bool chosen) {
    if (buttonWidth(text.c_str()) > ImGui::GetContentRegionAvail().x)
        return drawLongChoice(ui, text, name, chosen);
    const std::string label = text + "##" + name;
    return chosen ? ui.primaryButton(label.c_str(), choiceWords, true, name.c_str())
                  : ui.namedButton(label.c_str(), name.c_str(), choiceWords);
}

void drawChoices(Ui& ui, LessonRun& run, const MeasuredValues& values) {
    const Question& question = *run.step().ask;
    LessonAnswer& answer = run.answer();
    const std::optional<std::size_t> right = answer.choice ? rightChoice(question, values) : std::nullopt;
    for (std::size_t i = 0; i < question.choices.size(); ++i) {
        const std::string& text = question.choices[i].text;
        if (i > 0) {
            ImGui::SameLine();
            if (ImGui::GetContentRegionAvail().x < buttonWidth(text.c_str())) ImGui::NewLine();
        }
        if (drawChoice(ui, text, fmt::format("answer/{}", i + 1), answer.choice == i)) answer.choice = i;
        if (right == i)
            ImGui::GetWindowDrawList()->AddRect(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(),
                                                ui.theme.good, ui.px(4), 0, ui.line(2.5f));
    }
}

/// What was typed into a field for numbers; NaN: nothing. Empty: nothing new.
std::optional<double> typedNumber(Ui& ui, const char* name, std::string_view words,
                                  const std::string& shown) {
    ImGui::SetNextItemWidth(ui.px(120));
    const auto typed = ui.typedText(name, words, shown);
    if (!typed) return std::nullopt;
    if (typed->empty()) return std::numeric_limits<double>::quiet_NaN();
    const std::string text = withDecimalPoint(*typed);
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (*end == '\0' && std::isfinite(number)) return number;
    ui.say(Severity::warning, translatedFormat("'{}' is not a number.", *typed),
           "Write it like 0.25 or 3e6.");
    return std::nullopt;
}

/// What an answer is kept for.
std::string waitingText(const LessonRun& run) {
    const std::string& point = run.step().point;
    return run.waits() && !point.empty()
               ? translatedFormat("Your answer is kept. Now press {}.", translated(shownLabel(point)))
               : std::string(translated("Your answer is kept until it is measured."));
}

void drawNumber(Ui& ui, LessonAnswer& answer, NumberTyping& typing) {
    if (typing.first != 0) {
        if (typing.active && ImGui::GetIO().WantTextInput)
            ImGui::GetIO().AddInputCharacter(static_cast<unsigned>(std::exchange(typing.first, 0)));
        else
            ImGui::SetKeyboardFocusHere();
    }
    const std::string shown = answer.number ? translatedFormat("{:.6g}", *answer.number) : std::string();
    const std::optional<double> number =
        typedNumber(ui, "##lesson/number", "Your answer: type a number and press Enter.", shown);
    typing.active = ImGui::IsItemActive();
    if (number && !std::isnan(*number)) answer.number = *number;
}

// Texts and formulas follow from the next frame on. An empty field brings the usual number back.
void drawInputs(Ui& ui, LessonRun& run, bool inLine) {
    for (const LessonInput& input : run.step().inputs) {
        if (inLine) ImGui::AlignTextToFramePadding();
        ui.text(input.label);
        if (inLine) ImGui::SameLine();
        const std::string name = "##input/" + input.name;
        const auto number = typedNumber(
            ui, name.c_str(),
            "A number of the lesson. Type your own and press Enter. Clear it to restore the default.",
            translatedFormat("{:.6g}", run.input(input)));
        if (number) run.setInput(input.name, std::isnan(*number) ? std::nullopt : number);
        if (!input.about.empty()) ui.explainItem({.title = input.label, .text = input.about});
        ImGui::SameLine();
        ui.muted(input.unit);
    }
}

/// Another answer than the present one counts.
std::string earlierText(const LessonRun& run) {
    const LessonAnswer& first = run.prediction(run.at());
    if (!run.frozen(run.at()) || first == run.answer()) return {};
    if (first.choice)
        return translatedFormat("Your prediction stays: {}", run.step().ask->choices[*first.choice].text);
    return first.number ? translatedFormat("Your prediction stays: {:.6g}", *first.number) : std::string();
}

void drawQuestion(Ui& ui, LessonRun& run, const LessonView& view) {
    const MeasuredValues& values = view.values;
    if (!run.step().ask) return;
    const Question& question = *run.step().ask;
    ImGui::Dummy({0, ui.px(4)});
    ui.paragraph(filledText(question.text, values), ui.theme.accent);
    if (!question.sketch.empty())
        ui.muted(run.answer().sketch ? "Your curve is in the plot." : "Drag the mouse over the plot.");
    else if (question.choices.empty())
        drawNumber(ui, run.answer(), view.typing);
    else
        drawChoices(ui, run, values);
    // What stands below must not move while a button there is pressed, which ends the typing of a number: the
    // verdict has its place before there is one.
    const AnswerVerdict verdict = judge(question, run.answer(), values);
    const std::string waiting = waitingText(run);
    const float top = ImGui::GetCursorPosY();
    if (verdict == AnswerVerdict::waiting)
        ui.paragraph(ui.timing(waiting));
    else if (verdict != AnswerVerdict::none)
        ui.paragraph(ui.timing(verdictText(question, run.answer(), values)),
                     verdict == AnswerVerdict::right ? ui.theme.good : ui.theme.text);
    if (question.sketch.empty() && verdict != AnswerVerdict::right && verdict != AnswerVerdict::wrong) {
        const float room = ImGui::GetContentRegionAvail().x;
        const bool known = question.choices.empty() ? !std::isnan(rightNumber(question, values))
                                                    : rightChoice(question, values).has_value();
        const auto lines =
            known ? 1.0f : static_cast<float>(linesAtBlanks(waiting, room + 1, lettersWidth).size());
        ImGui::SetCursorPosY(top);
        ImGui::Dummy({0, lines * ImGui::GetTextLineHeight()});
    }
    if (const std::string first = earlierText(run); !first.empty()) ui.muted(first);
}

void drawShown(Ui& ui, const LessonRun& run, std::span<const TextBlock> blocks, const LessonView& view) {
    drawBlocks(ui, blocks, view.pictures, run.lesson().file.parent_path());
}

/// As far as it is measured. Where values are masked, all of it.
void drawAnswerText(Ui& ui, const LessonRun& run, const LessonView& view) {
    const std::string& answer = run.step().answer;
    drawShown(ui, run, ui.masked ? filledBlocks(answer, view.values) : knownBlocks(answer, view.values),
              view);
}

/// Answered, and what decides is measured: the answer follows by itself. Before that, it is shown on request.
bool decided(const LessonRun& run, const MeasuredValues& values) {
    if (!run.step().ask) return false;
    const AnswerVerdict verdict = judge(*run.step().ask, run.answer(), values);
    return verdict == AnswerVerdict::right || verdict == AnswerVerdict::wrong;
}

void drawAnswer(Ui& ui, LessonRun& run, const LessonView& view) {
    if (run.step().answer.empty()) return;
    const bool known = decided(run, view.values);
    if (!known) drawAnswerButton(ui, run);
    if (known || (run.answerShown && !keepsAnswer(run))) drawAnswerText(ui, run, view);
}

void drawSources(Ui& ui, const Lesson& lesson) {
    if (lesson.sources.empty()) return;
    ui.heading("Sources");
    for (const std::string& source : lesson.sources) {
        ui.paragraph(source, ui.theme.muted);
        ImGui::Dummy({0, ui.px(2)});
    }
}

/// Nothing has to be measured again where the step finds it measured.
void drawHeldBefore(Ui& ui, const LessonRun& run) {
    if (!run.step().wait) return;
    if (run.recalls())
        ui.paragraph("Measured before: these are the values of that time.", ui.theme.muted);
    else if (run.heldBefore())
        ui.paragraph("Measured already: this step is done.", ui.theme.muted);
}

} // namespace

LessonPress drawLesson(Ui& ui, LessonRun& run, const LessonView& view) {
    const LessonStep& step = run.step();
    LessonPress press = LessonPress::none;
    const float right = ImGui::GetContentRegionMax().x - buttonWidth(closeLabel);
    const auto title = [&](float wrapAt) {
        ImGui::PushTextWrapPos(wrapAt);
        ui.text(step.title, 0, ui.fonts.title);
        ImGui::PopTextWrapPos();
    };
    if (turns(run)) {
        press = drawTurning(ui, run);
    } else {
        ImGui::AlignTextToFramePadding();
        title(right - ui.px(6));
    }
    ImGui::SameLine(right);
    if (ui.button(closeLabel, closeWords)) press = LessonPress::close;
    if (turns(run)) ui.muted(fittedText(run.lesson().title, ImGui::GetContentRegionAvail().x));
    if (run.ended()) {
        drawSources(ui, run.lesson());
        return press;
    }
    if (turns(run)) title(0);
    std::vector<TextBlock> blocks = filledBlocks(step.text, view.values);
    // The answer takes the place of all but the task: both would be more than a panel should say.
    const std::span<const TextBlock> all = blocks;
    drawShown(ui, run, run.answerShown && !step.ask && !all.empty() ? all.last(1) : all, view);
    drawHeldBefore(ui, run);
    drawInputs(ui, run, false);
    drawQuestion(ui, run, view);
    drawAnswer(ui, run, view);
    ImGui::Dummy({0, ui.px(2)});
    ImGui::Separator();
    ImGui::Dummy({0, ui.px(2)});
    return press;
}

LessonPress drawLessonLine(Ui& ui, LessonRun& run, const LessonView& view) {
    const LessonStep& step = run.step();
    LessonPress press = LessonPress::none;
    const float gap = ImGui::GetStyle().ItemSpacing.x;
    float buttons = buttonWidth(closeLabel) + gap;
    const bool answers = !step.answer.empty() && !run.ended() && !decided(run, view.values);
    if (answers) buttons += buttonWidth(answerLabel(run)) + gap;
    if (turns(run))
        buttons += buttonWidth("Back") + buttonWidth("Next") + textWidth(placeText(ui, run)) + 3 * gap;
    const float right = ImGui::GetContentRegionMax().x;
    ImGui::AlignTextToFramePadding();
    ImGui::PushFont(ui.fonts.strong);
    ui.text(
        fittedText(run.ended() ? run.lesson().title : step.title, right - ImGui::GetCursorPosX() - buttons));
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
    if (ui.button(closeLabel, closeWords)) press = LessonPress::close;
    if (run.ended()) return press;
    // A class reads one paragraph: of a state's texts the task, which is the last one.
    const std::vector<TextBlock> blocks = filledBlocks(step.text, view.values);
    const std::span<const TextBlock> all = blocks;
    // The answer takes its place: the exhibit below keeps its room.
    const bool answered = (run.answerShown && !keepsAnswer(run)) || decided(run, view.values);
    if (!all.empty() && !(answered && turns(run)))
        drawShown(ui, run, turns(run) ? all.first(1) : all.last(1), view);
    drawInputs(ui, run, true);
    drawQuestion(ui, run, view);
    if (answered) drawAnswerText(ui, run, view);
    return press;
}

void drawCover(Ui& ui) {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const ImVec2 start = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddRectFilled(start, {start.x + room.x, start.y + room.y}, ui.theme.panel,
                                              ui.px(10));
    const float width = std::min(room.x - ui.px(32), ui.px(440));
    ImGui::SetCursorScreenPos({start.x + (room.x - width) / 2, start.y + room.y * 0.4f});
    ImGui::BeginGroup();
    ui.headline("Answer first", width);
    ui.paragraph("This machine has measured it already. The result is here once you have answered.",
                 ui.theme.muted, width);
    ImGui::EndGroup();
}

bool hidesAnswer(const LessonRun& run, const MeasuredValues& values) {
    return !run.ended() && !run.step().answer.empty() && !run.answerShown && !run.waits() &&
           !decided(run, values);
}

bool wantsNumber(const LessonRun& run) {
    const std::optional<Question>& ask = run.step().ask;
    return !run.ended() && ask && ask->choices.empty() && ask->sketch.empty() && !run.answer().given();
}

void drawLessonRing(const Ui& ui, const LessonRun& run) {
    const bool done = run.step().wait && !run.waits();
    const std::string name = done ? nextLabel : run.step().point;
    const auto found = ui.controls.find(name);
    if (name.empty() || found == ui.controls.end()) return;
    const float edge = ui.px(4);
    const auto& [min, max] = found->second;
    ImGui::GetForegroundDrawList()->AddRect({min.x - edge, min.y - edge}, {max.x + edge, max.y + edge},
                                            ui.theme.warning, ui.px(8), 0, ui.line(3));
}

} // namespace lockstep::demos
