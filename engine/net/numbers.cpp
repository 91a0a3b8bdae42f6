#include "engine/net/numbers.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace lockstep {

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

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

} // namespace lockstep
