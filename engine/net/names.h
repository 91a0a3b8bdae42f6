// Names for choices: a table per enum, and the nearest right name for a wrong one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

template <class Enum> struct NameOf {
    Enum value;
    std::string_view text;
};

/// The only candidate that begins with `text` (two letters or more), else the one with the smallest edit
/// distance (Levenshtein); empty when none is near (distance over a third of the length, and over 2) or there
/// are no candidates.
std::string_view nearestName(std::string_view text, std::span<const std::string_view> candidates);

/// Throws std::invalid_argument: "unknown <kind> 'x'; did you mean 'y'? known: a, b, c".
[[noreturn]] void throwUnknownName(std::string_view kind, std::string_view text,
                                   std::span<const std::string_view> known);

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

} // namespace lockstep
