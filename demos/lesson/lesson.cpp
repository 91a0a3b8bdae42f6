#include "demos/lesson/lesson.h"

#include <fmt/format.h>

#include "demos/telling/measured_text.h"

namespace lockstep::demos {

std::vector<UsedValue> usedValues(const Lesson& lesson) {
    std::vector<UsedValue> used;
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
        const LessonStep& step = lesson.steps[i];
        const auto line = [&](const char* field) {
            return step.lines.contains(field) ? step.lines.at(field) : step.line;
        };
        const auto add = [&](const std::vector<std::string>& names, std::size_t at) {
            for (const std::string& name : names) used.push_back({name, i, at});
        };
        add(quotedNames(step.text), step.line);
        add(quotedNames(step.answer), line("answer"));
        add(quotedNames(step.notes), line("notes"));
        const auto addCondition = [&](const std::optional<Condition>& condition, std::size_t at) {
            if (condition) add(condition->names(), at);
        };
        addCondition(step.wait, line("wait"));
        if (!step.ask) continue;
        add(quotedNames(step.ask->text), line("ask"));
        if (!step.ask->value.empty()) add({step.ask->value}, line("value"));
        if (!step.ask->sketch.empty())
            add({fmt::format("lab.{}.sketched", step.ask->sketch)}, line("sketch"));
        for (const Choice& choice : step.ask->choices) addCondition(choice.when, line("choices"));
    }
    for (const LessonFormula& formula : lesson.formulas)
        for (const std::string& name : formula.expression.names())
            used.push_back({name, lesson.steps.size(), lesson.lines.at("values")});
    return used;
}

} // namespace lockstep::demos
