// The language that the program speaks. Its sources speak English; a table holds the same texts in another
// language. What has no translation stays English.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace lockstep::demos {

/// English text -> the same in another language.
using WordTable = std::map<std::string, std::string, std::less<>>;

/// From now on, the functions below look into `words`. `code` is the language's: "de". Views that
/// translated() has returned stay valid.
void speak(const std::string& code, WordTable words);
/// "en" before the first call of speak().
std::string spokenLanguage();

/// Whether the text is a code of ISO 639: "de".
bool isLanguageCode(std::string_view text);

/// "what-is-a-gpu" and "de" of "what-is-a-gpu.de.md"; without a language, as of "what-is-a-gpu.md", the code
/// is empty.
struct TextFileName {
    std::string name;
    std::string language;
};
TextFileName textFileName(const std::filesystem::path& file);

/// The Markdown file beside `file` that says it in the language spoken now; else the one without a language,
/// else `file` itself.
std::filesystem::path fileInLanguage(const std::filesystem::path& file);

/// The text in the language spoken now. Any thread.
std::string_view translated(std::string_view english);

/// A widget's label, which is shown up to "##". The rest, and the widget's identity, stay the same in all
/// languages. A translation of the whole label comes before one of the shown part.
std::string translatedLabel(std::string_view label);

/// fmt::format with the translated format; with the English one where the translation's placeholders differ.
template <class... Args> std::string translatedFormat(fmt::format_string<Args...> english, Args&&... args) {
    const fmt::string_view format = english;
    const std::string_view words = translated({format.data(), format.size()});
    try {
        return fmt::vformat(fmt::string_view(words.data(), words.size()), fmt::make_format_args(args...));
    } catch (const fmt::format_error&) { // a table of words is a file that anyone may write
        return fmt::vformat(format, fmt::make_format_args(args...));
    }
}

} // namespace lockstep::demos
