// What every control of the window is for.
#pragma once

#include <string_view>

namespace lockstep::demos {

/// One or two sentences about the control of that name (as scripts call it): what it is and what happens when
/// it is used, with the unit. Empty for a control without an explanation, which a test reports.
std::string_view controlWords(std::string_view control);

} // namespace lockstep::demos
