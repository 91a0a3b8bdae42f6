#include "demos/lesson/lesson.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

using Sign = Condition::Sign;

constexpr std::pair<std::string_view, Sign> signs[] = {
    {"<=", Sign::atMost}, {">=", Sign::atLeast}, {"<", Sign::less}, {">", Sign::more}}; // longer ones first

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

std::string checkedName(std::string_view text) {
    const std::string_view name = trimmed(text);
    const auto usual = [](unsigned char letter) { return std::isgraph(letter) != 0; };
    if (name.empty() || !std::ranges::all_of(name, usual))
        throw std::invalid_argument(fmt::format("'{}' is no name of a value", std::string(name)));
    return std::string(name);
}

const Measured* find(const MeasuredValues& values, std::string_view name) {
    const auto found = values.find(name);
    return found == values.end() || !found->second.known() ? nullptr : &found->second;
}

/// What a paragraph depends on, in braces at its beginning.
struct Guard {
    std::string word; // "software"
    std::string name; // of a value; empty: none

    bool holds(const MeasuredValues& values) const {
        if (word == "measured") return find(values, name) != nullptr;
        if (word == "unmeasured") return find(values, name) == nullptr;
        const Measured* software = find(values, "machine.gpu.software");
        return software != nullptr && (software->number > 0) == (word == "software");
    }
};

/// The guard at the beginning of the text, which loses it.
std::optional<Guard> takeGuard(std::string& text) {
    if (!text.starts_with('{') || text.starts_with("{{")) return std::nullopt;
    const std::size_t end = text.find('}');
    if (end == std::string::npos) throw std::invalid_argument("a brace '{' has no end");
    const std::string_view inside = std::string_view(text).substr(1, end - 1);
    const std::size_t blank = inside.find(' ');
    Guard guard{std::string(inside.substr(0, blank)), {}};
    const bool named = guard.word == "measured" || guard.word == "unmeasured";
    if (!named && guard.word != "software" && guard.word != "hardware")
        throw std::invalid_argument(
            fmt::format("'{{{}}}' at the beginning of a paragraph must be software, hardware, "
                        "measured NAME or unmeasured NAME",
                        std::string(inside)));
    if (named) guard.name = checkedName(blank == std::string_view::npos ? "" : inside.substr(blank));
    text.erase(0, text.find_first_not_of(' ', end + 1));
    return guard;
}

/// Hands every name in double braces to `replace`, and puts what that returns in its place.
template <class Replace> std::string quoted(std::string_view text, Replace replace) {
    std::string result;
    while (true) {
        const std::size_t open = text.find("{{");
        result += text.substr(0, open);
        if (open == std::string_view::npos) return result;
        const std::size_t close = text.find("}}", open);
        if (close == std::string_view::npos) throw std::invalid_argument("'{{' has no '}}'");
        result += replace(checkedName(text.substr(open + 2, close - open - 2)));
        text.remove_prefix(close + 2);
    }
}

bool hasWord(std::string_view name, std::string_view word) {
    for (std::size_t at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
        const auto edge = [&](std::size_t index) {
            return index >= name.size() || name[index] == '_' || name[index] == '.';
        };
        if ((at == 0 || edge(at - 1)) && edge(at + word.size())) return true;
    }
    return false;
}

/// By the unit that the name says.
std::string numberText(std::string_view name, double number) {
    if (hasWord(name, "samples_per_second")) return shortRate(number);
    if (hasWord(name, "gigabytes_per_second")) return amountText(1e9 * number, "B/s");
    if (hasWord(name, "gflops")) return amountText(1e9 * number, "FLOP/s");
    if (hasWord(name, "share") || hasWord(name, "accuracy")) return percent(number);
    // Of experiments, a loss is a factor.
    if (hasWord(name, "loss") && !hasWord(name, "lab")) return lossText(number);
    if (hasWord(name, "nanoseconds")) return duration(1e-9 * number);
    if (hasWord(name, "microseconds")) return duration(1e-6 * number);
    if (hasWord(name, "milliseconds")) return duration(1e-3 * number);
    if (hasWord(name, "seconds")) return duration(number);
    if (hasWord(name, "bytes")) return amountText(number, "B");
    const bool whole =
        number >= 0 && number < 1e15 && number == static_cast<double>(static_cast<std::uint64_t>(number));
    return whole ? grouped(static_cast<std::uint64_t>(number)) : threeDigits(number);
}

} // namespace

bool Condition::holds(const MeasuredValues& values) const {
    const Measured* found = find(values, value);
    if (found == nullptr) return false;
    const Measured* compared = other.empty() ? nullptr : find(values, other);
    if (!other.empty() && compared == nullptr) return false;
    const double limit = compared == nullptr ? number : compared->number;
    switch (sign) {
    case Sign::measured: return true;
    case Sign::less: return found->number < limit;
    case Sign::atMost: return found->number <= limit;
    case Sign::more: return found->number > limit;
    case Sign::atLeast: return found->number >= limit;
    }
    return false;
}

Condition conditionFromText(std::string_view text) {
    for (const auto& [word, sign] : signs) {
        const std::size_t at = text.find(word);
        if (at == std::string_view::npos) continue;
        const std::string number(trimmed(text.substr(at + word.size())));
        char* end = nullptr;
        const double value = std::strtod(number.c_str(), &end);
        if (number.empty())
            throw std::invalid_argument(
                fmt::format("'{}' must compare with something, such as 'race.ratio > 2'", std::string(text)));
        return {checkedName(text.substr(0, at)), sign, value,
                *end == '\0' ? std::string() : checkedName(number)};
    }
    return {checkedName(text)};
}

std::string valueText(const MeasuredValues& values, std::string_view name) {
    const Measured* found = find(values, name);
    if (found == nullptr) return "not measured yet";
    return found->text.empty() ? numberText(name, found->number) : found->text;
}

std::string filledText(std::string_view text, const MeasuredValues& values) {
    return quoted(text, [&](const std::string& name) { return valueText(values, name); });
}

std::vector<TextBlock> lessonBlocks(std::string_view markdown, const MeasuredValues& values) {
    std::vector<TextBlock> blocks = markdownBlocks(markdown);
    std::erase_if(blocks, [&](TextBlock& block) {
        if (block.spans.empty() || block.kind == BlockKind::code) return false;
        const std::optional<Guard> guard = takeGuard(block.spans.front().text);
        if (guard && !guard->holds(values)) return true;
        for (TextSpan& span : block.spans) span.text = filledText(span.text, values);
        return false;
    });
    return blocks;
}

std::vector<std::string> quotedNames(std::string_view markdown) {
    std::vector<std::string> names;
    for (TextBlock& block : markdownBlocks(markdown)) {
        if (block.spans.empty() || block.kind == BlockKind::code) continue;
        const std::optional<Guard> guard = takeGuard(block.spans.front().text);
        if (guard && !guard->name.empty()) names.push_back(guard->name);
        for (const TextSpan& span : block.spans)
            quoted(span.text, [&](const std::string& name) {
                names.push_back(name);
                return std::string();
            });
    }
    return names;
}

} // namespace lockstep::demos
