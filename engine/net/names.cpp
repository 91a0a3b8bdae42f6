#include "engine/net/names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace lockstep {

namespace {

// Levenshtein distance with one row of the table.
std::size_t editDistance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({above + 1, row[j - 1] + 1, replaced});
            diagonal = above;
        }
    }
    return row.back();
}

} // namespace

std::string_view nearestName(std::string_view text, std::span<const std::string_view> candidates) {
    // The beginning of one of them, and of no other, is an abbreviation.
    const auto begun = [text](std::string_view candidate) {
        return text.size() > 1 && candidate.starts_with(text);
    };
    if (std::ranges::count_if(candidates, begun) == 1) return *std::ranges::find_if(candidates, begun);
    std::string_view best;
    std::size_t bestDistance = std::max<std::size_t>(text.size() / 3, 2) + 1;
    for (std::string_view candidate : candidates) {
        const std::size_t distance = editDistance(text, candidate);
        if (distance < bestDistance) {
            best = candidate;
            bestDistance = distance;
        }
    }
    return best;
}

std::vector<std::string_view> nearestFirst(std::string_view text,
                                           std::span<const std::string_view> candidates) {
    std::vector<std::string_view> sorted(candidates.begin(), candidates.end());
    const std::string_view nearest = nearestName(text, candidates);
    if (nearest.empty()) return sorted;
    std::ranges::stable_sort(sorted, {}, [&](std::string_view candidate) {
        return candidate == nearest ? 0 : 1 + editDistance(text, candidate);
    });
    return sorted;
}

std::string rightNames(std::string_view text, std::span<const std::string_view> known,
                       std::string_view whole) {
    constexpr std::size_t mostOfLongList = 6;
    std::string message;
    if (const std::string_view near = nearestName(text, known); !near.empty())
        message = concat("; did you mean '", near, "'?");
    message += " (known:";
    const std::vector<std::string_view> sorted = nearestFirst(text, known);
    const std::size_t listed = whole.empty() ? sorted.size() : std::min(sorted.size(), mostOfLongList);
    for (std::size_t i = 0; i < listed; ++i) message += concat(i == 0 ? " " : ", ", sorted[i]);
    if (!whole.empty()) message += concat(", ...; ", whole, " lists all");
    return message + ")";
}

void throwUnknownName(std::string_view kind, std::string_view text, std::span<const std::string_view> known,
                      std::string_view whole) {
    throw std::invalid_argument(concat("unknown ", kind, " '", text, "'", rightNames(text, known, whole)));
}

ParsedNumber parseNumber(std::string_view text) {
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::invalid_argument || end != text.data() + text.size()) return {};
    const bool fits = error == std::errc() && std::abs(value) <= std::numeric_limits<float>::max();
    if (!fits) return {NumberKind::notFinite, 0};
    return {NumberKind::finite, value};
}

std::string shortestText(double value) {
    std::array<char, 32> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value + 0.0);
    return {text.data(), end};
}

std::string sixDigits(double value) {
    std::array<char, 32> text{};
    const auto [end, error] =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 6);
    return {text.data(), end};
}

std::string counted(std::uint64_t count, std::string_view noun) {
    std::string digits = std::to_string(count);
    for (std::size_t place = digits.size(); place > 3; place -= 3) digits.insert(place - 3, ",");
    return concat(digits, " ", noun, count == 1 ? "" : "s");
}

std::string placeInFile(std::string_view file, std::size_t line, std::size_t column) {
    if (line == 0) return std::string(file);
    return column == 0 ? concat(file, ":", line) : concat(file, ":", line, ":", column);
}

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

} // namespace lockstep
