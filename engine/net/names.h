// What people write in options and files: names of choices, with the nearest right name for a wrong one, and
// decimal numbers, the same in every locale. And what they read: the texts that messages are made of.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace lockstep {

template <class Enum> struct NameOf {
    Enum value;
    std::string_view text;
};

/// The only candidate that begins with `text` (two letters or more), else the one with the smallest edit
/// distance (Levenshtein). Empty if that distance is above 2 and above a third of the length.
std::string_view nearestName(std::string_view text, std::span<const std::string_view> candidates);

/// The candidates, those like `text` first: its nearestName(), then by edit distance. Where none is near,
/// they keep their order.
std::vector<std::string_view> nearestFirst(std::string_view text,
                                           std::span<const std::string_view> candidates);

/// The end of a message about a wrong name: "; did you mean 'y'? (known: y, a, b)", the nearest first.
///   whole   where all of a long list is: "`lockstep show --list`". The text then has the six nearest ones:
///           "(known: y, a, b, ...; `lockstep show --list` lists all)". Empty: it has all of them.
std::string rightNames(std::string_view text, std::span<const std::string_view> known,
                       std::string_view whole = {});

/// Throws std::invalid_argument: "unknown <kind> 'x'", and rightNames().
[[noreturn]] void throwUnknownName(std::string_view kind, std::string_view text,
                                   std::span<const std::string_view> known, std::string_view whole = {});

template <class Enum, std::size_t N>
Enum valueFromName(const NameOf<Enum> (&table)[N], std::string_view kind, std::string_view text) {
    std::vector<std::string_view> known;
    for (const auto& entry : table) {
        if (entry.text == text) return entry.value;
        known.push_back(entry.text);
    }
    throwUnknownName(kind, text, known);
}

template <class Enum, std::size_t N> std::string_view nameOf(const NameOf<Enum> (&table)[N], Enum value) {
    for (const auto& entry : table)
        if (entry.value == value) return entry.text;
    return "?";
}

enum class NumberKind {
    finite,    ///< a decimal number that a float can hold
    notFinite, ///< NaN, an infinity, or too large for a float (or too small for a double)
    text,      ///< something else, or nothing
};

struct ParsedNumber {
    NumberKind kind = NumberKind::text;
    double value = 0; ///< if finite
};

/// The number that makes up the whole of `text`: digits with an optional sign, point and exponent; "nan" and
/// "inf" in any case are recognised, and are not finite.
ParsedNumber parseNumber(std::string_view text);

/// The shortest text that reads back as `value`: "1", "-0.5", "1e+30". Minus zero is "0".
std::string shortestText(double value);

/// At most six digits: "0.001", "1e+06".
std::string sixDigits(double value);

/// "1 step", "5,000 steps".
std::string counted(std::uint64_t count, std::string_view noun);

/// `text` without blanks and tabs at both ends.
std::string_view trimmed(std::string_view text);

/// A place in a text file as editors and terminals jump to it: "FILE:LINE" or "FILE:LINE:COLUMN", both
/// counted from 1. A column of 0 is not known, and a line of 0 means the file as a whole: "FILE".
std::string placeInFile(std::string_view file, std::size_t line, std::size_t column = 0);

/// The parts, texts and whole numbers, as one text.
template <class... Parts> std::string concat(const Parts&... parts) {
    std::string all;
    const auto add = [&all](const auto& part) {
        if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(part)>>)
            all += std::to_string(part);
        else
            all += std::string_view(part);
    };
    (add(parts), ...);
    return all;
}

} // namespace lockstep
