#include "demos/words/typed_number.h"

#include <algorithm>

#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

bool isDigit(char letter) { return letter >= '0' && letter <= '9'; }

std::size_t digitsAt(std::string_view text, std::size_t from) {
    std::size_t count = 0;
    while (from + count < text.size() && isDigit(text[from + count])) ++count;
    return count;
}

/// "1234.5" of "1,234.5" for the mark ","; empty where the text begins with no number in such groups.
std::string withoutGroups(std::string_view text, std::string_view mark) {
    std::size_t at = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
    const std::size_t first = digitsAt(text, at);
    if (mark.empty() || first < 1 || first > 3 || text[at] == '0') return {};
    std::string plain(text.substr(0, at + first));
    at += first;
    while (text.substr(at).starts_with(mark) && digitsAt(text, at + mark.size()) == 3) {
        plain += text.substr(at + mark.size(), 3);
        at += mark.size() + 3;
    }
    const std::string_view rest = text.substr(at);
    return plain.size() == at || rest.starts_with(mark) ? std::string() : plain + std::string(rest);
}

} // namespace

std::string withDecimalPoint(std::string_view text) {
    std::string number(text);
    const std::string example = grouped(1000);
    const std::string mark = example.substr(1, example.size() - 4);
    // A comma behind them tells points that separate thousands from the decimal one.
    const bool points = mark != "," && number.find(',') != std::string::npos;
    for (const std::string_view each :
         {std::string_view(mark), std::string_view(" "), std::string_view(points ? "." : "")})
        if (const std::string plain = withoutGroups(number, each); !plain.empty()) number = plain;
    if (std::ranges::count(number, ',') == 1 && number.find('.') == std::string::npos)
        std::ranges::replace(number, ',', '.');
    return number;
}

} // namespace lockstep::demos
