#include "demos/shell/lesson.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lockstep::demos {

namespace {

constexpr std::size_t longestText = 2000; // bytes: more would fill the panel
constexpr std::size_t mostListed = 100;

constexpr std::pair<const char*, std::string Lesson::*> lessonFields[] = {{"title", &Lesson::title},
                                                                          {"about", &Lesson::about},
                                                                          {"task", &Lesson::task},
                                                                          {"answer", &Lesson::answer}};

constexpr const char* closeLabel = "×##lesson";

float buttonWidth(const char* label) {
    return textWidth(shownLabel(label)) + 2 * ImGui::GetStyle().FramePadding.x;
}

std::string placeInList(const StateList& list) {
    return fmt::format("{} of {}", list.at + 1, list.entries.size());
}

// "Back", "Next" and "2 of 7" in the present line.
LessonPress drawListButtons(Ui& ui, const StateList& list) {
    LessonPress press = LessonPress::none;
    if (ui.button("Back##lesson", list.at > 0)) press = LessonPress::back;
    ImGui::SameLine();
    if (ui.button("Next##lesson", list.at + 1 < list.entries.size())) press = LessonPress::next;
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    ui.muted(placeInList(list));
    return press;
}

void drawAnswerButton(Ui& ui, Lesson& lesson) {
    if (ui.toggle("Answer##lesson", lesson.answerShown)) lesson.answerShown = !lesson.answerShown;
}

} // namespace

Lesson lessonFromJson(const nlohmann::ordered_json& state) {
    Lesson lesson;
    for (const auto& [name, member] : lessonFields) {
        const auto found = state.find(name);
        if (found == state.end()) continue;
        if (!found->is_string())
            throw std::invalid_argument(fmt::format("the state's field '{}' must be a text", name));
        lesson.*member = found->get<std::string>();
        if ((lesson.*member).size() > longestText)
            throw std::invalid_argument(
                fmt::format("the state's field '{}' is longer than {} bytes", name, longestText));
    }
    return lesson;
}

void addTo(nlohmann::ordered_json& state, const Lesson& lesson) {
    for (const auto& [name, member] : lessonFields)
        if (!(lesson.*member).empty()) state[name] = lesson.*member;
}

std::string StateList::nameOf(std::size_t index) const {
    const std::string number = fmt::format("entry {}", index + 1);
    const std::filesystem::path& file = entries[index].file;
    return file.empty() ? number : fmt::format("{} ({})", number, file.filename().string());
}

bool isStateList(const nlohmann::ordered_json& json) { return json.is_object() && json.contains("states"); }

StateList stateListFromJson(const nlohmann::ordered_json& json, const std::filesystem::path& folder) {
    StateList list;
    list.title = lessonFromJson(json).title;
    const nlohmann::ordered_json& states = json.at("states");
    if (!states.is_array() || states.empty() || states.size() > mostListed)
        throw std::invalid_argument(fmt::format("the field 'states' must list 1 to {} states", mostListed));
    for (const auto& state : states) {
        if (state.is_string())
            list.entries.push_back({folder / state.get<std::string>(), {}});
        else if (state.is_object() && !isStateList(state))
            list.entries.push_back({{}, state.dump()});
        else
            throw std::invalid_argument(
                fmt::format("entry {} of 'states' must be a file name or a state", list.entries.size() + 1));
    }
    return list;
}

LessonPress drawLesson(Ui& ui, Lesson& lesson, const StateList* list) {
    LessonPress press = LessonPress::none;
    const float right = ImGui::GetContentRegionMax().x - buttonWidth(closeLabel);
    const auto title = [&](float wrapAt) {
        ImGui::PushTextWrapPos(wrapAt);
        ui.text(lesson.title, 0, ui.fonts.strong);
        ImGui::PopTextWrapPos();
    };
    if (list != nullptr) {
        press = drawListButtons(ui, *list);
    } else {
        ImGui::AlignTextToFramePadding();
        title(right - ui.px(6));
    }
    ImGui::SameLine(right);
    if (ui.button(closeLabel)) press = LessonPress::close;
    if (list != nullptr) {
        if (!list->title.empty()) ui.muted(list->title);
        if (!lesson.title.empty()) title(0);
    }
    // The answer takes the place of the introduction: both would be more than a panel should say.
    if (!lesson.about.empty() && !lesson.answerShown) ui.paragraph(lesson.about);
    if (!lesson.task.empty()) ui.paragraph(lesson.task);
    if (!lesson.answer.empty()) drawAnswerButton(ui, lesson);
    if (lesson.answerShown) ui.paragraph(lesson.answer);
    ImGui::Dummy({0, ui.px(2)});
    ImGui::Separator();
    ImGui::Dummy({0, ui.px(2)});
    return press;
}

LessonPress drawLessonLine(Ui& ui, Lesson& lesson, const StateList* list) {
    LessonPress press = LessonPress::none;
    const float gap = ImGui::GetStyle().ItemSpacing.x;
    float buttons = buttonWidth(closeLabel) + gap;
    if (!lesson.answer.empty()) buttons += buttonWidth("Answer") + gap;
    if (list != nullptr)
        buttons += buttonWidth("Back") + buttonWidth("Next") + textWidth(placeInList(*list)) + 3 * gap;
    const float right = ImGui::GetContentRegionMax().x;
    ImGui::AlignTextToFramePadding();
    ImGui::PushFont(ui.fonts.strong);
    const std::string& title = lesson.title.empty() && list != nullptr ? list->title : lesson.title;
    ui.text(fittedText(title, right - ImGui::GetCursorPosX() - buttons));
    ImGui::PopFont();
    ImGui::SameLine(right - buttons + gap);
    if (list != nullptr) {
        press = drawListButtons(ui, *list);
        ImGui::SameLine();
    }
    if (!lesson.answer.empty()) {
        drawAnswerButton(ui, lesson);
        ImGui::SameLine();
    }
    if (ui.button(closeLabel)) press = LessonPress::close;
    const std::string& text = lesson.task.empty() ? lesson.about : lesson.task;
    ui.paragraph(text);
    if (lesson.answerShown) ui.paragraph(lesson.answer);
    return press;
}

} // namespace lockstep::demos
