// Reading option values, with messages that say what would have been right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace lockstep::demos {

/// The text before and after the options in a command's own help; the list of commands keeps the short
/// description.
void addManual(CLI::App& command, const std::string& about, const std::string& examples);

/// Adds an option whose text `read` takes over. What `read` throws is thrown on as std::invalid_argument,
/// with the option's name in front.
CLI::Option* addText(CLI::App& command, const std::string& name, const std::string& typeName,
                     const std::function<void(std::string_view)>& read, const std::string& help);

/// Checks for numbers: at least 1; above 0; from 0 on.
CLI::Validator atLeastOne();
CLI::Validator aboveZero();
CLI::Validator notNegative();

/// "what: a b c", with a line break wherever a line would grow too long beside the options' names.
std::string listing(const std::string& what, std::span<const std::string_view> names);

/// "256,128" or "256, 128" as numbers; "none" as no number. Throws std::invalid_argument for anything else,
/// and for a 0.
std::vector<std::size_t> widthsFromText(std::string_view text);
/// "256, 128"; "none".
std::string widthsText(const std::vector<std::size_t>& widths);

/// Throws std::invalid_argument for anything but a whole number from 0 on: "`what` a whole number ...".
std::uint64_t wholeNumberFromText(std::string_view text, std::string_view what);
inline std::uint64_t seedFromText(std::string_view text) { return wholeNumberFromText(text, "a seed is"); }

/// "0.85" or "85%" as 0.85. Throws std::invalid_argument for anything outside of 0 to 100 %.
double shareFromText(std::string_view text);

/// Throws std::invalid_argument for the first argument that `command` did not understand, with the nearest
/// option (or command).
void requireNoExtras(const CLI::App& command);

} // namespace lockstep::demos
