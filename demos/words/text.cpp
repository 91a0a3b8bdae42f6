#include "demos/words/text.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "demos/words/language.h"

namespace lockstep::demos {

namespace {

/// The number of characters: bytes that do not continue a UTF-8 character.
std::size_t displayWidth(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

/// What texts count, so that a table of words can have both numbers.
struct CountedThing {
    std::string_view thing;
    std::string_view one;
    std::string_view many;
};
constexpr CountedThing countedThings[] = {
    {"barrier", "{} barrier", "{} barriers"},
    {"cell", "{} cell", "{} cells"},
    {"column", "{} column", "{} columns"},
    {"CPU thread", "{} CPU thread", "{} CPU threads"},
    {"epoch", "{} epoch", "{} epochs"},
    {"fetched line", "{} fetched line", "{} fetched lines"},
    {"feature", "{} feature", "{} features"},
    {"input", "{} input", "{} inputs"},
    {"invocation", "{} invocation", "{} invocations"},
    {"kernel", "{} kernel", "{} kernels"},
    {"load", "{} load", "{} loads"},
    {"machine", "{} machine", "{} machines"},
    {"network", "{} network", "{} networks"},
    {"row", "{} row", "{} rows"},
    {"run", "{} run", "{} runs"},
    {"piece", "{} piece", "{} pieces"},
    {"step", "{} step", "{} steps"},
    {"subgroup", "{} subgroup", "{} subgroups"},
    {"thread", "{} thread", "{} threads"},
    {"turn", "{} turn", "{} turns"},
    {"workgroup", "{} workgroup", "{} workgroups"},
};

/// A number with three digits, and after `between` its unit prefix.
std::string scaled(double value, const char* between) {
    constexpr const char* prefixes[] = {"", "k", "M", "G", "T"};
    std::size_t step = 0;
    for (; value >= 999.5 && step + 1 < std::size(prefixes); ++step) value /= 1000;
    const int decimals = step == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return fixed(value, decimals) + between + prefixes[step];
}

/// Whether the text ends in a number and `rest` begins with its unit.
bool splitsNumber(std::string_view text, std::string_view rest) {
    constexpr std::string_view units[] = {"%", "s", "ms", "µs", "ns", "B", "KiB", "MiB", "GiB"};
    if (text.empty() || text.back() < '0' || text.back() > '9') return false;
    const std::string_view word = rest.substr(0, rest.find_first_of(" .,;:)"));
    return std::ranges::find(units, word) != std::end(units);
}

/// Where the next word ends that a line may end with, after `from`.
std::size_t wordEnd(std::string_view line, std::size_t from) {
    do from = std::min(line.find(' ', from + 1), line.size());
    while (from < line.size() && splitsNumber(line.substr(0, from), line.substr(from + 1)));
    return from;
}

/// How much of the line comes first: words that fit, or as many characters of a single word.
std::size_t firstLine(std::string_view line, float width,
                      const std::function<float(std::string_view)>& widthOf) {
    std::size_t fits = 0;
    for (std::size_t end = 0; end < line.size();) {
        end = wordEnd(line, end);
        if (widthOf(line.substr(0, end)) > width) break;
        fits = end;
    }
    if (fits > 0 || line.empty()) return fits;
    const auto character = [line](std::size_t from) { // where the one at `from` ends
        while (++from < line.size() && (static_cast<unsigned char>(line[from]) & 0xC0) == 0x80) {
        }
        return from;
    };
    fits = character(0);
    while (fits < line.size() && widthOf(line.substr(0, character(fits))) <= width) fits = character(fits);
    return fits;
}

} // namespace

std::string grouped(std::uint64_t value) {
    std::string digits = std::to_string(value);
    if (digits.size() <= 3) return digits;
    // What a translator puts between the groups: in many languages, a comma would begin the decimals.
    const std::string_view example = translated("1,000");
    const std::string_view between = example.size() > 4 ? example.substr(1, example.size() - 4) : ",";
    for (std::size_t place = digits.size(); place > 3; place -= 3) digits.insert(place - 3, between);
    return digits;
}

std::string shortRate(double perSecond) { return scaled(perSecond, ""); }

std::string amountText(double amount, const char* unit) { return scaled(amount, " ") + unit; }

std::string binaryBytes(std::uint64_t bytes) {
    constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    auto amount = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; amount >= 999.5 && unit + 1 < std::size(units); ++unit) amount /= 1024;
    return fmt::format("{} {}", threeDigits(amount), units[unit]);
}

std::string scientific(double value, int digits) {
    constexpr const char* superscripts[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    const std::string plain = fmt::format("{:.{}e}", value, digits - 1);
    const std::size_t end = plain.find('e');
    if (end == std::string::npos) return plain; // infinite
    std::string mantissa = plain.substr(0, end);
    if (mantissa.find('.') != std::string::npos) mantissa.erase(mantissa.find_last_not_of(".0") + 1);
    const int exponent = std::stoi(plain.substr(end + 1));
    mantissa = withDecimalSign(std::move(mantissa));
    std::string result = (mantissa == "1" ? "" : mantissa + "·") + "10" + (exponent < 0 ? "⁻" : "");
    for (const char digit : std::to_string(std::abs(exponent))) result += superscripts[digit - '0'];
    return result;
}

std::string threeDigits(double value) {
    if (std::isnan(value)) return "-";
    if (value != 0 && std::abs(value) < 1e-4) return scientific(value, 3);
    constexpr double mostDigits = 1e15; // above this, a double cannot hold every whole number
    if (std::abs(value) > mostDigits) return scientific(value, 3);
    if (std::abs(value) < 999.5) return translatedFormat("{:.3g}", value);
    const double place = std::pow(10, std::floor(std::log10(std::abs(value))) - 2);
    const double rounded = std::round(value / place) * place;
    return (value < 0 ? "-" : "") + grouped(static_cast<std::uint64_t>(std::abs(rounded)));
}

std::string twoDigits(double value) {
    return std::abs(value) >= 99.5 ? threeDigits(value) : translatedFormat("{:.2g}", value);
}

std::string lossText(double loss) {
    if (std::abs(loss) >= 1e6) return scientific(loss, 3); // diverging: one column must hold it
    return std::abs(loss) < 1000 ? fixed(loss, 4) : threeDigits(loss);
}

std::string clockTime(double seconds) {
    const auto whole = static_cast<std::uint64_t>(std::clamp(std::ceil(seconds), 0.0, 1e9));
    if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string duration(double seconds) {
    const auto threeDigitsOf = [](double value) {
        return fixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
    };
    if (seconds == 0) return "0 µs";
    if (seconds < 0.9995e-7) return threeDigitsOf(seconds * 1e9) + " ns";
    if (seconds < 0.9995e-3) return threeDigitsOf(seconds * 1e6) + " µs";
    if (seconds < 0.9995) return threeDigitsOf(seconds * 1e3) + " ms";
    return (seconds < 999.5 ? threeDigitsOf(seconds) : threeDigits(seconds)) + " s";
}

std::string counted(std::uint64_t count, std::string_view thing) {
    const std::string number = grouped(count);
    const auto* const found = std::ranges::find(countedThings, thing, &CountedThing::thing);
    if (found == std::end(countedThings)) return fmt::format("{} {}{}", number, thing, count == 1 ? "" : "s");
    const std::string_view words = translated(count == 1 ? found->one : found->many);
    return fmt::vformat(fmt::string_view(words.data(), words.size()), fmt::make_format_args(number));
}

std::string percent(double share) {
    return std::isnan(share) ? "-" : translatedFormat("{:.2f} %", share * 100);
}

std::string fixed(double value, int digits) {
    return std::isnan(value) ? "-" : withDecimalSign(fmt::format("{:.{}f}", value, digits));
}

std::string cut(std::string_view text, std::size_t width) {
    if (displayWidth(text) <= width) return std::string(text);
    std::string result;
    std::size_t used = 0;
    for (char byte : text) {
        if ((static_cast<unsigned char>(byte) & 0xC0) != 0x80 && ++used == width) break;
        result += byte;
    }
    return result + "…";
}

std::string shortDevice(const MachineInfo& machine) {
    std::string name = machine.device.substr(0, machine.device.find(" ("));
    for (const std::string_view mark : {"(R)", "(TM)", "(tm)"})
        while (name.find(mark) != std::string::npos) name.erase(name.find(mark), mark.size());
    // "AMD EPYC 7543 32-Core Processor": drops the core count, which is not the number of training threads.
    if (const std::size_t core = name.find("-Core"); core != std::string::npos)
        name.erase(std::min(name.rfind(' ', core), name.size()));
    if (name.ends_with(" Processor")) name.erase(name.rfind(' '));
    return name;
}

std::string shareText(const MachineInfo& machine) {
    if (machine.workgroups > 0)
        return translatedFormat("at most {} at once", counted(machine.workgroups, "workgroup"));
    if (machine.gpu) return {};
    if (machine.ofThreads == 0) return counted(machine.threads, "thread");
    return translatedFormat("{} of {}", grouped(machine.threads), counted(machine.ofThreads, "thread"));
}

std::string honestDevice(const MachineInfo& machine, std::size_t width) {
    const std::string share = shareText(machine);
    const std::string remark = std::string(machine.software ? translated(": software, not a GPU") : "") +
                               (share.empty() ? "" : ", " + share);
    constexpr std::size_t leastName = 6;
    return cut(shortDevice(machine), std::max(width, remark.size() + leastName) - remark.size()) + remark;
}

std::string wrapped(const std::string& text, std::size_t width) {
    std::string result = text;
    std::size_t lineStart = 0;
    while (displayWidth(std::string_view(result).substr(lineStart)) > width) {
        const std::size_t blank = result.rfind(' ', lineStart + width);
        if (blank == std::string::npos || blank <= lineStart) break;
        result[blank] = '\n';
        lineStart = blank + 1;
    }
    return result;
}

std::string notesText(const std::vector<std::string>& notes) {
    std::string text;
    for (const std::string& note : notes) text += wrapped("note: " + withoutControls(note)) + "\n";
    return text;
}

std::vector<std::string_view> linesAtBlanks(std::string_view text, float width,
                                            const std::function<float(std::string_view)>& widthOf) {
    std::vector<std::string_view> lines;
    for (;;) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        do {
            lines.push_back(line.substr(0, firstLine(line, width, widthOf)));
            line.remove_prefix(lines.back().size());
            line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        } while (!line.empty());
        if (end == text.size()) return lines;
        text.remove_prefix(end + 1);
    }
}

std::string csvField(std::string text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, "\"");
    return "\"" + text + "\"";
}

std::string table(const std::vector<std::vector<std::string>>& rows, std::size_t leftColumns) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], displayWidth(row[i]));
    }
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string space(widths[i] - displayWidth(row[i]), ' ');
            line += (i == 0 ? "" : "  ") + (i < leftColumns ? row[i] + space : space + row[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

std::string fullName(const LaneSpec& spec, const MachineInfo& machine) {
    std::string note;
    const auto add = [&note](std::string_view text) {
        if (!text.empty()) note.append(note.empty() ? "" : ", ").append(text);
    };
    const std::string_view lack = handicap(spec);
    if (spec.gpu && machine.software) add(translated("software, not a GPU"));
    add(translated(lack));
    if (lack.empty() || machine.throttled()) add(shareText(machine));
    return translatedFormat("{} on {}{}", spec.text(), shortDevice(machine),
                            note.empty() ? "" : " (" + note + ")");
}

} // namespace lockstep::demos
