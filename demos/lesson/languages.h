// The languages that there are: English, and one for each table in assets/words (docs/lessons.md).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "demos/words/language.h"

namespace lockstep::demos {

struct LanguageEntry {
    std::string code; ///< "de": the name of its table, and the ending of its lessons, NAME.de.md
    std::string name; ///< as its speakers call it
};

/// English first, then those with a readable table.
std::vector<LanguageEntry> findLanguages();

struct WordFile {
    std::string name; ///< of the language
    WordTable words;
    std::vector<std::string> problems = {}; ///< with their lines: entries that are not used
};

/// Reads a table. A translation whose placeholders are not those of the English text is not used. Throws
/// std::invalid_argument with the line, std::runtime_error if it cannot be read.
WordFile readWords(const std::filesystem::path& file);
/// The same from the text of a file with that name.
WordFile wordsFromText(std::string_view text, const std::string& name);

/// The placeholders of a format, in their order: "{}", "{:.1f}". Doubled braces are letters.
std::vector<std::string_view> placeholders(std::string_view format);

/// From now on the program speaks this language. Returns the problems of its table. Throws
/// std::invalid_argument that names the nearest one.
std::vector<std::string> chooseLanguage(std::string_view code);

/// What LC_ALL, LC_MESSAGES or LANG ask for, in that order, if there is a table; else "en".
std::string environmentLanguage();

} // namespace lockstep::demos
