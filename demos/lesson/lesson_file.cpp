#include "demos/lesson/lesson_file.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "demos/kit/source_text.h"
#include "demos/lesson/languages.h"
#include "demos/lesson/lesson_fields.h"
#include "demos/lesson/lesson_pictures.h"
#include "demos/telling/measured_text.h"
#include "demos/words/language.h"
#include "demos/words/text.h"
#include "engine/files/file_bytes.h"
#include "engine/files/json_text.h"
#include "engine/net/names.h"

namespace lockstep::demos {

namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t largestLesson = 1u << 18;
constexpr std::size_t mostSteps = 100;
constexpr std::size_t longestText = 2000;             // bytes: more would fill the panel
constexpr std::uint64_t mostPictureBytes = 64u << 20; // of all pictures: handouts hold them

using Lines = std::span<const std::string_view>;

std::string joined(Lines lines) {
    std::string text;
    for (const std::string_view line : lines) text += std::string(line) + '\n';
    return text;
}

namespace fs = std::filesystem;

bool isFence(std::string_view line) { return line.starts_with("```"); }
bool isTitle(std::string_view line) { return line.starts_with("## "); }

class Reader {
  public:
    Reader(Lines lines, const fs::path& folder, std::vector<LessonProblem>& problems)
        : lines_(lines), folder_(folder), problems_(problems) {}

    void read(Lesson& lesson) {
        const std::size_t body = readFront(lesson);
        std::size_t begin = body;
        while (begin < lines_.size() && !isTitle(lines_[begin])) {
            if (lines_[begin].find_first_not_of(" \t") != std::string_view::npos)
                return report(begin, "a step begins with '## ' and its title; nothing else may come before");
            ++begin;
        }
        while (begin < lines_.size()) {
            const std::size_t end = stepEnd(begin);
            if (lesson.steps.size() == mostSteps)
                return report(begin, fmt::format("more than {} steps", mostSteps));
            lesson.steps.push_back(readStep(begin, end));
            const std::string& title = lesson.steps.back().title;
            if (std::ranges::count(lesson.steps, title, &LessonStep::title) > 1)
                report(begin, fmt::format("another step is called '{}': answers are kept by title", title));
            begin = end;
        }
        if (lesson.steps.empty()) problems_.push_back({0, "it has no step: write '## ' and a title"});
    }

  private:
    void report(std::size_t index, std::string text) { problems_.push_back({index + 1, std::move(text)}); }

    /// Empty where it cannot be read, which is a problem.
    std::optional<YamlMap> yaml(std::size_t begin, std::size_t end) {
        try {
            return readYaml(joined(lines_.subspan(begin, end - begin)), begin + 1);
        } catch (const LessonError& error) {
            problems_.push_back(error.problem);
            return std::nullopt;
        }
    }

    /// Returns the line after it.
    std::size_t readFront(Lesson& lesson) {
        const auto dashes = [](std::string_view line) { return line == "---"; };
        if (lines_.empty() || !dashes(lines_.front())) {
            problems_.push_back({1, "a lesson begins with '---', its title and other fields, and '---'"});
            return 0;
        }
        const auto close = std::find_if(lines_.begin() + 1, lines_.end(), dashes);
        if (close == lines_.end()) {
            problems_.push_back({1, "the second '---' is missing"});
            return lines_.size();
        }
        const auto end = static_cast<std::size_t>(close - lines_.begin());
        if (const std::optional<YamlMap> fields = yaml(1, end)) {
            readLessonFields(lesson, *fields, problems_);
            if (!fields->fields.contains("title"))
                problems_.push_back({1, "the field 'title' is missing"});
            else if (fields->fields["title"] == "")
                problems_.push_back({fields->lineOf("title"), "the title is empty"});
        }
        return end + 1;
    }

    std::size_t stepEnd(std::size_t begin) const {
        bool fenced = false;
        for (std::size_t i = begin + 1; i < lines_.size(); ++i) {
            if (isFence(lines_[i])) fenced = !fenced;
            if (!fenced && isTitle(lines_[i])) return i;
        }
        return lines_.size();
    }

    LessonStep readStep(std::size_t begin, std::size_t end) {
        LessonStep step;
        step.title = lines_[begin].substr(3);
        step.line = begin + 1;
        std::optional<YamlMap> fields;
        bool described = false;
        for (std::size_t i = begin + 1; i < end; ++i) {
            if (lines_[i] != "```step") {
                step.text += std::string(lines_[i]) + '\n';
                if (!isFence(lines_[i])) continue;
                // Code of the text: as it is, to its end.
                while (++i < end && !isFence(lines_[i])) step.text += std::string(lines_[i]) + '\n';
                if (i == end) report(begin, "a code block has no end: '```' is missing");
                if (i < end) step.text += "```\n";
                continue;
            }
            const std::size_t first = i + 1;
            while (++i < end && lines_[i] != "```") {
            }
            if (i == end) report(first - 1, "this block has no end: '```' is missing");
            if (std::exchange(described, true)) report(first - 1, "a step has at most one block '```step'");
            fields = yaml(first, i);
        }
        if (fields) readStepFields(step, *fields, folder_, problems_); // after its text: a state may stand in
        checkText(step.text, step.line);
        const auto line = [&](const char* name) {
            return step.lines.contains(name) ? step.lines.at(name) : step.line;
        };
        checkText(step.answer, line("answer"));
        checkText(step.notes, line("notes"));
        if (!step.ask) return step;
        try {
            filledText(step.ask->text, {});
        } catch (const std::exception& error) {
            problems_.push_back({line("ask"), error.what()});
        }
        return step;
    }

    void checkText(const std::string& text, std::size_t line) {
        if (text.size() > longestText)
            problems_.push_back({line, fmt::format("a text of more than {} bytes", longestText)});
        try {
            quotedNames(text);
            for (const TextBlock& block : markdownBlocks(text))
                if (block.kind == BlockKind::picture) checkPicture(block.file);
        } catch (const std::exception& error) {
            problems_.push_back({line, error.what()});
        }
    }

    void checkPicture(const std::string& name) {
        if (sound_.insert(name).second) try {
                readLessonPicture(folder_, name);
            } catch (...) {
                sound_.erase(name);
                throw;
            }
        pictureBytes_ += fs::file_size(folder_ / name);
        if (pictureBytes_ > mostPictureBytes)
            throw std::invalid_argument(
                fmt::format("the lesson's pictures have more than {} MB in all", mostPictureBytes >> 20));
    }

    Lines lines_;
    fs::path folder_;                // of the file
    std::set<std::string> sound_;    // pictures that were read
    std::uint64_t pictureBytes_ = 0; // as often as they are shown
    std::vector<LessonProblem>& problems_;
};

} // namespace

Lesson lessonOfState(const ordered_json& state) {
    Lesson lesson;
    std::map<std::string_view, std::string> texts;
    for (const char* name : {"title", "about", "task", "answer"}) {
        const auto found = state.find(name);
        if (found == state.end()) continue;
        if (!found->is_string())
            throw std::invalid_argument(fmt::format("the state's field '{}' must be a text", name));
        texts[name] = found->get<std::string>();
        if (withoutControls(texts[name]) != texts[name])
            throw std::invalid_argument(
                fmt::format("the state's field '{}' has characters that control terminals", name));
        if (texts[name].size() > longestText)
            throw std::invalid_argument(
                fmt::format("the state's field '{}' is longer than {} bytes", name, longestText));
        texts[name] = translated(texts[name]); // those of presets
    }
    if (std::ranges::all_of(texts, [](const auto& text) { return text.second.empty(); })) return lesson;
    lesson.title = texts["title"];
    LessonStep& step = lesson.steps.emplace_back();
    step.title = lesson.title;
    step.text = texts["about"] + "\n\n" + texts["task"];
    step.answer = texts["answer"];
    for (const std::string* text : {&step.text, &step.answer}) try { // it is Markdown, drawn in every frame
            quotedNames(*text);
            for (const TextBlock& block : markdownBlocks(*text))
                if (block.kind == BlockKind::picture)
                    throw std::invalid_argument("only lessons have pictures");
        } catch (const std::exception& error) {
            throw std::invalid_argument(fmt::format("the state's texts: {}", error.what()));
        }
    return lesson;
}

Lesson lessonFromText(std::string_view text, const std::filesystem::path& file,
                      std::vector<LessonProblem>& problems) {
    Lesson lesson;
    lesson.file = file;
    lesson.name = textFileName(file).name;
    lesson.language = textFileName(file).language;
    if (findInvalidUtf8(lesson.name) != std::string_view::npos) {
        problems.push_back({0, "the file's name is not UTF-8"});
        return lesson;
    }
    if (const std::size_t at = findInvalidUtf8(text); at != std::string_view::npos) {
        const auto line = static_cast<std::size_t>(std::ranges::count(text.substr(0, at), '\n')) + 1;
        problems.push_back({line, "not UTF-8"});
        return lesson;
    }
    if (constexpr std::string_view mark = "\xEF\xBB\xBF"; text.starts_with(mark))
        text.remove_prefix(mark.size());
    std::string plain(text);
    std::erase(plain, '\r');
    if (withoutControls(plain) != plain) {
        problems.push_back({0, "it has characters that control terminals"});
        return lesson;
    }
    std::vector<std::string_view> lines = linesOf(text);
    for (std::string_view& line : lines)
        if (line.ends_with('\r')) line.remove_suffix(1);
    Reader(lines, file.parent_path(), problems).read(lesson);
    std::ranges::stable_sort(problems, {}, &LessonProblem::line);
    return lesson;
}

Lesson readLesson(const std::filesystem::path& file, std::vector<LessonProblem>& problems) {
    const std::vector<std::byte> bytes = readFileBytes(file, largestLesson);
    return lessonFromText(asText(bytes), file, problems);
}

Lesson readLesson(const std::filesystem::path& file) {
    std::vector<LessonProblem> problems;
    Lesson lesson = readLesson(file, problems);
    if (!problems.empty()) throw std::invalid_argument(describe(file, problems.front()));
    return lesson;
}

std::string describe(const std::filesystem::path& file, const LessonProblem& problem) {
    return placeInFile(withoutControls(file.string()), problem.line) + ": " + problem.text;
}

} // namespace lockstep::demos
