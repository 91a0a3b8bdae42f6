#include "demos/lesson/languages.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "demos/kit/assets.h"
#include "demos/lesson/lesson_yaml.h"
#include "engine/files/file_bytes.h"
#include "engine/files/json_text.h"
#include "engine/net/names.h"

namespace lockstep::demos {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largestTable = 1u << 20;
constexpr std::string_view english = "en";

fs::path tableOf(std::string_view code) {
    const fs::path folder = assetFolder("words");
    return folder.empty() ? folder : folder / fmt::format("{}.yaml", code);
}

} // namespace

std::vector<std::string_view> placeholders(std::string_view format) {
    std::vector<std::string_view> found;
    for (std::size_t at = 0; (at = format.find_first_of("{}", at)) < format.size();) {
        const bool letter = at + 1 < format.size() && format[at + 1] == format[at];
        const std::size_t end = letter ? at + 2 : std::min(format.find('}', at), format.size() - 1) + 1;
        if (!letter) found.push_back(format.substr(at, end - at));
        at = end;
    }
    return found;
}

WordFile wordsFromText(std::string_view text, const std::string& name) {
    const auto wrong = [&](std::size_t line, std::string_view what) {
        return std::invalid_argument(fmt::format("{}: {}", placeInFile(name, line), what));
    };
    if (findInvalidUtf8(text) != std::string_view::npos) throw wrong(1, "not UTF-8");
    try {
        const YamlMap map = readYaml(text, 1);
        for (const auto& [field, value] : map.fields.items())
            if (field != "language" && field != "words")
                throw wrong(map.lineOf(field), "a table of words has the fields 'language' and 'words'");
        if (!map.fields.contains("language") || !map.fields["language"].is_string())
            throw wrong(1, "'language' must be the language's own name");
        if (!map.fields.contains("words") || !map.fields["words"].is_object())
            throw wrong(map.lineOf("words"), "'words' must be a map: 'English: translation'");
        WordFile table{map.fields["language"].get<std::string>(), {}, {}};
        for (const auto& [key, value] : map.fields["words"].items()) {
            if (!value.is_string())
                throw wrong(map.lineOf("words"), fmt::format("the translation of '{}' must be a text", key));
            auto translation = value.get<std::string>();
            if (placeholders(translation) == placeholders(key))
                table.words.emplace(key, std::move(translation));
            else
                table.problems.emplace_back(
                    wrong(map.lineOf("words/" + key),
                          fmt::format("'{}' has other placeholders than '{}'; it is not used", translation,
                                      key))
                        .what());
        }
        return table;
    } catch (const LessonError& error) {
        throw wrong(error.problem.line, error.problem.text);
    }
}

WordFile readWords(const fs::path& file) {
    const std::vector<std::byte> bytes = readFileBytes(file, largestTable);
    return wordsFromText(asText(bytes), file.filename().string());
}

std::vector<LanguageEntry> findLanguages() {
    std::vector<LanguageEntry> languages{{std::string(english), "English"}};
    std::error_code failure;
    for (fs::directory_iterator entry(assetFolder("words"), failure);
         !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
        const std::string code = entry->path().stem().string();
        if (entry->path().extension() != ".yaml" || !isLanguageCode(code)) continue;
        try {
            languages.push_back({code, readWords(entry->path()).name});
        } catch (const std::exception&) {
            // It cannot be chosen; choosing it by name says why.
        }
    }
    std::ranges::sort(languages.begin() + 1, languages.end(), {}, &LanguageEntry::code);
    return languages;
}

std::vector<std::string> chooseLanguage(std::string_view code) {
    if (code == spokenLanguage()) return {};
    if (code == english) {
        speak(std::string(code), {});
        return {};
    }
    std::error_code unknown;
    if (isLanguageCode(code) && fs::is_regular_file(tableOf(code), unknown)) {
        WordFile table = readWords(tableOf(code));
        speak(std::string(code), std::move(table.words));
        return std::move(table.problems);
    }
    const std::vector<LanguageEntry> languages = findLanguages();
    std::vector<std::string_view> known;
    known.reserve(languages.size());
    for (const LanguageEntry& entry : languages) known.push_back(entry.code);
    throwUnknownName("language", code, known);
}

std::string environmentLanguage() {
    for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
        const char* value = std::getenv(name);
        if (value == nullptr || *value == '\0') continue;
        const std::string_view wanted = value; // "de_AT.UTF-8"; "C" and "POSIX" are English
        const std::string code(wanted.substr(0, wanted.find_first_of("_.@")));
        std::error_code unknown;
        return isLanguageCode(code) && fs::is_regular_file(tableOf(code), unknown) ? code
                                                                                   : std::string(english);
    }
    return std::string(english);
}

} // namespace lockstep::demos
