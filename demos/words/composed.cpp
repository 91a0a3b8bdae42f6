#include "demos/words/composed.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>

namespace lockstep::demos {

namespace {

bool isLatinLetter(char byte) { return std::isalpha(static_cast<unsigned char>(byte)) != 0; }
bool isNumeral(char byte) { return byte >= '0' && byte <= '9'; }

std::size_t lettersOf(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, isLatinLetter));
}

/// What stands around the placeholders, one text more than there are of them.
std::vector<std::string_view> aroundPlaceholders(std::string_view format) {
    std::vector<std::string_view> around;
    for (;;) {
        const std::size_t begin = format.find('{');
        const std::size_t end = format.find('}', std::min(begin, format.size()));
        around.push_back(format.substr(0, begin));
        if (end == std::string_view::npos) return around;
        format.remove_prefix(end + 1);
    }
}

/// What the placeholders stood for, if the text was made from this format.
std::optional<std::vector<std::string_view>> filledIn(std::string_view text,
                                                      const std::vector<std::string_view>& around) {
    if (!text.starts_with(around.front())) return std::nullopt;
    text.remove_prefix(around.front().size());
    if (!text.ends_with(around.back())) return std::nullopt;
    text.remove_suffix(around.back().size());
    std::vector<std::string_view> parts;
    for (std::size_t i = 1; i + 1 < around.size(); ++i) {
        const std::size_t at = text.find(around[i]);
        if (at == std::string_view::npos) return std::nullopt;
        parts.push_back(text.substr(0, at));
        text.remove_prefix(at + around[i].size());
    }
    parts.push_back(text);
    return parts;
}

/// Whether a part may be one: a sentence that ends within it belongs to what is around it, unless it ends
/// all.
bool isPart(std::string_view text, bool last) { return last || text.find(". ") == std::string_view::npos; }

} // namespace

ComposedTexts::ComposedTexts(const WordTable& words) : words_(words) {
    for (const auto& [english, other] : words) {
        // Braces that are shown are in no text that this is for.
        if (english.find("{{") != std::string::npos || english.find('{') == std::string::npos) continue;
        Format format{aroundPlaceholders(english), aroundPlaceholders(other), 0};
        for (const std::string_view piece : format.english) format.letters += lettersOf(piece);
        const auto inner = [](const std::vector<std::string_view>& pieces) {
            return std::ranges::any_of(pieces.begin() + 1, pieces.end() - 1, &std::string_view::empty);
        };
        if (format.letters == 0 || format.english.size() != format.other.size() || inner(format.english))
            continue; // nothing tells where the one part ends and the other begins
        formats_.push_back(std::move(format));
    }
    std::ranges::stable_sort(formats_, std::greater(), &Format::letters);
}

std::string ComposedTexts::translated(std::string_view text) const {
    constexpr std::size_t mostFound = 1000;
    const std::lock_guard lock(looking_);
    if (const auto found = found_.find(text); found != found_.end()) return found->second;
    if (found_.size() == mostFound) found_.clear();
    return found_.emplace(text, translated(text, deepest)).first->second;
}

std::string ComposedTexts::translated(std::string_view text, int depth) const {
    if (const auto found = words_.find(text); found != words_.end()) return found->second;
    if (depth == 0 || text.empty()) return std::string(text);
    if (auto written = number(text)) return *std::move(written);
    if (auto made = byFormat(text, depth)) return *std::move(made);
    for (const std::string_view between : {". ", "; ", ": "}) {
        const std::size_t at = text.find(between);
        if (at == std::string_view::npos) continue;
        const std::size_t sign = between == ". " ? 1 : 0; // a sentence keeps its point
        const std::string_view before = text.substr(0, at + sign);
        const std::string_view behind = text.substr(at + between.size());
        return translated(before, depth - 1)
            .append(between.substr(sign))
            .append(translated(behind, depth - 1));
    }
    return std::string(text);
}

std::optional<std::string> ComposedTexts::byFormat(std::string_view text, int depth) const {
    constexpr std::size_t manyLetters = 5;
    const std::size_t letters = lettersOf(text);
    for (const Format& format : formats_) {
        if (format.letters < manyLetters && 2 * format.letters < letters) break; // it could be anything
        const auto parts = filledIn(text, format.english);
        if (!parts) continue;
        bool fine = true;
        for (std::size_t i = 0; i < parts->size(); ++i)
            fine = fine && isPart((*parts)[i], i + 1 == parts->size() && format.english.back().empty());
        if (!fine) continue;
        std::string made(format.other.front());
        for (std::size_t i = 0; i < parts->size(); ++i) {
            const std::string_view part = (*parts)[i];
            const bool quoted = format.english[i].ends_with('\'') && format.english[i + 1].starts_with('\'');
            made.append(quoted ? std::string(part) : translated(part, depth - 1)).append(format.other[i + 1]);
        }
        return made;
    }
    return std::nullopt;
}

// "1,024", "0.5 s"; not "784-256-10" or "3:7".
std::optional<std::string> ComposedTexts::number(std::string_view text) const {
    const std::size_t end = std::min(text.find_first_not_of("0123456789.,"), text.size());
    if (end == 0) return std::nullopt;
    if (std::ranges::count(text.substr(0, end), '.') > 1) return std::nullopt; // a version
    const bool unit = end < text.size() && text[end] == ' ' && text.size() <= end + 6;
    if ((end < text.size() && !unit) || !isNumeral(text[end - 1])) return std::nullopt;
    const auto word = [this](std::string_view english) {
        const auto found = words_.find(english);
        return found == words_.end() ? english : std::string_view(found->second);
    };
    const std::string_view thousand = word("1,000");
    const std::string_view groups = thousand.size() > 4 ? thousand.substr(1, thousand.size() - 4) : ",";
    const std::string_view decimals = word("0.5") == "0,5" ? "," : ".";
    std::string number;
    for (const char each : text.substr(0, end))
        if (each == ',')
            number += groups;
        else if (each == '.')
            number += decimals;
        else
            number += each;
    return number.append(text.substr(end));
}

} // namespace lockstep::demos
