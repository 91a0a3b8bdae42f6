#include "demos/telling/measured_text.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "demos/telling/expression.h"
#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr const char* notMeasured = "not measured yet";

const Measured* find(const MeasuredValues& values, std::string_view name) {
    const auto found = values.find(name);
    return found == values.end() || !found->second.known() ? nullptr : &found->second;
}

/// What a paragraph depends on, in braces at its beginning.
struct Guard {
    std::string word;                        // "software"
    std::string name = {};                   // of a value; empty: none
    std::optional<Condition> condition = {}; // after "if"

    bool holds(const MeasuredValues& values) const {
        if (condition) return condition->holds(values);
        if (word == "measured") return find(values, name) != nullptr;
        if (word == "unmeasured") return find(values, name) == nullptr;
        const Measured* software = find(values, "machine.gpu.software");
        return software != nullptr && (software->number > 0) == (word == "software");
    }
    std::vector<std::string> names() const {
        if (condition) return condition->names();
        return name.empty() ? std::vector<std::string>() : std::vector<std::string>{name};
    }
};

/// The first guard of the text, which loses it.
std::optional<Guard> takeGuard(std::string& text) {
    if (!text.starts_with('{') || text.starts_with("{{")) return std::nullopt;
    const std::size_t end = text.find('}');
    if (end == std::string::npos) throw std::invalid_argument("a brace '{' has no end");
    const std::string inside = text.substr(1, end - 1);
    const std::size_t blank = inside.find(' ');
    Guard guard{inside.substr(0, blank)};
    const std::string argument = blank == std::string::npos ? "" : inside.substr(blank);
    if (guard.word == "if")
        guard.condition = conditionFromText(argument);
    else if (guard.word == "measured" || guard.word == "unmeasured")
        guard.name = valueName(argument);
    else if (guard.word != "software" && guard.word != "hardware")
        throw std::invalid_argument(
            fmt::format("'{{{}}}' at the beginning of a paragraph must be software, hardware, "
                        "measured NAME, unmeasured NAME or if CONDITION",
                        inside));
    text.erase(0, text.find_first_not_of(' ', end + 1));
    return guard;
}

/// What stands in double braces.
struct Quote {
    Expression expression;
    std::string one = {};  // "thread": counts it; empty: none
    std::string many = {}; // "threads"
};

Quote quoteFromText(std::string_view text) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at != std::string_view::npos;) {
        const std::size_t bar = text.find('|', at);
        std::string part(text.substr(at, bar == std::string_view::npos ? bar : bar - at));
        part.erase(0, part.find_first_not_of(' '));
        part.erase(part.find_last_not_of(' ') + 1);
        parts.push_back(std::move(part));
        at = bar == std::string_view::npos ? bar : bar + 1;
    }
    if (parts.size() == 2 || parts.size() > 3)
        throw std::invalid_argument(
            fmt::format("'{{{{{}}}}}' must be NAME, or NAME | thread | threads", std::string(text)));
    Quote quote{Expression::fromText(parts.front())};
    if (parts.size() == 3) quote.one = parts[1], quote.many = parts[2];
    return quote;
}

/// Hands everything in double braces to `replace`, and puts what that returns in its place.
template <class Replace> std::string quoted(std::string_view text, Replace replace) {
    std::string result;
    while (true) {
        const std::size_t open = text.find("{{");
        result += text.substr(0, open);
        if (open == std::string_view::npos) return result;
        const std::size_t close = text.find("}}", open);
        if (close == std::string_view::npos) throw std::invalid_argument("'{{' has no '}}'");
        result += replace(quoteFromText(text.substr(open + 2, close - open - 2)));
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

/// The first whose word a name has says its unit.
constexpr std::pair<std::string_view, std::string_view> unitWords[] = {
    {"year", ""},
    {"samples_per_second", "samples/s"},
    {"gigabytes_per_second", "GB/s"},
    {"gflops", "GFLOP/s"},
    {"share", ""},
    {"accuracy", ""},
    {"nanoseconds", "ns"},
    {"microseconds", "µs"},
    {"milliseconds", "ms"},
    {"seconds", "s"},
    {"kilowatt_hours", "kWh"},
    {"hours", "h"},
    {"watts", "W"},
    {"joules", "J"},
    {"euros", "€"},
    {"dollars", "$"},
    {"bytes", "B"},
};

std::string moneyText(double amount) {
    return std::abs(amount) < 1 || std::abs(amount) >= 1000 ? threeDigits(amount) : fixed(amount, 2);
}

/// By the unit that the name says.
std::string numberText(std::string_view name, double number) {
    if (hasWord(name, "year")) return fmt::format("{:.0f}", number);
    if (hasWord(name, "samples_per_second")) return shortRate(number);
    if (hasWord(name, "gigabytes_per_second")) return amountText(1e9 * number, "B/s");
    if (hasWord(name, "gflops")) return amountText(1e9 * number, "FLOP/s");
    if (hasWord(name, "share") || hasWord(name, "accuracy")) return percent(number);
    // In experiments, a loss is a factor.
    if (hasWord(name, "loss") && !hasWord(name, "lab")) return lossText(number);
    if (hasWord(name, "nanoseconds")) // "120 ns" rather than "0.12 µs"
        return number < 999.5 ? threeDigits(number) + " ns" : duration(1e-9 * number);
    if (hasWord(name, "microseconds")) return duration(1e-6 * number);
    if (hasWord(name, "milliseconds")) return duration(1e-3 * number);
    if (hasWord(name, "seconds")) return duration(number);
    if (hasWord(name, "kilowatt_hours")) return threeDigits(number) + " kWh";
    if (hasWord(name, "hours")) return threeDigits(number) + " h";
    if (hasWord(name, "watts")) return amountText(number, "W");
    if (hasWord(name, "joules")) return amountText(number, "J");
    if (hasWord(name, "euros")) return moneyText(number) + " €";
    if (hasWord(name, "dollars")) return "$" + moneyText(number);
    if (hasWord(name, "bytes")) return amountText(number, "B");
    const bool whole =
        number >= 0 && number < 1e15 && number == static_cast<double>(static_cast<std::uint64_t>(number));
    return whole ? grouped(static_cast<std::uint64_t>(number)) : threeDigits(number);
}

} // namespace

std::string_view unitOf(std::string_view name) {
    const auto found =
        std::ranges::find_if(unitWords, [&](const auto& unit) { return hasWord(name, unit.first); });
    return found == std::end(unitWords) ? std::string_view() : found->second;
}

std::string valueText(const MeasuredValues& values, std::string_view name) {
    const Measured* found = find(values, name);
    // It is of an earlier step, which was passed over.
    const std::size_t colon = name.find_first_not_of("0123456789");
    if (found == nullptr && colon > 0 && colon != std::string_view::npos && name[colon] == ':') {
        const Measured* present = find(values, presentStepName);
        const std::string step(name.substr(0, colon));
        if (present == nullptr || fmt::format("{:.0f}", present->number) != step)
            return translatedFormat("not measured yet (step {})", step);
    }
    if (found == nullptr) return std::string(translated(notMeasured));
    return found->text.empty() ? numberText(name, found->number) : found->text;
}

namespace {

/// Of a formula that has no number.
std::string textInPlaceOf(const Expression& expression, const MeasuredValues& values) {
    for (const std::string& name : expression.names())
        if (const Measured* found = find(values, name); found != nullptr && !found->text.empty())
            return found->text;
    return std::string(translated(notMeasured));
}

} // namespace

std::string filledText(std::string_view text, const MeasuredValues& values) {
    return quoted(text, [&](const Quote& quote) {
        if (!quote.expression.name().empty() && quote.one.empty())
            return valueText(values, quote.expression.name());
        const double number = quote.expression.evaluate(values);
        if (std::isnan(number)) return textInPlaceOf(quote.expression, values);
        const std::string shown = numberText("", number);
        return quote.one.empty() ? shown : shown + " " + (shown == "1" ? quote.one : quote.many);
    });
}

namespace {

/// False where one of the block's guards does not hold.
bool fill(TextBlock& block, const MeasuredValues& values) {
    for (std::vector<TextBlock>& row : block.rows)
        for (TextBlock& cell : row) fill(cell, values);
    if (block.spans.empty() || block.kind == BlockKind::code) return true;
    while (const std::optional<Guard> guard = takeGuard(block.spans.front().text))
        if (!guard->holds(values)) return false;
    for (TextSpan& span : block.spans) span.text = filledText(span.text, values);
    return true;
}

bool quotesMissing(const TextBlock& block, const MeasuredValues& values) {
    for (const std::vector<TextBlock>& row : block.rows)
        for (const TextBlock& cell : row)
            if (quotesMissing(cell, values)) return true;
    bool missing = false;
    if (block.kind == BlockKind::code) return missing;
    for (const TextSpan& span : block.spans)
        quoted(span.text, [&](const Quote& quote) {
            const bool known = quote.expression.name().empty()
                                   ? !std::isnan(quote.expression.evaluate(values))
                                   : find(values, quote.expression.name()) != nullptr;
            missing = missing || !known;
            return std::string();
        });
    return missing;
}

void addNames(std::vector<std::string>& names, TextBlock& block) {
    for (std::vector<TextBlock>& row : block.rows)
        for (TextBlock& cell : row) addNames(names, cell);
    if (block.spans.empty() || block.kind == BlockKind::code) return;
    const auto add = [&](const std::vector<std::string>& found) {
        names.insert(names.end(), found.begin(), found.end());
    };
    while (const std::optional<Guard> guard = takeGuard(block.spans.front().text)) add(guard->names());
    for (const TextSpan& span : block.spans)
        quoted(span.text, [&](const Quote& quote) {
            add(quote.expression.names());
            return std::string();
        });
}

} // namespace

std::vector<TextBlock> filledBlocks(std::string_view markdown, const MeasuredValues& values) {
    std::vector<TextBlock> blocks = markdownBlocks(markdown);
    std::erase_if(blocks, [&](TextBlock& block) { return !fill(block, values); });
    return blocks;
}

std::vector<TextBlock> knownBlocks(std::string_view markdown, const MeasuredValues& values) {
    std::vector<TextBlock> blocks = markdownBlocks(markdown);
    std::erase_if(blocks, [&](TextBlock& block) {
        const bool missing = quotesMissing(block, values);
        return !fill(block, values) || missing;
    });
    return blocks;
}

std::vector<std::string> quotedNames(std::string_view markdown) {
    std::vector<std::string> names;
    for (TextBlock& block : markdownBlocks(markdown)) addNames(names, block);
    return names;
}

} // namespace lockstep::demos
