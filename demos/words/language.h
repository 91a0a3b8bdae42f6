// The language that the program speaks. Its sources speak English; a table holds the same texts in another
// language. What has no translation stays English.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>

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

/// As long as it lives, its thread speaks English: for files that programs read.
class EnglishHere {
  public:
    EnglishHere();
    ~EnglishHere();
    EnglishHere(const EnglishHere&) = delete;
    EnglishHere& operator=(const EnglishHere&) = delete;
};

/// The text in the language spoken now. Any thread.
std::string_view translated(std::string_view english);

/// The same for a text that was put together in English, such as an error or what a file keeps: by the
/// formats of the table that it and its parts were made from. Any thread.
std::string translatedParts(std::string_view english);

/// From now on, keeps every text that translated() hands out. For checks of what a window shows.
void keepShownTexts();
/// Those since the last call, in any thread.
std::set<std::string> takeShownTexts();

/// A widget's label, which is shown up to "##". The rest, and the widget's identity, stay the same in all
/// languages. A translation of the whole label comes before one of the shown part.
std::string translatedLabel(std::string_view label);

/// What stands before a number's decimals in the language spoken now: "." or, where the table of words
/// translates "0.5" so, ",".
char decimalSign();
/// The text of one number, or of several, with that sign in place of every point.
std::string withDecimalSign(std::string numbers);

/// A number for translatedFormat(), which writes it with the decimal sign of the language.
struct DecimalNumber {
    double value;
};
template <class Argument> decltype(auto) shownArgument(const Argument& argument) {
    if constexpr (std::is_floating_point_v<Argument>)
        return DecimalNumber{static_cast<double>(argument)};
    else
        return (argument);
}

/// fmt::format with the translated format; with the English one where the translation's placeholders differ.
/// Floating-point numbers have the language's decimal sign; their width and precision are written out.
template <class... Args> std::string translatedFormat(fmt::format_string<Args...> english, Args&&... args) {
    const fmt::string_view format = english;
    const std::string_view words = translated({format.data(), format.size()});
    const auto written = [](fmt::string_view text, const auto&... shown) {
        return fmt::vformat(text, fmt::make_format_args(shown...));
    };
    try {
        return written(fmt::string_view(words.data(), words.size()), shownArgument(args)...);
    } catch (const fmt::format_error&) { // a table of words is a file that anyone may write
        return written(format, shownArgument(args)...);
    }
}

} // namespace lockstep::demos

template <> struct fmt::formatter<lockstep::demos::DecimalNumber> {
    constexpr auto parse(format_parse_context& context) {
        const auto* end = context.begin();
        while (end != context.end() && *end != '}') ++end;
        form_ = {context.begin(), static_cast<std::size_t>(end - context.begin())};
        return end;
    }
    template <class Context> auto format(lockstep::demos::DecimalNumber number, Context& context) const {
        const std::string text = lockstep::demos::withDecimalSign(
            fmt::vformat(std::string("{:").append(form_).append("}"), fmt::make_format_args(number.value)));
        return std::copy(text.begin(), text.end(), context.out());
    }

  private:
    std::string_view form_; // what follows the colon; the format outlives its use
};
