// Parses option values; messages say what a valid value looks like.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace CLI {
class App;
class Option;
class Validator;
} // namespace CLI

namespace lockstep::demos {

/// Sets the text before and after the options in a command's help; the list of commands stays brief.
void addManual(CLI::App& command, const std::string& about, const std::string& examples);

/// Adds an option whose text is passed to `read`. An exception from `read` is rethrown as
/// std::invalid_argument, prefixed with the option's name.
CLI::Option* addText(CLI::App& command, const std::string& name, const std::string& typeName,
                     const std::function<void(std::string_view)>& read, const std::string& help);
/// The same where `value` becomes what `read` makes of the text.
template <class Value, class Read>
CLI::Option* addText(CLI::App& command, const std::string& name, const std::string& typeName, Value& value,
                     Read read, const std::string& help) {
    const auto store = [&value, read](std::string_view text) { value = read(text); };
    return addText(command, name, typeName, store, help);
}

/// Adds an option for a text or a number as it is. `App` is CLI::App, which only callers have to know.
template <class App, class Value>
auto addValue(App& command, const char* name, const char* typeName, Value& value, const std::string& help) {
    return command.add_option(name, value, help)->type_name(typeName);
}
/// Lets the option read a whole number as people write it ("1e3"), and refuse anything else, also what is
/// larger than `most`.
void requireWholeNumber(CLI::Option& option, std::uint64_t most);
/// The same as addValue() for a number that `check` accepts.
template <class App, class Value>
auto addNumber(App& command, const char* name, const char* typeName, Value& value,
               const CLI::Validator& check, const std::string& help) {
    auto* option = addValue(command, name, typeName, value, help)->check(check);
    if constexpr (std::is_integral_v<Value>) requireWholeNumber(*option, std::numeric_limits<Value>::max());
    return option;
}

/// Whether the option was given, and the first one given of these groups (null: none).
bool given(const CLI::App& command, const char* option);
const CLI::Option* firstGiven(const CLI::App& command, std::initializer_list<const char*> groups);

/// Validators for numbers: at least 1; above 0; at least 0.
CLI::Validator atLeastOne();
CLI::Validator aboveZero();
CLI::Validator notNegative();

/// "what: a b c", with line breaks so that it fits beside the options' names in the help.
std::string listing(const std::string& what, std::span<const std::string_view> names);

/// Parses "256,128" or "256, 128"; "none" gives an empty list. Throws std::invalid_argument, also for 0.
std::vector<std::size_t> widthsFromText(std::string_view text);
/// "256, 128"; "none".
std::string widthsText(const std::vector<std::size_t>& widths);
/// Names separated by commas, without blanks at their ends and empty ones.
std::vector<std::string> namesFromText(std::string_view text);

/// Throws std::invalid_argument "`what` a whole number from 0 to 18446744073709551615, not '...'".
std::uint64_t wholeNumberFromText(std::string_view text, std::string_view what);
inline std::uint64_t seedFromText(std::string_view text) { return wholeNumberFromText(text, "a seed is"); }

/// Parses "0.85" or "85%" as 0.85. Throws std::invalid_argument outside 0 to 100 %.
double shareFromText(std::string_view text);

/// Throws std::invalid_argument if the file's name ends as another format's does ("map.jpg").
void requirePngName(const std::filesystem::path& file);

/// Throws std::invalid_argument for the first unknown argument, and suggests the nearest option or command.
void requireNoExtras(const CLI::App& command);

} // namespace lockstep::demos
