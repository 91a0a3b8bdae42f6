// Arithmetic with measured values, as lessons compare and quote them: "race.ratio > 2",
// "my.price / 3600 * race.gpu:best.seconds".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "demos/kit/measured.h"

namespace lockstep::demos {

/// Numbers, names of values, + - * / and parentheses. Blanks stand around operators, as names may hold their
/// signs: "lab.one-to-all.finished". Evaluated from left to right, products first.
class Expression {
  public:
    /// The constant 0.
    Expression() : Expression(0) {}
    explicit Expression(double number) : terms_{{'#', number, {}}} {}

    /// Throws std::invalid_argument.
    static Expression fromText(std::string_view text);

    /// NaN while a value in it is not measured; infinity where it divides by zero.
    double evaluate(const MeasuredValues& values) const;
    bool operator==(const Expression&) const = default;
    /// The names of the values in it, in their order.
    std::vector<std::string> names() const;
    /// The value's name, where the expression is nothing else; else empty.
    std::string_view name() const {
        return terms_.size() == 1 ? std::string_view(terms_.front().name) : std::string_view();
    }

  private:
    friend class ExpressionReader;
    /// In reverse Polish notation: an operator takes the two results before it.
    struct Term {
        char kind; ///< '#' a number, '@' a value, or the operator
        double number = 0;
        std::string name = {};
        bool operator==(const Term&) const = default;
    };
    explicit Expression(std::vector<Term> terms) : terms_(std::move(terms)) {}

    std::vector<Term> terms_;
};

/// "race.finished", "playground.test_loss < 0.1", "race.ratio > 1:race.ratio": that something is measured, or
/// how two expressions compare. "1:" means the value as it was when step 1 was done.
struct Condition {
    enum class Sign { measured, less, atMost, more, atLeast };

    Expression left = {};
    Sign sign = Sign::measured;
    Expression right = {};

    /// False while a value is not measured.
    bool holds(const MeasuredValues& values) const;
    bool operator==(const Condition&) const = default;
    /// The names of the values in it.
    std::vector<std::string> names() const;
};

/// Throws std::invalid_argument.
Condition conditionFromText(std::string_view text);

/// The text if it can be a value's name. Throws std::invalid_argument.
std::string valueName(std::string_view text);

} // namespace lockstep::demos
