#include "demos/options/parse.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/net/names.h"

namespace lockstep::demos {

namespace {

/// A validator that accepts numbers for which `fits` holds; `range` describes them in the message.
CLI::Validator numberCheck(const std::string& range, bool (*fits)(double)) {
    return CLI::Validator(
        [range, fits](std::string& text) {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            const bool number = !text.empty() && *end == '\0';
            return number && fits(value) ? std::string() : "'" + text + "' is not a number " + range;
        },
        "");
}

/// The option that `text` was probably meant to be; empty if there is none.
std::string nearestOption(const CLI::App& command, const std::string& text) {
    std::vector<std::string> known;
    for (const CLI::Option* option : command.get_options())
        for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    const std::vector<std::string_view> views(known.begin(), known.end());
    return std::string(nearestName(text.substr(0, text.find('=')), views));
}

[[noreturn]] void throwUnknownCommand(const CLI::App& program, const std::string& text) {
    const std::vector<const CLI::App*> commands = program.get_subcommands({});
    std::vector<std::string> names;
    names.reserve(commands.size());
    for (const CLI::App* each : commands) names.push_back(each->get_name());
    throwUnknownName("command", text, std::vector<std::string_view>(names.begin(), names.end()));
}

} // namespace

void addManual(CLI::App& command, const std::string& about, const std::string& examples) {
    command.preparse_callback([&command, about](std::size_t) { command.description(about); });
    command.footer(examples);
}

CLI::Option* addText(CLI::App& command, const std::string& name, const std::string& typeName,
                     const std::function<void(std::string_view)>& read, const std::string& help) {
    return command
        .add_option_function<std::string>(
            name,
            [name, read](const std::string& text) {
                try {
                    read(text);
                } catch (const std::exception& error) {
                    throw std::invalid_argument(name + ": " + error.what());
                }
            },
            help)
        ->type_name(typeName);
}

bool given(const CLI::App& command, const char* option) { return command.get_option(option)->count() > 0; }

const CLI::Option* firstGiven(const CLI::App& command, std::initializer_list<const char*> groups) {
    for (const CLI::Option* option : command.get_options())
        if (option->count() > 0 && std::ranges::find(groups, option->get_group()) != groups.end())
            return option;
    return nullptr;
}

CLI::Validator atLeastOne() {
    return numberCheck("of at least 1", [](double value) { return value >= 1; });
}
CLI::Validator aboveZero() {
    return numberCheck("above 0", [](double value) { return value > 0 && value < 1e300; });
}
CLI::Validator notNegative() {
    return numberCheck("of at least 0", [](double value) { return value >= 0 && value < 1e300; });
}

void requireWholeNumber(CLI::Option& option, std::uint64_t most) {
    const auto asDigits = [most](std::string& text) -> std::string {
        constexpr double exactBelow = 9007199254740992; // 2^53: doubles hold every whole number up to it
        std::string digits = text;
        if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) {
            const ParsedNumber number = parseNumber(text);
            if (number.kind != NumberKind::finite || std::trunc(number.value) != number.value)
                return fmt::format("'{}' is not a whole number, such as 1000 or 1e3", text);
            if (number.value > exactBelow && number.value < 0x1p64)
                return fmt::format("write '{}' with all its digits", text);       // that is exact
            digits = fmt::format("{:.0f}", number.value == 0 ? 0 : number.value); // no "-0"
        }
        std::uint64_t value = 0;
        const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (digits.front() != '-' && (result.ec != std::errc() || value > most))
            return fmt::format("'{}' is not a number of at most {}", text, most);
        text = digits.front() == '-' ? digits : std::to_string(value); // without zeros in front, as of octals
        return {};
    };
    option.transform(CLI::Validator(asDigits, "")); // before any check
}

std::string listing(const std::string& what, std::span<const std::string_view> names) {
    constexpr std::size_t lineWidth = 80;
    std::string all = what;
    std::size_t lineStart = 0;
    for (std::string_view name : names) {
        const bool full = all.size() - lineStart + name.size() >= lineWidth;
        if (full) lineStart = all.size() + 1;
        all += (full ? "\n" : " ") + std::string(name);
    }
    return all;
}

std::vector<std::size_t> widthsFromText(std::string_view text) {
    std::vector<std::size_t> widths;
    if (trimmed(text) == "none") return widths;
    while (true) {
        text = trimmed(text);
        std::size_t width = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
        if (error != std::errc() || width == 0) break;
        widths.push_back(width);
        text = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
        if (text.empty()) return widths;
        if (text.front() != ',') break;
        text.remove_prefix(1);
    }
    throw std::invalid_argument("give layer widths as whole numbers separated by commas, such as 256,128, or "
                                "'none' for no hidden layer");
}

std::vector<std::string> namesFromText(std::string_view text) {
    std::vector<std::string> names;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        if (const std::string_view name = trimmed(text.substr(0, end)); !name.empty())
            names.emplace_back(name);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return names;
}

std::string widthsText(const std::vector<std::size_t>& widths) {
    return widths.empty() ? "none" : fmt::format("{}", fmt::join(widths, ", "));
}

std::uint64_t wholeNumberFromText(std::string_view text, std::string_view what) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
        throw std::invalid_argument(fmt::format("{} a whole number from 0 to {}, not '{}'", what,
                                                std::numeric_limits<std::uint64_t>::max(), text));
    return number;
}

double shareFromText(std::string_view text) {
    const std::string copy(text);
    char* end = nullptr;
    double share = std::strtod(copy.c_str(), &end);
    const std::string_view rest(end);
    if (rest == "%") share /= 100;
    if (copy.empty() || !(rest.empty() || rest == "%") || !(share >= 0 && share <= 1))
        throw std::invalid_argument("'" + copy + "' is not between 0 and 100 %; write 0.85 or 85%");
    return share;
}

void requirePngName(const std::filesystem::path& file) {
    std::string ending = file.extension().string();
    std::ranges::transform(ending, ending.begin(),
                           [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    if (!ending.empty() && ending != ".png")
        throw std::invalid_argument(
            fmt::format("--png writes PNG pictures only; name the file {}, not {}",
                        std::filesystem::path(file).replace_extension(".png").string(), file.string()));
}

void requireNoExtras(const CLI::App& command) {
    const std::vector<std::string> extras = command.remaining();
    if (extras.empty()) return;
    const std::string& text = extras.front();
    const bool option = text.starts_with('-');
    const bool program = command.get_parent() == nullptr;
    if (program && !option) throwUnknownCommand(command, text);
    const std::string near = option ? nearestOption(command, text) : "";
    const std::string of = program ? "" : " of '" + command.get_name() + "'";
    std::string message = fmt::format("unknown {} '{}'{}", option ? "option" : "argument", text, of);
    if (!near.empty()) message += fmt::format("; did you mean '{}'?", near);
    throw std::invalid_argument(message);
}

} // namespace lockstep::demos
