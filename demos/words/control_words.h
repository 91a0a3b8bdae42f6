// What every control of the window is for.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace lockstep::demos {

/// One or two sentences about a control: what it is and what happens when it is used, with the unit.
struct ControlWords {
    std::string_view control; ///< its name, as scripts call it; "*" stands for any letters
    std::string_view words;
};

/// What the exhibits say of their controls, the one that is shown first.
using ControlTables = std::vector<std::span<const ControlWords>>;

/// The words of the first row that matches: in the first of the exhibits, then among the words that they
/// share, then in the other exhibits. Empty for a control without an explanation, which a test reports.
std::string_view controlWords(std::string_view control, const ControlTables& exhibits);

} // namespace lockstep::demos
