#include "demos/lesson/lesson_yaml.h"

#include <stdexcept>

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/yaml.h>

#include <fmt/format.h>

#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t mostValues = 10'000;
constexpr std::size_t deepest = 32;
constexpr const char* tooMuch = "too many values, or too deeply nested";

class Converter {
  public:
    explicit Converter(std::size_t firstLine) : firstLine_(firstLine) {}

    std::size_t lineOf(const YAML::Mark& mark) const {
        return firstLine_ + static_cast<std::size_t>(std::max(mark.line, 0));
    }

    ordered_json json(const YAML::Node& node, std::size_t depth) {
        if (++values_ > mostValues || depth > deepest) throw LessonError({lineOf(node.Mark()), tooMuch});
        switch (node.Type()) {
        case YAML::NodeType::Scalar: return scalar(node);
        case YAML::NodeType::Sequence: {
            ordered_json list = ordered_json::array();
            for (const YAML::Node& each : node) list.push_back(json(each, depth + 1));
            return list;
        }
        case YAML::NodeType::Map: {
            ordered_json object = ordered_json::object();
            for (const auto& each : node) {
                const std::string name = nameOf(each.first);
                if (object.contains(name))
                    throw LessonError(
                        {lineOf(each.first.Mark()), fmt::format("'{}' stands here twice", name)});
                object[name] = json(each.second, depth + 1);
            }
            return object;
        }
        case YAML::NodeType::Undefined:
        case YAML::NodeType::Null: return nullptr;
        default: throw std::logic_error("a value of an unknown kind");
        }
    }

    std::string nameOf(const YAML::Node& key) const {
        if (!key.IsScalar()) throw LessonError({lineOf(key.Mark()), "a field's name must be a word"});
        return key.Scalar();
    }

  private:
    // A quoted text stays a text; plain words are what JSON would make of them.
    ordered_json scalar(const YAML::Node& node) const {
        const std::string& text = node.Scalar();
        if (withoutControls(text) != text)
            throw LessonError({lineOf(node.Mark()), "a text has characters that control terminals"});
        if (node.Tag() == "!") return text;
        if (text == "true") return true;
        if (text == "false") return false;
        const ordered_json number = ordered_json::parse(text, nullptr, false);
        if (number.is_number()) return number;
        return text;
    }

    std::size_t firstLine_;
    std::size_t values_ = 0;
};

} // namespace

YamlMap readYaml(std::string_view text, std::size_t firstLine) {
    Converter converter(firstLine);
    try {
        const YAML::Node node = YAML::Load(std::string(text));
        if (!node.IsMap() && !node.IsNull())
            throw LessonError({firstLine, "fields are expected here: 'name: value'"});
        YamlMap map{.fields = ordered_json::object(), .lines = {}, .line = firstLine};
        if (node.IsNull()) return map;
        map.fields = converter.json(node, 0);
        for (const auto& each : node) {
            const std::string name = converter.nameOf(each.first);
            map.lines[name] = converter.lineOf(each.first.Mark());
            if (!each.second.IsMap()) continue;
            for (const auto& inner : each.second)
                map.lines[name + "/" + converter.nameOf(inner.first)] = converter.lineOf(inner.first.Mark());
        }
        return map;
    } catch (const YAML::DeepRecursion& error) { // it calls that a bad file
        throw LessonError({converter.lineOf(error.mark), tooMuch});
    } catch (const YAML::Exception& error) {
        throw LessonError({converter.lineOf(error.mark), fmt::format("not YAML: {}", error.msg)});
    }
}

} // namespace lockstep::demos
