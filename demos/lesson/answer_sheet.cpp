#include "demos/lesson/answer_sheet.h"

#include <algorithm>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "demos/words/text.h"
#include "engine/files/json_field.h"

namespace lockstep::demos {

using nlohmann::ordered_json;

namespace {

constexpr const char* sheetMark = "lockstep_answers"; // the field that tells these files from others
constexpr std::size_t mostSheetQuestions = 100;
constexpr std::size_t mostSheetValues = 400;
constexpr std::size_t longestField = 2000; // bytes

constexpr std::string_view verdictWords[] = {"none", "open", "right", "wrong"}; // by AnswerVerdict

/// Files come from a whole class.
std::string plainField(const ordered_json& json, const char* name) {
    std::string text = jsonValue<std::string>(json, name);
    if (text.size() > longestField)
        throw std::invalid_argument("the field '" + std::string(name) + "' is too long");
    text = withoutControls(text);
    std::erase_if(text, [](char letter) { return letter == '\n' || letter == '\t'; });
    return text;
}

std::string plainFieldOr(const ordered_json& json, const char* name, std::string otherwise) {
    return json.contains(name) ? plainField(json, name) : otherwise;
}

SheetAnswer answerFrom(const ordered_json& json, const char* text, const char* choice, const char* verdict) {
    return {plainField(json, text), jsonValueOr<std::size_t>(json, choice, 0),
            static_cast<AnswerVerdict>(jsonWord(json, verdict, verdictWords))};
}

SheetQuestion questionFrom(const ordered_json& json) {
    SheetQuestion question{.step = jsonValueOr<std::size_t>(json, "number", 0),
                           .title = plainField(json, "step"),
                           .text = plainField(json, "question"),
                           .prediction = {},
                           .answer = answerFrom(json, "answer", "choice", "verdict")};
    if (question.step > mostSheetQuestions)
        throw std::invalid_argument("the field 'number' is not the number of a step");
    question.prediction = json.contains("prediction")
                              ? answerFrom(json, "prediction", "prediction_choice", "prediction_verdict")
                              : question.answer; // the only one that earlier versions have kept
    return question;
}

SheetValue valueFrom(const ordered_json& json) {
    SheetValue value{.name = plainField(json, "name"), .title = {}, .unit = plainFieldOr(json, "unit", "")};
    value.title = plainFieldOr(json, "title", value.name); // earlier versions wrote none
    if (json.contains("number"))
        value.number = jsonValue<double>(json, "number");
    else
        value.text = plainField(json, "text");
    if (!json.contains("number") && value.text.empty())
        throw std::invalid_argument("a value has neither a number nor a text");
    return value;
}

template <class Item, class Read>
std::vector<Item> listFrom(const ordered_json& json, const char* name, std::size_t most, Read read) {
    const ordered_json& list = jsonField(json, name);
    if (!list.is_array() || list.size() > most)
        throw std::invalid_argument("the field '" + std::string(name) + "' must be a list of at most " +
                                    std::to_string(most));
    std::vector<Item> items;
    items.reserve(list.size());
    for (const ordered_json& each : list) items.push_back(read(each));
    return items;
}

} // namespace

std::size_t AnswerSheet::right() const {
    return static_cast<std::size_t>(std::ranges::count_if(questions, [](const SheetQuestion& question) {
        return question.prediction.verdict == AnswerVerdict::right;
    }));
}

ordered_json sheetJson(const AnswerSheet& sheet) {
    ordered_json json{{sheetMark, 1},
                      {"learner", sheet.learner},
                      {"pupil", sheet.pupil},
                      {"lesson", sheet.title},
                      {"lesson_name", sheet.lesson},
                      {"language", sheet.language},
                      {"date", sheet.date},
                      {"machine", sheet.machine},
                      {"answers", ordered_json::array()},
                      {"values", ordered_json::array()}};
    const auto word = [](const SheetAnswer& answer) {
        return verdictWords[static_cast<std::size_t>(answer.verdict)];
    };
    for (const SheetQuestion& each : sheet.questions)
        json["answers"].push_back({{"number", each.step},
                                   {"step", each.title},
                                   {"question", each.text},
                                   {"prediction", each.prediction.text},
                                   {"prediction_choice", each.prediction.choice},
                                   {"prediction_verdict", word(each.prediction)},
                                   {"answer", each.answer.text},
                                   {"choice", each.answer.choice},
                                   {"verdict", word(each.answer)}});
    for (const SheetValue& each : sheet.values) {
        ordered_json& value = json["values"].emplace_back(ordered_json{{"name", each.name}});
        if (each.text.empty())
            value["number"] = each.number;
        else
            value["text"] = each.text;
        value["title"] = each.title;
        value["unit"] = each.unit;
    }
    return json;
}

bool isAnswerSheet(const ordered_json& json) { return json.is_object() && json.contains(sheetMark); }

AnswerSheet sheetFromJson(const ordered_json& json) {
    AnswerSheet sheet{.learner = plainField(json, "learner"),
                      .pupil = plainFieldOr(json, "pupil", ""),
                      .lesson = plainFieldOr(json, "lesson_name", ""),
                      .title = plainField(json, "lesson"),
                      .language = plainFieldOr(json, "language", ""),
                      .date = plainField(json, "date"),
                      .machine = plainField(json, "machine"),
                      .questions = listFrom<SheetQuestion>(json, "answers", mostSheetQuestions, questionFrom),
                      .values = {}};
    if (json.contains("values"))
        sheet.values = listFrom<SheetValue>(json, "values", mostSheetValues, valueFrom);
    return sheet;
}

} // namespace lockstep::demos
