// Decimal numbers in text files, the same in every locale.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

enum class NumberKind {
    finite,    ///< a decimal number that a float can hold
    notFinite, ///< NaN, an infinity, or too large for a float (or too small for a double)
    text,      ///< something else, or nothing
};

struct ParsedNumber {
    NumberKind kind = NumberKind::text;
    double value = 0; ///< of finite ones
};

/// The number that makes up the whole of `text`: digits with an optional sign, point and exponent; "nan" and
/// "inf" in any case are recognised, and are not finite.
ParsedNumber parseNumber(std::string_view text);

/// The shortest text that reads back as `value`: "1", "-0.5", "1e+30". Minus zero is "0".
std::string shortestText(double value);

/// `text` without blanks and tabs at both ends.
std::string_view trimmed(std::string_view text);

} // namespace lockstep
