#include "demos/telling/expression.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace lockstep::demos {

namespace {

using Sign = Condition::Sign;

constexpr std::pair<std::string_view, Sign> signs[] = {
    {"<=", Sign::atMost}, {">=", Sign::atLeast}, {"<", Sign::less}, {">", Sign::more}}; // longer ones first
constexpr std::size_t deepest = 50;                                                     // parentheses

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

double applied(char sign, double left, double right) {
    switch (sign) {
    case '+': return left + right;
    case '-': return left - right;
    case '*': return left * right;
    case '/': return left / right;
    default: throw std::logic_error("a sign without an arithmetic");
    }
}

} // namespace

/// Reads by recursive descent: sum, product, factor.
class ExpressionReader {
  public:
    explicit ExpressionReader(std::string_view text) : whole_(text), rest_(text) {}

    Expression read() {
        sum();
        if (!peek().empty()) fail();
        return Expression(std::move(terms_));
    }

  private:
    [[noreturn]] void fail() const {
        throw std::invalid_argument(
            fmt::format("'{}' is neither the name of a value nor arithmetic with blanks around + - * /",
                        std::string(trimmed(whole_))));
    }

    std::string_view peek() {
        rest_ = trimmed(rest_);
        if (rest_.starts_with('(') || rest_.starts_with(')')) return rest_.substr(0, 1);
        return rest_.substr(0, rest_.find_first_of(" ()"));
    }
    std::string_view take() {
        const std::string_view word = peek();
        rest_.remove_prefix(word.size());
        return word;
    }
    bool next(std::string_view operators) {
        const std::string_view word = peek();
        return word.size() == 1 && operators.find(word.front()) != std::string_view::npos;
    }

    void sum() {
        product();
        while (next("+-")) {
            const char sign = take().front();
            product();
            terms_.push_back({sign});
        }
    }
    void product() {
        factor();
        while (next("*/")) {
            const char sign = take().front();
            factor();
            terms_.push_back({sign});
        }
    }
    void factor() {
        const std::string word(take());
        if (word == "(") {
            if (++depth_ > deepest) fail();
            sum();
            if (take() != ")") fail();
            --depth_;
            return;
        }
        char* end = nullptr;
        const double number = std::strtod(word.c_str(), &end);
        const auto usual = [](unsigned char letter) { return std::isgraph(letter) != 0; };
        if (!word.empty() && *end == '\0')
            terms_.push_back({'#', number});
        else if (word.size() > 1 && std::ranges::all_of(word, usual))
            terms_.push_back({'@', 0, word});
        else
            fail();
    }

    std::string_view whole_;
    std::string_view rest_;
    std::vector<Expression::Term> terms_;
    std::size_t depth_ = 0;
};

Expression Expression::fromText(std::string_view text) { return ExpressionReader(text).read(); }

double Expression::evaluate(const MeasuredValues& values) const {
    std::vector<double> results;
    for (const Term& term : terms_) {
        if (term.kind == '#') {
            results.push_back(term.number);
        } else if (term.kind == '@') {
            const auto found = values.find(term.name);
            results.push_back(found == values.end() ? std::numeric_limits<double>::quiet_NaN()
                                                    : found->second.number);
        } else {
            const double right = results.back();
            results.pop_back();
            results.back() = applied(term.kind, results.back(), right);
        }
    }
    return results.back();
}

std::vector<std::string> Expression::names() const {
    std::vector<std::string> found;
    for (const Term& term : terms_)
        if (term.kind == '@') found.push_back(term.name);
    return found;
}

bool Condition::holds(const MeasuredValues& values) const {
    if (sign == Sign::measured)
        return std::ranges::all_of(names(),
                                   [&](const std::string& name) { return isMeasured(values, name); });
    const double a = left.evaluate(values);
    const double b = right.evaluate(values);
    switch (sign) { // false with NaN
    case Sign::less: return a < b;
    case Sign::atMost: return a <= b;
    case Sign::more: return a > b;
    case Sign::atLeast: return a >= b;
    default: throw std::logic_error("a condition that compares nothing");
    }
}

std::vector<std::string> Condition::names() const {
    std::vector<std::string> found = left.names();
    for (std::string& name : right.names()) found.push_back(std::move(name));
    return found;
}

Condition conditionFromText(std::string_view text) {
    for (const auto& [word, sign] : signs) {
        const std::size_t at = text.find(word);
        if (at == std::string_view::npos) continue;
        const std::string_view right = trimmed(text.substr(at + word.size()));
        if (right.empty())
            throw std::invalid_argument(
                fmt::format("'{}' must compare with something, such as 'race.ratio > 2'", std::string(text)));
        return {Expression::fromText(text.substr(0, at)), sign, Expression::fromText(right)};
    }
    return {.left = Expression(Expression::fromText(valueName(text)))};
}

std::string valueName(std::string_view text) {
    const std::string_view name = trimmed(text);
    const auto usual = [](unsigned char letter) { return std::isgraph(letter) != 0; };
    if (name.empty() || !std::ranges::all_of(name, usual))
        throw std::invalid_argument(fmt::format("'{}' is no name of a value", std::string(name)));
    return std::string(name);
}

} // namespace lockstep::demos
